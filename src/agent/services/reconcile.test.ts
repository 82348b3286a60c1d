import { expect, test } from 'vitest';
import { type Service, service } from '#contract/services/manifest.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { servicesWork } from '../reconcile/carry-out.ts';
import { readState } from '../state.ts';
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
  reconcileServices(services, node, servicesWork(host), host.waiting());

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

test('brings up all services of a node in one pass', async () => {
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

test('leaves a service alone whose command cannot be expanded, with all that need it, and tells so', async () => {
  const host = newHost();
  host.hostValues = {};
  const error = await rejectionOf(reconcile(host));
  expect(error).toMatchObject({ code: 'SERVICES_INCOMPLETE' });
  expect(error?.message).toBe(
    '3 service(s) are not as wanted: kubelet (nodeIP is out of reach), hybrid-overlay-node (waits for kubelet), kube-proxy (waits for hybrid-overlay-node)',
  );
  expect(await commands(host)).toEqual({ containerd: 'containerd.exe', windows_exporter: 'exporter.exe' });
});

test('goes on with dependants of a service that runs although its command cannot be expanded now', async () => {
  const host = newHost();
  await reconcile(host, [containerd, kubelet]);
  host.hostValues = {};
  const error = await rejectionOf(reconcile(host));
  expect(error?.message).toBe('1 service(s) are not as wanted: kubelet (nodeIP is out of reach)');
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

test('ends with the reason when it is told to stop while it expands', async () => {
  const host = newHost();
  const waiting = { ...host.waiting(), signal: AbortSignal.abort(new Error('shutting down')) };
  host.hostValues = {};
  await expect(reconcileServices(all, node, servicesWork(host), waiting)).rejects.toThrow('shutting down');
});
