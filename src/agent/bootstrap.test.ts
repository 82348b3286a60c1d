import { expect, test } from 'vitest';
import { dir } from '#contract/paths.ts';
import { type Service, service } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import { ModelHost } from '../../test/kit/model-host.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { bootstrap } from './bootstrap.ts';
import { recordChangedFiles, readState, stateFile } from './state.ts';

const entry = (name: string, isBootstrap: boolean, priority: number): Service =>
  service({ name, command: `${name} arg`, bootstrap: isBootstrap, priority });

function hostFor(...services: Service[]): ModelHost {
  const host = new ModelHost();
  host.node = undefined;
  const data = printManifest({
    services,
    files: [],
    environment: { HTTP_PROXY: 'a' },
    watchedEnvironment: ['HTTP_PROXY'],
  });
  host.configMaps = [{ name: 'windows-services-v1', created: '', data }];
  return host;
}

const run = (host: ModelHost, version = 'v1', node = 'win-1') => bootstrap({ version, node }, host, host.waiting());
const running = async (host: ModelHost) =>
  (await host.services.list()).filter(({ state }) => state === 'running').map(({ config }) => config.command);

const cases: [name: string, services: Service[], want: string[]][] = [
  ['starts nothing of nothing', [], []],
  ['starts a bootstrap service', [entry('a', true, 0)], ['a arg']],
  ['starts no other service', [entry('a', false, 0), entry('b', false, 1)], []],
  [
    'starts the bootstrap services of a mix',
    [entry('a', true, 0), entry('b', true, 1), entry('c', false, 2)],
    ['a arg', 'b arg'],
  ],
  ['starts them in the order of their priority', [entry('b', true, 1), entry('a', true, 0)], ['a arg', 'b arg']],
];
for (const [name, services, want] of cases) {
  test(name, async () => {
    const host = hostFor(...services);
    await run(host);
    expect(await running(host)).toEqual(want);
  });
}

test('touches neither machine variables nor certificates nor the Node', async () => {
  const host = hostFor(entry('a', true, 0));
  await run(host);
  expect([host.state.variables, host.roots, host.log]).toEqual([{}, [], [`write ${stateFile}`]]);
});

test('gives services their variables and records that, without a claim on machine variables', async () => {
  const host = hostFor(entry('a', true, 0));
  await run(host);
  expect((await host.services.query('a'))?.config.environment).toEqual({ HTTP_PROXY: 'a' });
  const variables = [{ name: 'HTTP_PROXY', value: 'a' }];
  expect(await readState(host.files)).toMatchObject({
    environment: undefined,
    serviceEnvironment: [{ service: 'a', variables }],
  });
});

test('finds out natively what the kubelet needs before there is a Node', async () => {
  const host = hostFor(
    service({ name: 'kubelet', command: 'k IP', bootstrap: true, hostVariables: [{ name: 'IP', source: 'nodeIP' }] }),
  );
  host.hostValues = { nodeIP: '10.0.0.4' };
  await run(host);
  expect(await running(host)).toEqual(['k 10.0.0.4']);
});

test('runs scripts for a bootstrap service, and only once', async () => {
  const preScripts = [
    { path: 'exclude.ps1', args: [] },
    { path: 'ip.ps1', variable: 'IP', args: [] },
  ];
  const host = hostFor(service({ name: 'kubelet', command: 'k IP', bootstrap: true, preScripts }));
  host.scriptOutputs = { 'exclude.ps1': '', 'ip.ps1': '10.0.0.4' };
  await run(host);
  await run(host);
  expect(host.log.filter(call => call.startsWith('run '))).toEqual(['run ip.ps1', 'run exclude.ps1']);
});

test('leaves the restart for changed files to the controller', async () => {
  const host = hostFor(service({ name: 'kubelet', command: 'k C:\\k\\kubelet.conf', bootstrap: true }));
  await recordChangedFiles(['C:\\k\\kubelet.conf'], host.files);
  await run(host);
  expect(await readState(host.files)).toMatchObject({ changedFiles: ['C:\\k\\kubelet.conf'] });
});

test('fails without the ConfigMap of the version', async () => {
  const error = await rejectionOf(run(hostFor(), 'v2'));
  expect(error).toMatchObject({ code: 'OBJECT_MISSING', message: expect.stringContaining('windows-services-v2') });
});

test('fails when a service does not start, after it has tried the others', async () => {
  const host = hostFor(entry('a', true, 0), entry('b', true, 1));
  host.services.before = call => {
    if (call === 'start a') throw new Error('1053');
  };
  expect(await rejectionOf(run(host))).toMatchObject({
    code: 'SERVICES_INCOMPLETE',
    message: expect.stringContaining('a (1053)'),
  });
  expect(await running(host)).toEqual(['b arg']);
});

const named = (command: string) =>
  service({ name: 'kubelet', command, bootstrap: true, hostVariables: [{ name: 'NAME', source: 'fqdn' }] });

const names: [name: string, command: string, node: string][] = [
  ['the name that the kubelet is told', 'k --hostname-override=NAME --v=2', 'win-1.example.com'],
  ['the computer name where it is told none', 'k --v=2', 'win-1'],
];
for (const [name, command, node] of names) {
  test(`uses ${name}`, async () => {
    const host = hostFor(named(command));
    host.hostValues = { fqdn: 'WIN-1.example.com' };
    await run(host, 'v1', node);
    expect(await running(host)).toHaveLength(1);
  });

  test(`starts nothing when the host joins under another name than ${name}`, async () => {
    const host = hostFor(named(command));
    host.hostValues = { fqdn: 'WIN-1.example.com' };
    expect(await rejectionOf(run(host, 'v1', 'template'))).toMatchObject({
      code: 'NODE_NAME_CHANGED',
      message: `the kubelet of this host would register as Node "${node}", but the host joins as "template"`,
    });
    expect(host.services.calls).toEqual([]);
  });
}

test('wipes CNI state of an earlier configuration before services start, and none while containerd runs', async () => {
  const lease = `${dir.cniState}\\networks\\x\\10.132.0.7`;
  const host = hostFor(entry('containerd', true, 0));
  host.fileTexts.set(lease, 'old');
  host.services.before = () => expect(host.fileTexts.has(lease)).toBe(false);
  await run(host);
  host.services.before = () => undefined;
  host.fileTexts.set(lease, 'in use');
  await run(host);
  expect(host.fileTexts.get(lease)).toBe('in use');
});
