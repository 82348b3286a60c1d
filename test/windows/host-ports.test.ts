import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TestCa } from '../kit/certificates.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';
import { createPortsHost, portsOf } from './programs/ports-host.ts';

/** The ports of the agent on a host, compared with other programs there. */

let lab: WindowsLab;
let host: WindowsHost;

beforeAll(async () => {
  lab = await WindowsLab.start();
  host = await createPortsHost(lab);
});

afterAll(async () => {
  const unexpected = host.lab.unexpected();
  await lab.stop();
  expect(unexpected).toEqual([]);
});

const environmentKey = 'HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';
const bootKey = 'HKLM\\SOFTWARE\\windows-instance-config-daemon';

const { outcomes, values, value, error } = portsOf(() => host);
const hash = (der: Uint8Array) => createHash('sha256').update(der).digest('hex');
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64');
const derOf = (ca: TestCa) => new X509Certificate(ca.cert).raw;

test('returns names and system of the host', async () => {
  const [name, fqdn, os, pending, free] = await values(
    ['system', 'hostName'],
    ['system', 'fqdn'],
    ['system', 'operatingSystem'],
    ['system', 'pendingReboot'],
    ['system', 'freeBytes', 'C:\\k\\not\\yet\\there'],
  );
  expect([name, fqdn]).toEqual(['win-1', 'win-1']);
  expect(os).toEqual({
    product: 'Windows Server 2022 Datacenter',
    build: '10.0.20348.2700',
    installationType: 'Server Core',
  });
  expect(pending).toEqual([]);
  expect(free).toBeGreaterThan(1e6);
});

test('lists processes', async () => {
  const [own, other] = await values(
    ['system', 'isProcessRunning', 'host-ports'],
    ['system', 'isProcessRunning', 'kubelet'],
  );
  expect([own, other]).toEqual([true, false]);
});

test('sets and removes a machine variable without touching others', async () => {
  const before = (await value('environment', 'machine')) as Record<string, string>;
  expect(before).toMatchObject({ OS: 'Windows_NT', windir: '%SystemRoot%' });
  const text = 'http://proxy.example:3128/ä b;"c"';
  const [, after] = await values(
    ['environment', 'setMachine', 'WICD_PROXY', text],
    ['environment', 'machine'],
    ['environment', 'setMachine', 'WICD_EMPTY', ''],
  );
  expect(after).toEqual({ ...before, WICD_PROXY: text });
  expect(await host.run(`reg query "${environmentKey}" /v WICD_EMPTY`)).toMatch(/WICD_EMPTY\s+REG_SZ$/);
  await host.run(`reg add "${environmentKey}" /v WICD_OTHER /t REG_EXPAND_SZ /d ^%TEMP^%\\x /f`);
  const [, , , last] = await values(
    ['environment', 'removeMachine', 'WICD_PROXY'],
    ['environment', 'removeMachine', 'WICD_PROXY'],
    ['environment', 'removeMachine', 'WICD_EMPTY'],
    ['environment', 'machine'],
  );
  expect(last).toEqual({ ...before, WICD_OTHER: '%TEMP%\\x' });
  await host.run(`reg delete "${environmentKey}" /v WICD_OTHER /f`);
});

test('lists a machine variable of the maximum length', async () => {
  const long = 'p'.repeat(32_000);
  const [, machine] = await values(['environment', 'setMachine', 'WICD_LONG', long], ['environment', 'machine']);
  expect(machine).toMatchObject({ WICD_LONG: long });
  await value('environment', 'removeMachine', 'WICD_LONG');
});

test('returns the same boot id to concurrent processes', async () => {
  const ids = await Promise.all(Array.from({ length: 4 }, () => value('system', 'bootId')));
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]).toMatch(/^[0-9a-f]{16}$/);
  expect(await host.run(`reg query ${bootKey} /s & echo done`)).toContain('done');
});

test('stores certificates across processes and a reboot, and removes exactly one', async () => {
  const [foreign, added] = [derOf(new TestCa('foreign')), derOf(new TestCa('added'))];
  // Another certificate with the same issuer and serial number.
  const twin = Buffer.from(added);
  twin[twin.length - 1] = (twin.at(-1) ?? 0) ^ 1;
  const before = (await value('certificates', 'list')) as string[];
  await value('test', 'addCertificate', base64(foreign));
  await values(['test', 'addCertificate', base64(added)], ['test', 'addCertificate', base64(twin)]);
  await value('test', 'addCertificate', base64(added));
  const all = [...before, hash(foreign), hash(added), hash(twin)].sort();
  expect(((await value('certificates', 'list')) as string[]).sort()).toEqual(all);

  const [bootId] = await values(['system', 'bootId'], ['environment', 'setMachine', 'WICD_KEPT', 'kept']);
  await host.reboot();
  const [listed, machine, newBootId] = await values(
    ['certificates', 'list'],
    ['environment', 'machine'],
    ['system', 'bootId'],
  );
  expect((listed as string[]).sort()).toEqual(all);
  expect(machine).toMatchObject({ WICD_KEPT: 'kept' });
  expect(newBootId).not.toBe(bootId);
  expect(await value('system', 'bootId')).toBe(newBootId);

  await values(
    ['certificates', 'remove', hash(added)],
    ['certificates', 'remove', hash(added)],
    ['certificates', 'remove', hash(Buffer.from('never there'))],
    ['environment', 'removeMachine', 'WICD_KEPT'],
  );
  const left = [...before, hash(foreign), hash(twin)].sort();
  expect(((await value('certificates', 'list')) as string[]).sort()).toEqual(left);
  await host.reboot();
  expect(((await value('certificates', 'list')) as string[]).sort()).toEqual(left);
  const thumbprint = createHash('sha1').update(foreign).digest('hex').toUpperCase();
  expect(await host.run('reg query HKLM\\SOFTWARE\\Microsoft\\SystemCertificates\\ROOT\\Certificates')).toContain(
    thumbprint,
  );
  await values(['certificates', 'remove', hash(twin)], ['certificates', 'remove', hash(foreign)]);
  expect(await value('certificates', 'list')).toEqual(before);
});

test('rejects data that is not a certificate', async () => {
  expect(await error('test', 'addCertificate', base64('nonsense'))).toMatchObject({
    code: 'WINDOWS_CALL_FAILED',
    message: expect.stringContaining('CertAddEncodedCertificateToStore') as string,
  });
});

test('writes, reads, hashes, lists and removes files', async () => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256));
  const [, text, , read, sha256, names, stat, missing] = await values(
    ['files', 'write', 'C:\\k\\new\\a.txt', 'ä\r\nb'],
    ['files', 'read', 'c:\\K\\NEW\\A.TXT'],
    ['test', 'writeBytes', 'C:\\k\\new\\b.bin', base64(bytes)],
    ['test', 'readBytes', 'C:\\k\\new\\b.bin'],
    ['files', 'sha256', 'C:\\k\\new\\b.bin'],
    ['files', 'list', 'C:\\k\\new'],
    ['files', 'stat', 'C:\\k\\new\\b.bin'],
    ['files', 'read', 'C:\\k\\new\\missing'],
  );
  expect(text).toBe('ä\r\nb');
  expect(read).toBe(base64(bytes));
  expect(sha256).toBe(hash(bytes));
  expect((names as string[]).sort()).toEqual(['a.txt', 'b.bin']);
  expect(stat).toMatchObject({ bytes: 1000 });
  expect(missing).toBeUndefined();
  await values(
    ['files', 'remove', 'C:\\k\\new\\a.txt'],
    ['files', 'remove', 'C:\\k\\new\\a.txt'],
    ['files', 'removeDirectory', 'C:\\k\\new'],
    ['files', 'removeDirectory', 'C:\\k\\new'],
  );
  expect(host.drive.exists('C:\\k\\new')).toBe(false);
});

test('stats files and folders, and reports owners as unreadable under Wine', async () => {
  await host.drive.write('C:\\k\\rights\\a.txt', 'a');
  await host.drive.write('C:\\k\\rights\\b .txt.', 'b');
  const entry = { names: 1, access: 'unreadable' };
  expect(
    await values(
      ['files', 'inspect', 'C:\\k\\rights\\a.txt'],
      ['files', 'inspect', 'C:\\k\\rights\\b .txt.'],
      ['files', 'inspect', 'C:\\k\\rights'],
      ['files', 'inspect', 'C:\\Windows'],
      ['files', 'inspect', 'C:\\k\\rights\\none'],
      ['files', 'inspect', 'C:\\k\\none\\none'],
    ),
  ).toEqual([
    { is: 'file', ...entry },
    { is: 'file', ...entry },
    { is: 'directory', names: expect.any(Number), access: 'unreadable' },
    { is: 'directory', names: expect.any(Number), access: 'unreadable' },
    undefined,
    undefined,
  ]);
});

test('sets permissions through a handle, and reports missing files', async () => {
  await host.drive.write('C:\\k\\rights\\a.txt', 'a');
  for (const access of ['secret', 'programs', 'shared']) {
    await values(['files', 'protect', 'C:\\k\\rights\\a.txt', access], ['files', 'protect', 'C:\\k\\rights', access]);
    expect(await value('files', 'read', 'C:\\k\\rights\\a.txt')).toBe('a');
  }
  expect(await error('files', 'protect', 'C:\\k\\rights\\none', 'secret')).toMatchObject({
    message: expect.stringContaining('CreateFileW failed for C:\\k\\rights\\none'),
  });
});

test('moves a folder with its content', async () => {
  await host.drive.write('C:\\k\\rights\\sub\\a.txt', 'a');
  expect(await value('files', 'move', 'C:\\k\\rights\\sub', 'C:\\k\\moved')).toBe(true);
  expect([host.drive.read('C:\\k\\moved\\a.txt'), host.drive.exists('C:\\k\\rights\\sub')]).toEqual(['a', false]);
});

test('writes a secret without leaving temporary files', async () => {
  await value('files', 'write', 'C:\\k\\secrets\\key.pem', 'secret', 'secret');
  await value('files', 'write', 'C:\\k\\secrets\\key.pem', 'newer secret', 'secret');
  expect(host.drive.read('C:\\k\\secrets\\key.pem')).toBe('newer secret');
  expect(host.drive.list('C:\\k\\secrets')).toEqual(['key.pem']);
});

test('removes the temporary file of a killed process', async () => {
  await host.drive.write('C:\\k\\swept\\a.txt.999999-1.wicd-new', 'half');
  await value('files', 'write', 'C:\\k\\swept\\a.txt', 'whole');
  expect(host.drive.list('C:\\k\\swept')).toEqual(['a.txt']);
});

test('replaces a running program, and removes the old one after it exits', async () => {
  const program = 'C:\\k\\runs.exe';
  await host.install('service.exe', program);
  await host.run(`sc create runs binPath= "${program}"`);
  await host.run('sc start runs');
  await vi.waitFor(async () => expect(await host.run('sc query runs')).toContain('RUNNING'), 20_000);
  const old = hash(await readFile(host.drive.path(program)));
  await value('test', 'writeBytes', program, base64('the new program'));
  expect(host.drive.read(program)).toBe('the new program');
  expect(hash(await readFile(host.drive.path(`${program}.wicd-old-1`)))).toBe(old);
  await value('files', 'write', 'C:\\k\\other.txt', 'x');
  expect(host.drive.list('C:\\k')).toContain('runs.exe.wicd-old-1');
  expect(await host.run('sc query runs')).toContain('RUNNING');

  await host.run('sc stop runs');
  await vi.waitFor(async () => expect(await host.run('sc query runs')).toContain('STOPPED'), 20_000);
  await vi.waitFor(async () => {
    await value('files', 'write', 'C:\\k\\other.txt', 'x');
    expect(host.drive.list('C:\\k').filter(name => name.startsWith('runs.exe'))).toEqual(['runs.exe']);
  }, 20_000);
  await host.run('sc delete runs');
});

test('returns exactly the output of a script', async () => {
  await host.lab.answerScript('ip', { match: 'Get-NetRoute', out: '10.0.0.5\r\n', err: 'a warning' });
  const text = 'Get-NetRoute -DestinationPrefix "0.0.0.0/0" | Select "a b"; $x = \'%PATH%\'';
  expect(await value('test', 'runScript', text)).toBe('10.0.0.5\r\n');
  const line = host.lab.scripts().at(-1) ?? '';
  expect(line).toContain('-NoProfile -NoLogo -NonInteractive -ExecutionPolicy Bypass -Command');
  expect(line).toContain('"Get-NetRoute -DestinationPrefix \\"0.0.0.0/0\\" | Select \\"a b\\"; $x = \'%PATH%\'"');
});

test('reports why a script failed', async () => {
  await host.lab.answerScript('fail', { match: 'Get-Broken', out: 'half', err: 'it is\r\nbroken', code: 3 });
  expect(await error('test', 'runScript', 'Get-Broken')).toMatchObject({
    code: 'SCRIPT_FAILED',
    message: 'PowerShell ended with code 3: "Get-Broken": it is broken',
  });
});

test('kills an aborted script at once', async () => {
  // Longer than the timeout of the test, so that waiting for the script would fail.
  await host.lab.answerScript('slow', { match: 'Start-Sleep', delayMs: 600_000 });
  const [result, running] = await outcomes(
    ['test', 'runScript', 'Start-Sleep 600', 2000],
    ['system', 'isProcessRunning', 'powershell'],
  );
  expect(result?.error?.message).toMatch(/TimeoutError/);
  expect(running?.value).toBe(false);
});

test('enables the Containers feature, which a reboot completes', async () => {
  const [before, reboot, pending, again] = await values(
    ['system', 'containersFeature'],
    ['test', 'enableContainers'],
    ['system', 'containersFeature'],
    ['test', 'enableContainers'],
  );
  expect([before, reboot, pending, again]).toEqual(['disabled', true, 'enable-pending', true]);
  await host.reboot();
  expect(await values(['system', 'containersFeature'], ['test', 'enableContainers'])).toEqual(['enabled', false]);
});

test('renames the host, which a reboot completes', async () => {
  const [changed, pending, again] = await values(
    ['system', 'rename', 'win-renamed'],
    ['system', 'pendingReboot'],
    ['system', 'rename', 'win-renamed'],
  );
  expect([changed, pending, again]).toEqual([true, ['the host was renamed'], true]);
  const key = 'HKLM\\SYSTEM\\CurrentControlSet\\Control\\ComputerName\\ComputerName';
  expect(await host.run(`reg query ${key} /v ComputerName`)).toContain('WIN-RENAMED');
});

test('reboots after the delay, and accepts a second request meanwhile', async () => {
  const before = host.boots;
  // Long enough for the SSH session to end first on a busy machine: the reboot would end it with 255.
  await values(['system', 'reboot', 10, 'a "test" of the agent'], ['system', 'reboot', 60, 'again']);
  expect(host.lab.shutdowns().slice(-2)).toEqual([
    expect.stringMatching(/shutdown\.exe \/r \/t 10 \/f \/d p:4:1 \/c "a \\"test\\" of the agent"$/),
    expect.stringMatching(/\/t 60 /),
  ]);
  expect(host.boots).toBe(before);
  await host.waitForBoot(before + 1);
  expect(await value('system', 'pendingReboot')).toEqual([]);
});
