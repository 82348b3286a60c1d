import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { parseInventory } from '#contract/inventory.ts';
import { file } from '#contract/paths.ts';
import { ApiError } from '#kube/api-error.ts';
import { runIn, worldOf } from '../../../test/kit/agent-bench.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { verbs } from './all.ts';
import { asAppError, failureText } from './failure.ts';
import type { ServiceLife } from '../ports.ts';

const onHost = (host: ModelHost, line: string) => runIn(worldOf(host), line);
const json = (out: string) => JSON.parse(out) as Record<string, unknown>;

test('prints its version as text for scripts', async () => {
  const { code, out } = await onHost(new ModelHost(), 'version');
  expect([code, out]).toEqual([0, 'windows-instance-config-daemon version: "11.0.0-test", node version: "here"\n']);
});

test('prints its version as JSON', async () => {
  const { out } = await onHost(new ModelHost(), 'version -o json');
  expect(json(out)).toEqual({ version: '11.0.0-test', runtime: 'here' });
});

test('opens the host neither for help nor for a version nor for a wrong line', async () => {
  const world = worldOf(new ModelHost(), recordedLog(), {
    host: () => {
      throw new Error('native code is not needed here');
    },
  });
  const codes = [];
  for (const line of ['', 'help', 'version', 'cleanup --help', 'cleanup', 'burn'])
    codes.push((await runIn(world, line)).code);
  expect(codes).toEqual([0, 0, 0, 0, 1, 1]);
});

test('shows all verbs, and of each its flags and what its exit codes mean', async () => {
  const { out } = await onHost(new ModelHost(), '--help');
  for (const { name, summary, required, optional } of verbs) {
    expect(out).toMatch(new RegExp(`^  ${name} +${RegExp.escape(summary)}$`, 'm'));
    const { out: details } = await onHost(new ModelHost(), `${name} --help`);
    for (const flag of [...required, ...optional]) expect(details).toContain(`--${flag}`);
    for (const flag of required) expect(details).toMatch(new RegExp(`^Usage: .* --${flag} <`, 'm'));
    expect(details).toContain('Exit code: 0 success, 1 failure');
  }
});

test('shows what a flag is when it is not given', async () => {
  const { out } = await onHost(new ModelHost(), 'controller --help');
  expect(out).toMatch(/--cert-duration <duration> .*\(default 24h\)/);
  expect(out).toMatch(/--windows-service {2,}\w/);
});

test('prints errors of the command line with a remedy to standard error only', async () => {
  const { code, out, err } = await onHost(new ModelHost(), 'reboot');
  expect([code, out]).toEqual([1, '']);
  expect(err).toBe(
    'error: missing --boot-id\n  -> Run `windows-instance-config-daemon.exe reboot --help` for usage.\n',
  );
});

test('prints errors as JSON to standard output, too, with -o json', async () => {
  const { code, out, err } = await onHost(new ModelHost(), 'reboot -o json');
  expect([code, json(out)]).toEqual([
    1,
    {
      error: {
        code: 'USAGE',
        message: 'missing --boot-id',
        remedy: expect.stringContaining('reboot --help') as string,
      },
    },
  ]);
  expect(err).toMatch(/^error: missing/);
});

const thrown: [name: string, error: unknown, isInterrupted: boolean, code: string, message: string][] = [
  [
    'an error that can be acted upon',
    new AppError('NODE_NOT_FOUND', 'none', { remedy: 'Wait.' }),
    false,
    'NODE_NOT_FOUND',
    'none',
  ],
  [
    'a refusal of the API server',
    new ApiError({ code: 403, message: 'nodes is forbidden' }, 'GET /nodes'),
    false,
    'API_REFUSED',
    'GET /nodes: nodes is forbidden',
  ],
  ['a mistake of ours', new TypeError('x is undefined'), false, 'INTERNAL_ERROR', 'x is undefined'],
  ['a text', 'oops', false, 'INTERNAL_ERROR', 'thrown: "oops"'],
  ['whatever a stop has led to', new Error('SIGINT'), true, 'INTERRUPTED', 'interrupted'],
];
for (const [name, error, isInterrupted, code, message] of thrown) {
  test(`turns ${name} into an error with a code and a remedy`, () => {
    const made = asAppError(error, isInterrupted);
    expect([made.code, made.message, made.remedy !== '']).toEqual([code, message, true]);
    expect(failureText(made)).toMatch(`${code}: ${message}\n  -> ${made.remedy}`);
  });
}

test('prints the stack of internal errors only', () => {
  const mistake = new TypeError('x is undefined');
  expect(failureText(asAppError(mistake, false))).toContain('run.test.ts');
  expect(failureText(asAppError(new AppError('NODE_NOT_FOUND', 'none', { remedy: 'Wait.' }), false))).not.toContain(
    '.ts',
  );
  expect(failureText(asAppError('oops', false))).toContain('INTERNAL_ERROR');
});

test('exits with 1 and prints JSON for any thrown value', async () => {
  const host = new ModelHost();
  host.system.bootId = () => Promise.reject(new TypeError('x is undefined'));
  const { code, out } = await onHost(host, 'reboot --boot-id b -o json');
  expect([code, json(out)['error']]).toEqual([1, expect.objectContaining({ code: 'INTERNAL_ERROR' })]);
});

test('reboots once, however often the command is repeated', async () => {
  const host = new ModelHost();
  const line = `reboot --boot-id ${host.bootId} --delay 2500ms -o json`;
  expect(json((await onHost(host, line)).out)).toEqual({ rebooting: true, inSeconds: 3 });
  await host.reboot();
  expect(json((await onHost(host, line)).out)).toEqual({ rebooting: false, why: 'already rebooted' });
  expect(host.log.filter(call => call.startsWith('reboot '))).toEqual(['reboot in 3 s']);
});

test('prints the result of a reboot as text', async () => {
  const host = new ModelHost();
  expect((await onHost(host, `reboot --boot-id ${host.bootId}`)).out).toBe('The host reboots in 3 s.\n');
  expect((await onHost(host, 'reboot --boot-id another')).out).toBe('Skipped: already rebooted.\n');
});

test('renames the host, once', async () => {
  const host = new ModelHost();
  expect((await onHost(host, 'rename --name win-7')).out).toBe('Renamed the host to win-7; reboot required.\n');
  await host.reboot();
  expect((await onHost(host, 'rename --name win-7')).out).toBe('The host is already named win-7.\n');
  expect(json((await onHost(host, 'rename --name win-7 -o json')).out)).toMatchObject({
    changed: false,
    rebootNeeded: false,
  });
});

test('rejects an invalid host name', async () => {
  const { code, out, err } = await onHost(new ModelHost(), 'rename --name win_7 -o json');
  expect([code, json(out)['error']]).toEqual([1, expect.objectContaining({ code: 'HOST_NAME_INVALID' })]);
  expect(err).toContain('win_7');
});

test('prints that a rename takes effect at once when no reboot is required', async () => {
  const host = new ModelHost();
  host.system.rename = async () => false;
  expect((await onHost(host, 'rename --name win-7')).out).toBe('Renamed the host to win-7.\n');
});

const features: [feature: 'enabled' | 'enable-pending' | 'disabled', text: string, data: object][] = [
  [
    'disabled',
    'Enabled the Containers feature; reboot required.\n',
    { before: 'disabled', changed: true, rebootNeeded: true },
  ],
  [
    'enable-pending',
    'The Containers feature is already enabled; reboot required.\n',
    { changed: false, rebootNeeded: true },
  ],
  ['enabled', 'The Containers feature is already enabled.\n', { changed: false, rebootNeeded: false }],
];
for (const [feature, text, data] of features) {
  test(`switches on Containers where they are ${feature}`, async () => {
    const host = new ModelHost();
    host.state.containersFeature = feature;
    expect((await onHost(host, 'enable-containers')).out).toBe(text);
    host.state.containersFeature = feature;
    expect(json((await onHost(host, 'enable-containers -o json')).out)).toMatchObject(data);
  });
}

test('prints the inventory as JSON that the operator can parse', async () => {
  const host = new ModelHost();
  host.services.install('kubelet', { command: 'k.exe', description: 'OpenShift managed kubelet' });
  const { code, out } = await onHost(host, 'inventory -o json');
  expect(code).toBe(0);
  expect(parseInventory(out, 'win-1')).toMatchObject({
    agentVersion: '11.0.0-test',
    hostName: 'win-1',
    bootId: 'boot-1',
  });
});

test('prints the inventory as text', async () => {
  const host = new ModelHost();
  host.state.pendingReboot = ['updates'];
  host.state.adapters.push({
    ...host.state.adapters[0]!,
    name: 'Old',
    isUp: false,
    defaultRouteMetric: undefined,
  });
  host.services.install('kubelet', { command: 'k.exe', description: 'OpenShift managed kubelet' });
  host.services.install('containerd', { command: 'c.exe' }, 'stopped');
  host.fileTexts.set(file.kubelet, 'x');
  host.network.networks = () => Promise.reject(new Error('HNS is away'));
  const { out } = await onHost(host, 'inventory');
  for (const line of [
    'Host:        win-1 (win-1)',
    'System:      Windows Server 2022 Datacenter 10.0.20348.2700, Server Core',
    'Reboot:      updates',
    'Free disk:   50.0 GB',
    'Certificate: none',
    '  Ethernet, 10.0.0.5/24 fe80::5/64, default route',
    '  Old, 10.0.0.5/24 fe80::5/64, down',
    '  kubelet: running, k.exe',
    '  containerd: stopped, not installed by WMCO, c.exe',
    '  2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  C:\\k\\kubelet.exe',
    'Problems:',
    '  networks: HNS is away',
  ]) {
    expect(out.split('\n')).toContain(line);
  }
  expect(out).not.toContain('Networks:');
});

test('prints networks and the expiry of the certificate', async () => {
  const host = new ModelHost();
  host.overlayAfter = 0;
  const { out } = await onHost(host, 'inventory');
  expect(out).toContain('  OVNKubernetesHybridOverlayNetwork: 10.132.1.0/24');
  expect(out).toContain('Reboot:      not pending');
});

test('rejects a missing bundle, with a code', async () => {
  const { code, out } = await onHost(new ModelHost(), `stage --bundle C:\\Temp\\b --sha256 ${'a'.repeat(64)} -o json`);
  expect([code, json(out)['error']]).toEqual([
    1,
    expect.objectContaining({ code: expect.stringMatching(/^[A-Z_]+$/) }),
  ]);
});

const controllerLine = 'controller --kubeconfig C:\\k\\wicd-kubeconfig --namespace ns --node win-1';

test('runs as a service only with --windows-service, with the signal of that service', async () => {
  const lives: string[] = [];
  const stop = new AbortController();
  const asService = async (body: (life: ServiceLife) => Promise<void>) => {
    lives.push('service');
    stop.abort(new Error('Windows stops the service'));
    await body({ signal: stop.signal, ready: () => undefined });
  };
  const world = worldOf(new ModelHost(), recordedLog(), { asService });
  expect(await runIn(world, `${controllerLine} --windows-service`)).toEqual({ code: 0, out: '', err: '' });
  const outside = { ...world, signal: AbortSignal.abort(new Error('SIGINT')) };
  expect((await runIn(outside, controllerLine)).code).toBe(0);
  expect(lives).toEqual(['service']);
});

test('ends with 1 when it cannot run as a service, without having begun', async () => {
  const asService = () =>
    Promise.reject(new AppError('WINDOWS_NOT_A_SERVICE', 'not started as a service', { remedy: 'Use sc.exe.' }));
  const host = new ModelHost();
  const world = worldOf(host, recordedLog(), { asService });
  const { code, err } = await runIn(world, `${controllerLine} --windows-service`);
  expect([code, err]).toEqual([1, expect.stringContaining('WINDOWS_NOT_A_SERVICE')]);
  expect(host.log).toEqual([]);
});

const logs: [flags: string, opened: [string, number][]][] = [
  ['', []],
  [' --log-dir C:\\var\\log\\wicd', [['C:\\var\\log\\wicd', 100_000_000]]],
  [' --log-dir C:\\var\\log\\wicd --log-file-max-size 105', [['C:\\var\\log\\wicd', 105_000_000]]],
  [' --log-dir C:\\var\\log\\wicd --log-file-max-size=0', [['C:\\var\\log\\wicd', 0]]],
];
for (const [flags, want] of logs) {
  test(`logs to the configured output:${flags || ' none'}`, async () => {
    const opened: [string, number][] = [];
    const logged = recordedLog();
    const openLog = (directory: string, maxBytes: number) => {
      opened.push([directory, maxBytes]);
      return logged.log;
    };
    const signal = AbortSignal.abort(new Error('SIGINT'));
    const world = worldOf(new ModelHost(), logged, { openLog, signal, clock: systemClock });
    await runIn(world, `${controllerLine}${flags}`);
    expect(opened).toEqual(want);
    expect(logged.messages('info')).toEqual(['Starting', 'Stopped agent']);
    expect(logged.lines[0]?.fields).toMatchObject({ version: '11.0.0-test', runtime: 'here' });
  });
}
