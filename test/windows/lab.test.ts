import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';
import { difference, takeSnapshot } from '../kit/winhost/snapshot.ts';

let lab: WindowsLab;
let host: WindowsHost;
let second: WindowsHost;
let third: WindowsHost;

beforeAll(async () => {
  lab = await WindowsLab.start();
  [host, second, third] = await Promise.all([
    lab.createHost({ hosts: { 'mirror.test': lab.address } }),
    lab.createHost(),
    lab.createHost({ name: 'named' }),
  ]);
});

afterAll(() => lab?.stop());

test('boots hosts with their own addresses, names and files', async () => {
  const hosts = [host, second, third];
  const names = await Promise.all(hosts.map(one => one.run('hostname')));
  expect(names).toEqual(['WIN-1', 'WIN-2', 'NAMED']);
  expect(new Set(hosts.map(one => one.address)).size).toBe(3);
  await host.drive.write('C:\\own.txt', 'mine');
  expect([second, third].map(one => one.drive.exists('C:\\own.txt'))).toEqual([false, false]);
  expect(hosts.map(one => one.boots)).toEqual([1, 1, 1]);
});

test('reports a consistent Windows version', async () => {
  expect(await host.run('ver')).toContain('10.0.20348');
  expect(await host.run('whoami')).toBe('WIN-1\\Administrator');
  expect(await host.run('cd')).toBe('C:\\users\\Administrator');
  expect(await host.run('ping -n 1 mirror.test')).toContain(lab.address);
});

const commands: [string, string, number, string, string][] = [
  ['gives output', 'echo one& echo two', 0, 'one\r\ntwo\r\n', ''],
  ['gives exit codes', 'exit 7', 7, '', ''],
  ['keeps output and errors apart', 'echo out& echo err 1>&2& exit 3', 3, 'out\r\n', 'err \r\n'],
  ['keeps quotes and backslashes', 'echo "a b" C:\\k\\', 0, '"a b" C:\\k\\\r\n', ''],
];
for (const [name, command, code, stdout, stderr] of commands) {
  test(name, async () => expect(await host.exec(command)).toEqual({ code, stdout, stderr }));
}

test('passes input to a command', async () => {
  expect(await host.run('findstr b', { input: 'abc\r\nxyz\r\nb\r\n' })).toBe('abc\nb');
});

test('accepts large uploads to drive C with both path separators', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'upload-'));
  const bytes = randomBytes(5_000_000);
  await writeFile(join(folder, 'file'), bytes);
  await host.run('mkdir C:\\up');
  await host.upload(join(folder, 'file'), 'C:\\up\\one.bin');
  await host.upload(join(folder, 'file'), '/C:/up/two.bin');
  await rm(folder, { recursive: true });
  expect(host.drive.list('C:\\up')).toEqual(['one.bin', 'two.bin']);
  for (const name of ['one.bin', 'two.bin'])
    expect(readFileSync(host.drive.path(`C:\\up\\${name}`)).equals(bytes)).toBe(true);
  expect(await host.run('dir C:\\UP\\ONE.BIN')).toContain('5,000,000');
});

test('rejects a login without the key', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'key-'));
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'other')]);
  const options = [
    '-F',
    'none',
    '-o',
    'BatchMode=yes',
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
  ];
  const args = [
    ...options,
    '-o',
    'IdentitiesOnly=yes',
    '-i',
    join(folder, 'other'),
    `${host.user}@${host.address}`,
    'ver',
  ];
  expect(() => execFileSync('ssh', args, { stdio: 'pipe' })).toThrow('Permission denied');
  await rm(folder, { recursive: true });
});

test('does not inherit the environment of the tests', async () => {
  expect(await host.run('set')).not.toMatch(/VITEST|npm_|NODE/);
});

test('reboots by shutdown.exe, twice, and keeps what was written', async () => {
  const boots = host.boots;
  await host.run('reg add HKLM\\Software\\Test /v kept /d before-the-reboot');
  const open = host.exec('ping -n 60 127.0.0.1');
  await delay(1000);
  await host.reboot();
  expect((await open).code).toBe(255);
  expect(await host.run('reg query HKLM\\Software\\Test')).toContain('before-the-reboot');
  await host.reboot();
  expect(host.boots).toBe(boots + 2);
  expect(host.lab.shutdowns()).toHaveLength(2);
});

test('aborts a shutdown, and rejects a second one', async () => {
  const boots = host.boots;
  expect((await host.exec('shutdown /r /t 60 /c "a reason" /d p:4:1')).code).toBe(0);
  expect((await host.exec('shutdown /r /t 0')).stderr).toContain('already been scheduled');
  expect((await host.exec('shutdown /a')).code).toBe(0);
  expect((await host.exec('shutdown /a')).code).not.toBe(0);
  expect(host.boots).toBe(boots);
});

test('survives a power cut, but loses unwritten data', async () => {
  const boots = second.boots;
  const open = second.exec('ping -n 60 127.0.0.1');
  await second.drive.write('C:\\k\\file.txt', 'there');
  await delay(500);
  await second.cut();
  expect(second.boots).toBe(boots);
  expect((await open).code).toBe(255);
  expect((await second.exec('ver')).code).toBe(255);
  await second.start();
  expect(await second.run('type C:\\k\\file.txt')).toBe('there');
  expect(second.boots).toBe(boots + 1);
});

test('takes a new name at the next boot', async () => {
  const key = 'HKLM\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters';
  await third.run(`reg add ${key} /v Hostname /d renamed /f`);
  expect(await third.run('hostname')).toBe('NAMED');
  await third.reboot();
  expect(await third.run('hostname')).toBe('RENAMED');
});

test('a snapshot is the same after a reboot, and shows every change', async () => {
  await second.drive.write('C:\\k\\file.txt', 'first');
  const before = await takeSnapshot(second);
  await second.reboot();
  expect(difference(before, await takeSnapshot(second))).toEqual([]);
  await second.drive.write('C:\\k\\file.txt', 'other');
  await second.drive.write('C:\\new\\x.txt', '');
  await second.install('service.exe', 'C:\\lab\\ignored.exe');
  await second.run('sc create added binPath= C:\\lab\\ignored.exe');
  await second.run('reg add "HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment" /v NO_PROXY /d x');
  const environment = 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';
  const changes = difference(before, await takeSnapshot(second));
  expect(changes.filter(line => !line.includes('\\Services\\added'))).toEqual([
    'changed C:\\k\\file.txt',
    'added C:\\new',
    'added C:\\new\\x.txt',
    `added ${environment} "NO_PROXY"`,
  ]);
  expect(changes).toContain('added HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\added "ImagePath"');
  expect(difference(await takeSnapshot(second), before)).toContain('removed C:\\new\\x.txt');
});
