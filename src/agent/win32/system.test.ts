import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MemoryRegistry } from '../../../test/kit/memory-registry.ts';
import type { ProgramResult, ProgramRun } from './process/run-program.ts';
import { ProgramTimeout } from './process/run-program.ts';
import { createSystem, windowsDirectoryOf } from './system.ts';

const versionKey = 'SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion';
const servicing = 'SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Component Based Servicing\\RebootPending';
const update = 'SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WindowsUpdate\\Auto Update\\RebootRequired';
const activeName = 'SYSTEM\\CurrentControlSet\\Control\\ComputerName\\ActiveComputerName';
const nextName = 'SYSTEM\\CurrentControlSet\\Control\\ComputerName\\ComputerName';
const tcpip = 'SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters';
const sessionManager = 'SYSTEM\\CurrentControlSet\\Control\\Session Manager';

const server2022 = {
  ProductName: 'Windows Server 2022 Datacenter',
  CurrentMajorVersionNumber: 10,
  CurrentMinorVersionNumber: 0,
  CurrentBuild: '20348',
  UBR: 2700,
  InstallationType: 'Server Core',
  SystemRoot: 'C:\\Windows',
};

type Keys = Record<string, Record<string, string | number>>;

/** A host called win-1, of which some keys are otherwise. */
function bench(keys: Keys = {}, answer: Partial<ProgramResult> | Error = {}) {
  const runs: ProgramRun[] = [];
  const registry = new MemoryRegistry({
    [versionKey]: server2022,
    [activeName]: { ComputerName: 'WIN-1' },
    [nextName]: { ComputerName: 'WIN-1' },
    [tcpip]: { Hostname: 'win-1', 'NV Hostname': 'win-1' },
    ...keys,
  });
  const names: string[] = [];
  const system = createSystem({
    registry,
    computerName: {
      hostName: () => registry.text(tcpip, 'Hostname') ?? '',
      fqdn: () => 'win-1.example.com',
      set(name) {
        names.push(name);
        registry.setText(tcpip, 'NV Hostname', name);
        registry.setText(nextName, 'ComputerName', name.slice(0, 15).toUpperCase());
      },
    },
    run: async run => {
      runs.push(run);
      if (answer instanceof Error) throw answer;
      return { exitCode: 0, stdout: '', stderr: '', ...answer };
    },
    windowsDirectory: 'C:\\Windows',
  });
  return { system, registry, names, runs };
}

test('gives host name and FQDN', async () => {
  const { system } = bench();
  expect(await system.hostName()).toBe('win-1');
  expect(await system.fqdn()).toBe('win-1.example.com');
});

const systems: [string, Record<string, string | number>, object][] = [
  [
    'a server',
    server2022,
    { product: 'Windows Server 2022 Datacenter', build: '10.0.20348.2700', installationType: 'Server Core' },
  ],
  [
    'one that has the build only',
    { ProductName: 'Windows Server 2019 Standard', CurrentBuild: '17763', InstallationType: 'Server' },
    { product: 'Windows Server 2019 Standard', build: '10.0.17763.0', installationType: 'Server' },
  ],
  ['one that tells nothing', {}, { product: '', build: '10.0..0', installationType: '' }],
];
test.each(systems)('reports the operating system of %s', async (_, values, want) => {
  expect(await bench({ [versionKey]: values }).system.operatingSystem()).toEqual(want);
});

test('finds the directory of Windows, wherever it is', () => {
  expect(windowsDirectoryOf(new MemoryRegistry({ [versionKey]: { SystemRoot: 'D:\\WinNT' } }))).toBe('D:\\WinNT');
  expect(windowsDirectoryOf(new MemoryRegistry())).toBe('C:\\Windows');
});

test('has one boot id for a boot, and another one for the next', async () => {
  const { system, registry } = bench();
  const first = await system.bootId();
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  registry.bootTime += 5n;
  expect(await system.bootId()).toBe(first);
  registry.boot();
  expect(await system.bootId()).not.toBe(first);
});

const renamed = { [nextName]: { ComputerName: 'WIN-2' }, [tcpip]: { Hostname: 'win-1', 'NV Hostname': 'win-2' } };
const reboots: [string, Keys, string[]][] = [
  ['nothing', {}, []],
  ['servicing', { [servicing]: {} }, ['a feature or an update']],
  ['Windows Update', { [update]: {} }, ['Windows Update']],
  ['a rename', renamed, ['the host was renamed']],
  [
    'a rename behind the fifteenth character',
    { [tcpip]: { Hostname: 'a-name-of-some-length-1', 'NV Hostname': 'a-name-of-some-length-2' } },
    ['the host was renamed'],
  ],
  [
    'all of them',
    { [servicing]: {}, [update]: {}, ...renamed },
    ['a feature or an update', 'Windows Update', 'the host was renamed'],
  ],
  ['names that differ by case only', { [nextName]: { ComputerName: 'win-1' } }, []],
  ['a name of the next boot that is not told', { [tcpip]: { Hostname: 'win-1' } }, []],
  ['no names at all', { [activeName]: {}, [nextName]: {}, [tcpip]: {} }, []],
  ['files that wait for a boot', { [sessionManager]: { PendingFileRenameOperations: '\\??\\C:\\x' } }, []],
];
test.each(reboots)('lists why Windows needs a reboot: %s', async (_, keys, want) => {
  expect(await bench(keys).system.pendingReboot()).toEqual(want);
});

const renames: [string, Keys, string, string[], boolean][] = [
  ['to another name', {}, 'win-2', ['win-2'], true],
  ['to the name it has', {}, 'win-1', [], false],
  ['to the name it has in capitals', {}, 'WIN-1', [], false],
  ['to the name that waits for the reboot already', renamed, 'win-2', [], true],
  ['to a third name while another waits for the reboot', renamed, 'win-3', ['win-3'], true],
  ['back to the name it still has', renamed, 'win-1', ['win-1'], false],
  ['where the next name is not told', { [tcpip]: { Hostname: 'win-1' } }, 'win-1', [], false],
];
for (const [how, keys, name, want, reboot] of renames) {
  test(`renames the host ${how}`, async () => {
    const { system, names } = bench(keys);
    expect(await system.rename(name)).toBe(reboot);
    expect(names).toEqual(want);
  });
}

test('reports the free space of a directory, or of where it will be', async () => {
  const { system } = bench();
  const here = await system.freeBytes(tmpdir());
  const below = await system.freeBytes(join(tmpdir(), 'not', 'yet', 'there'));
  expect(here).toBeGreaterThan(1e6);
  expect(Math.abs(here - below)).toBeLessThan(1e9);
});

test('reports that the free space cannot be determined', async () => {
  await expect(bench().system.freeBytes('/dev/null/x')).rejects.toMatchObject({
    code: 'HOST_FILE_UNUSABLE',
    message: '/dev/null/x: the free space cannot be determined',
    remedy: expect.stringMatching(/./) as string,
  });
});

test('reboots after a delay, as planned maintenance, with the reason', async () => {
  const { system, runs } = bench();
  await system.reboot(5, 'proxy variables\nhave changed');
  expect(runs).toEqual([
    {
      file: 'C:\\Windows\\System32\\shutdown.exe',
      args: ['/r', '/t', '5', '/f', '/d', 'p:4:1', '/c', 'proxy variables have changed'],
      limitMs: 60_000,
    },
  ]);
});

test('passes whole seconds and at most 512 characters to shutdown.exe', async () => {
  const { system, runs } = bench();
  await system.reboot(0.4, 'r'.repeat(2000));
  expect(runs[0]?.args[2]).toBe('1');
  expect(runs[0]?.args.at(-1)).toHaveLength(512);
});

test.each([0, 1115, 1190])('treats exit code %d as a reboot in progress', async exitCode => {
  await expect(bench({}, { exitCode }).system.reboot(0, 'x')).resolves.toBeUndefined();
});

test('reports that the reboot was rejected', async () => {
  const answer = { exitCode: 5, stderr: 'Access is denied.(5)\r\n' };
  await expect(bench({}, answer).system.reboot(0, 'x')).rejects.toMatchObject({
    code: 'PROGRAM_FAILED',
    message: 'shutdown.exe ended with code 5: Access is denied.(5)',
    remedy: expect.stringMatching(/./) as string,
  });
});

test('reports that shutdown.exe did not end', async () => {
  const answer = new ProgramTimeout('C:\\Windows\\System32\\shutdown.exe did not end within 60 s');
  await expect(bench({}, answer).system.reboot(0, 'x')).rejects.toMatchObject({
    code: 'PROGRAM_TIMEOUT',
    message: answer.message,
  });
});

test('passes on any other failure', async () => {
  const broken = new Error('broken');
  await expect(bench({}, broken).system.reboot(0, 'x')).rejects.toBe(broken);
});
