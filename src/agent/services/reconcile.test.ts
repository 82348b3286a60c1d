import { expect, test } from 'vitest';
import { type Service, service } from '#contract/services/manifest.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { servicesWork } from '../reconcile/reconcile-host.ts';
import { recordChangedFiles, readState } from '../state.ts';
import { desiredService } from './plan.ts';
import { reconcileServices } from './reconcile.ts';

const node = { name: 'win-1', object: { metadata: { name: 'win-1' } } };
const network = { kind: 'cni-and-kube-proxy' as const, arguments: {} };

/** The services of a real node, cut down to what matters for their order. */
const containerd = service({ name: 'containerd', command: 'containerd.exe', bootstrap: true, priority: 0 });
const kubelet = service({
  name: 'kubelet',
  command: 'kubelet.exe --node-ip=NODE_IP',
  hostVariables: [{ name: 'NODE_IP', source: 'nodeIP' }],
  dependencies: ['containerd'],
  bootstrap: true,
  priority: 1,
});
const overlay = service({
  name: 'hybrid-overlay-node',
  command: 'overlay.exe --node NODE_NAME',
  nodeVariables: [{ name: 'NODE_NAME', jsonPath: '{.metadata.name}' }],
  dependencies: ['kubelet'],
  priority: 2,
});
const exporter = service({ name: 'windows_exporter', command: 'exporter.exe', priority: 2 });
const kubeProxy = service({
  name: 'kube-proxy',
  command: 'kube-proxy.exe',
  prepare: [network],
  dependencies: ['hybrid-overlay-node'],
  priority: 3,
});
const all = [containerd, kubelet, overlay, exporter, kubeProxy];

function newHost(): ModelHost {
  const host = new ModelHost();
  host.hostValues = { nodeIP: '10.0.0.4' };
  return host;
}

const reconcile = (host: ModelHost, services: readonly Service[] = all) =>
  reconcileServices(services, node, servicesWork(host, 'v1'), host.waiting());

async function commands(host: ModelHost): Promise<Record<string, string>> {
  const running = (await host.services.list()).filter(({ state }) => state === 'running');
  return Object.fromEntries(running.map(({ name, config }) => [name, config.command]));
}

const wanted = {
  containerd: 'containerd.exe',
  kubelet: 'kubelet.exe --node-ip=10.0.0.4',
  'hybrid-overlay-node': 'overlay.exe --node win-1',
  windows_exporter: 'exporter.exe',
  'kube-proxy': 'kube-proxy.exe',
};

test('starts all services of a node in one pass', async () => {
  const host = newHost();
  await reconcile(host);
  expect(await commands(host)).toEqual(wanted);
});

test('prepares kube-proxy only once the overlay runs, whose network it needs', async () => {
  const host = newHost();
  host.before = call => {
    if (call.startsWith('prepare')) expect(host.services.calls).toContain('start hybrid-overlay-node');
  };
  await reconcile(host);
  expect(host.log).toEqual(['prepare cni-and-kube-proxy']);
});

test('changes nothing in a second pass, but prepares again', async () => {
  const host = newHost();
  await reconcile(host);
  const calls = host.services.calls.length;
  await reconcile(host);
  expect(host.services.calls).toHaveLength(calls);
  expect(host.log).toHaveLength(2);
});

test('restarts only the service whose file was changed by its preparation, and prepares it once', async () => {
  const host = newHost();
  await reconcile(host);
  const before = await host.services.list();
  host.services.calls.length = 0;
  host.log.length = 0;
  host.prepared = () => true;
  await reconcile(host);
  expect(host.services.calls).toEqual(['stop kube-proxy', 'start kube-proxy']);
  expect(host.log).toEqual(['prepare cni-and-kube-proxy']);
  for (const { name, pid } of before.slice(0, -1)) expect((await host.services.query(name))?.pid).toBe(pid);
});

test('does not restart a service it has just started because its file was new', async () => {
  const host = newHost();
  host.prepared = () => true;
  await reconcile(host);
  expect(host.services.calls.filter(call => call.endsWith('kube-proxy'))).toEqual([
    'create kube-proxy',
    'start kube-proxy',
  ]);
});

const tampered: [name: string, service: Service, touched: string[]][] = [
  ['the overlay below kube-proxy', overlay, ['kube-proxy', 'hybrid-overlay-node']],
  ['containerd below nearly everything', containerd, ['kube-proxy', 'hybrid-overlay-node', 'kubelet', 'containerd']],
];
for (const [name, victim, touched] of tampered) {
  test(`restores the command of ${name}`, async () => {
    const host = newHost();
    await reconcile(host);
    const exporterPid = (await host.services.query('windows_exporter'))?.pid;
    host.services.install(victim.name, { ...desiredService(victim, 'tampered').config });
    host.services.calls.length = 0;
    await reconcile(host);
    expect(await commands(host)).toEqual(wanted);
    expect(host.services.calls.filter(call => call.startsWith('stop')).map(call => call.slice(5))).toEqual(touched);
    expect((await host.services.query('windows_exporter'))?.pid).toBe(exporterPid);
  });
}

test('takes over services of the Go operator without a restart', async () => {
  const host = newHost();
  for (const { name, dependencies } of all) {
    const command = wanted[name as keyof typeof wanted];
    host.services.install(name, { command, description: `OpenShift managed ${name}`, dependencies });
  }
  const before = await host.services.list();
  await reconcile(host);
  expect(host.services.calls.every(call => call.startsWith('configure'))).toBe(true);
  for (const { name, pid } of before) expect((await host.services.query(name))?.pid).toBe(pid);
});

test('does not touch a service whose command cannot be expanded, nor its dependents, and reports it', async () => {
  const host = newHost();
  host.hostValues = {};
  const error = await rejectionOf(reconcile(host));
  expect(error).toMatchObject({ code: 'SERVICES_INCOMPLETE' });
  expect(error?.message).toBe(
    '3 service(s) failed: kubelet (nodeIP is out of reach), hybrid-overlay-node (waits for kubelet), kube-proxy (waits for hybrid-overlay-node)',
  );
  expect(await commands(host)).toEqual({ containerd: 'containerd.exe', windows_exporter: 'exporter.exe' });
});

test('continues with dependents of a service that runs although its command cannot be expanded now', async () => {
  const host = newHost();
  await reconcile(host, [containerd, kubelet]);
  host.hostValues = {};
  const error = await rejectionOf(reconcile(host));
  expect(error?.message).toBe('1 service(s) failed: kubelet (nodeIP is out of reach)');
  expect(await commands(host)).toEqual(wanted);
});

test('keeps services of others in its memory over a restart of the agent', async () => {
  const host = newHost();
  await reconcile(host);
  host.services.install('antivirus', { dependencies: ['containerd'] });
  host.services.install('containerd', desiredService(containerd, 'tampered').config);
  host.services.before = call => {
    if (call === 'configure containerd') throw new Error('5: access denied');
  };
  expect((await rejectionOf(reconcile(host)))?.message).toContain('antivirus (waits for containerd)');
  expect((await readState(host.files)).stoppedServices).toEqual(['antivirus']);
  host.services.before = () => undefined;
  await reconcile(host);
  expect(await commands(host)).toMatchObject({ antivirus: '', ...wanted });
  expect((await readState(host.files)).stoppedServices).toEqual([]);
});

test('does nothing for no services', async () => {
  const host = newHost();
  await reconcile(host, []);
  expect([host.log, host.services.calls]).toEqual([[], []]);
});

test('ends with the reason when it is stopped while it expands', async () => {
  const host = newHost();
  const waiting = { ...host.waiting(), signal: AbortSignal.abort(new Error('shutting down')) };
  host.hostValues = {};
  await expect(reconcileServices(all, node, servicesWork(host, 'v1'), waiting)).rejects.toThrow('shutting down');
});

const runner = 'C:\\k\\kube-log-runner.exe';
const reading = [
  service({ name: 'kubelet', command: `${runner} C:\\k\\kubelet.exe --config=C:\\k\\kubelet.conf` }),
  service({
    name: 'kube-proxy',
    command: `${runner} C:\\k\\kube-proxy.exe --config C:\\k\\kube-proxy.conf`,
    priority: 1,
  }),
  service({ name: 'exporter', command: '"C:\\k\\exporter.exe" -x', priority: 2 }),
];

async function restarts(host: ModelHost, act: () => unknown): Promise<string[]> {
  const before = host.services.calls.length;
  await act();
  return host.services.calls
    .slice(before)
    .filter(call => call.startsWith('start '))
    .map(call => call.slice(6));
}

const changes: [name: string, path: string, want: string[]][] = [
  ['its program', 'C:\\k\\kubelet.exe', ['kubelet']],
  ['its configuration', 'C:\\k\\kube-proxy.conf', ['kube-proxy']],
  ['a program that several use', runner, ['kube-proxy', 'kubelet']],
  ['a path in another spelling', 'c:\\K\\EXPORTER.exe', ['exporter']],
  ['a file that no command names', 'C:\\k\\cni\\win-overlay.exe', []],
  ['a file whose name only begins like one', 'C:\\k\\kubelet', []],
  ['a file whose name only begins like a program', 'C:\\k\\kube-proxy.con', []],
];
for (const [name, path, want] of changes) {
  test(`restarts the services that read ${name}, once`, async () => {
    const host = newHost();
    await reconcile(host, reading);
    await recordChangedFiles([path], host.files);
    expect(await restarts(host, () => reconcile(host, reading))).toEqual(want);
    expect(await restarts(host, () => reconcile(host, reading))).toEqual([]);
    expect((await readState(host.files)).changedFiles).toEqual([]);
  });
}

test('remembers a changed file until the service that reads it has been started', async () => {
  const host = newHost();
  await reconcile(host, reading);
  await recordChangedFiles([runner, 'C:\\k\\exporter.exe'], host.files);
  host.services.before = call => {
    if (call === 'start kubelet') throw new Error('1053: no answer');
  };
  expect(await rejectionOf(reconcile(host, reading))).toMatchObject({ code: 'SERVICES_INCOMPLETE' });
  expect((await readState(host.files)).changedFiles).toEqual([runner]);
  host.services.before = () => undefined;
  expect(await restarts(host, () => reconcile(host, reading))).toContain('kubelet');
  expect((await readState(host.files)).changedFiles).toEqual([]);
});

test('remembers a changed file when it is interrupted, however far it got', async () => {
  for (const cut of ['stop kubelet', 'start kubelet', 'start kube-proxy']) {
    const host = newHost();
    await reconcile(host, reading);
    await recordChangedFiles([runner], host.files);
    const stop = new AbortController();
    host.services.before = call => call === cut && stop.abort(new Error('power cut'));
    const waiting = { ...host.waiting(), signal: stop.signal };
    const cutShort = reconcileServices(reading, node, servicesWork(host, 'v1'), waiting);
    await expect(cutShort).rejects.toThrow('power cut');
    expect((await readState(host.files)).changedFiles).toEqual([runner]);
    host.services.before = () => undefined;
    await reconcile(host, reading);
    expect(Object.keys(await commands(host))).toHaveLength(3);
  }
});
