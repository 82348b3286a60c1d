import { expect, onTestFinished, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { service } from '#contract/services/manifest.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import {
  type AgentBench,
  containerd,
  kubelet,
  namespace,
  nodeName,
  runIn,
  startAgentBench,
  wanted,
} from '../../../test/kit/agent-bench.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { knownGoodFile, saveKnownGood } from '../known-good.ts';
import { stateFile } from '../state.ts';
import type { VerbDeps } from './verb.ts';

const { version } = nodeAnnotation;
const access = `--kubeconfig ${file.agentKubeconfig} --namespace ${namespace}`;
const bootstrap = `bootstrap --node ${nodeName} --desired-version v1 ${access}`;
const cleanup = `cleanup ${access}`;
const proxy = { HTTP_PROXY: 'http://me:password@proxy' };

async function bench(over: Partial<VerbDeps> = {}): Promise<AgentBench> {
  const made = await startAgentBench(over);
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}
const json = (out: string) => JSON.parse(out) as Record<string, unknown>;
const names = async ({ host }: AgentBench) => (await host.services.list()).map(({ name }) => name);

/** A host with services and a variable of ours, as the cluster knows it. */
async function configured(over: Partial<VerbDeps> = {}): Promise<AgentBench> {
  const world = await bench(over);
  await world.publish('v1', [containerd, kubelet], proxy);
  await world.register({ ...wanted('v1'), [version]: 'v1' });
  expect((await world.run(bootstrap)).code).toBe(0);
  const environment = [{ name: 'HTTP_PROXY', value: proxy.HTTP_PROXY }];
  world.host.fileTexts.set(stateFile, JSON.stringify({ environment, stoppedServices: [] }));
  world.host.fileTexts.set(file.stagedRecord, JSON.stringify({ version: 'v1' }));
  world.host.state.variables = { ...proxy };
  world.host.state.variablesAtBoot = { ...proxy };
  return world;
}

test('bootstrap starts the services from which the host becomes a Node, and no others', async () => {
  const world = await bench();
  await world.publish('v1');
  const { code, out } = await world.run(bootstrap);
  expect([code, out]).toEqual([0, 'Running bootstrap services of version v1: containerd, kubelet\n']);
  expect(await names(world)).toEqual(['containerd', 'kubelet']);
});

test('bootstrap can be repeated, and reports the same', async () => {
  const world = await bench();
  await world.publish('v1');
  const line = `${bootstrap} -o json`;
  const first = await world.run(line);
  const calls = world.host.services.calls.length;
  expect(await world.run(line)).toEqual(first);
  expect(json(first.out)).toEqual({ version: 'v1', services: ['containerd', 'kubelet'] });
  expect(world.host.services.calls.length).toBe(calls);
});

test('bootstrap starts nothing without bootstrap services', async () => {
  const world = await bench();
  await world.publish('v1', []);
  expect((await world.run(bootstrap)).out).toContain('version v1: none');
});

const failures: [name: string, break_: (world: AgentBench) => unknown, code: string][] = [
  ['there is no such ConfigMap', ({ rights }) => rights.allowVersion('v1'), 'OBJECT_MISSING'],
  [
    'the host has another name by now',
    async world => {
      await world.publish('v1');
      world.host.state.hostName = 'renamed';
    },
    'NODE_NAME_CHANGED',
  ],
  ['there is no kubeconfig', ({ host }) => host.fileTexts.delete(file.agentKubeconfig), 'CREDENTIAL_UNREADABLE'],
  [
    'the kubeconfig is damaged',
    ({ host }) => host.fileTexts.set(file.agentKubeconfig, '{"users":'),
    'KUBECONFIG_MALFORMED',
  ],
  ['the API server is away', world => world.stopServer(), 'API_UNREACHABLE'],
  [
    'the ConfigMap is damaged',
    async ({ client, rights }) => {
      await rights.allowVersion('v1');
      await client.create(configMaps, {
        metadata: { name: 'windows-services-v1', namespace },
        data: { services: '[' },
      });
    },
    'SERVICES_MALFORMED',
  ],
  [
    'a service does not start',
    async world => {
      await world.publish('v1');
      world.host.services.before = call => {
        if (call === 'start kubelet') throw new Error('1053');
      };
    },
    'SERVICES_INCOMPLETE',
  ],
];
for (const [name, break_, code] of failures) {
  test(`bootstrap fails with a code when ${name}`, async () => {
    const world = await bench();
    await break_(world);
    const told = await world.run(`${bootstrap} -o json`);
    expect([told.code, json(told.out)['error']]).toEqual([1, expect.objectContaining({ code })]);
    expect(told.err).toContain(`${code}: `);
  });
}

test('bootstrap stops when aborted', async () => {
  const stop = new AbortController();
  const world = await bench({ signal: stop.signal });
  await world.publish('v1');
  world.host.services.slowness = 1000;
  const running = world.run(`${bootstrap} -o json`);
  await expect.poll(() => world.host.services.calls.length, { interval: 10 }).toBeGreaterThan(1);
  stop.abort(new Error('SIGINT'));
  const told = await running;
  expect([told.code, json(told.out)['error']]).toEqual([1, expect.objectContaining({ code: 'INTERRUPTED' })]);
});

test('cleanup removes everything, reports a required reboot, and does not touch the Node', async () => {
  const world = await configured();
  const before = await world.client.get(nodes, nodeName);
  const { code, out } = await world.run(cleanup);
  expect([code, out]).toEqual([0, 'Removed services: kubelet, containerd\nReboot required.\n']);
  expect([await names(world), world.host.state.variables]).toEqual([[], {}]);
  expect(await world.client.get(nodes, nodeName)).toEqual(before);
});

test('cleanup reports the same as one document', async () => {
  const world = await configured();
  expect(json((await world.run(`${cleanup} -o json`)).out)).toEqual({
    removed: ['kubelet', 'containerd'],
    keptSettings: false,
    rebootNeeded: true,
    clusterReached: true,
  });
});

test('cleanup changes nothing the second time', async () => {
  const world = await configured();
  await world.run(cleanup);
  await world.host.reboot();
  expect(await world.run(cleanup)).toMatchObject({ code: 0, out: 'No services of the agent were found.\n' });
});

test('cleanup keeps variables and certificates with --keep-settings', async () => {
  const world = await configured();
  const { out } = await world.run(`${cleanup} --keep-settings`);
  expect(out).toBe('Removed services: kubelet, containerd\nVariables and certificates were kept.\n');
  expect([await names(world), world.host.state.variables]).toEqual([[], proxy]);
});

test('cleanup works on a host that was never configured', async () => {
  const world = await bench();
  await world.publish('v1');
  world.host.state.variables = { HTTP_PROXY: 'of the administrator' };
  const { code, out } = await world.run(`${cleanup} -o json`);
  expect([code, json(out)]).toEqual([
    0,
    { removed: [], keptSettings: false, rebootNeeded: false, clusterReached: true },
  ]);
  expect(world.host.state.variables).toEqual({ HTTP_PROXY: 'of the administrator' });
});

test('cleanup uses the record on the host after 30 s without the API server', async () => {
  const world = await configured({ clock: fastClock(60) });
  world.host.services.install('unmarked', { command: 'u.exe' });
  const unmarked = service({ name: 'unmarked', command: 'u.exe' });
  const manifest = { services: [unmarked], files: [], environment: {}, watchedEnvironment: ['HTTP_PROXY'] };
  const object = { metadata: { name: nodeName } };
  await saveKnownGood({ version: 'v1', manifest, node: { name: nodeName, object } }, world.host.files);
  await world.stopServer();
  const startMs = world.world.clock.monotonicMs();
  const { code, out } = await world.run(`${cleanup} -o json`);
  expect(world.world.clock.monotonicMs() - startMs).toBeLessThan(60_000);
  expect([code, json(out)]).toEqual([
    0,
    {
      removed: ['unmarked', 'kubelet', 'containerd'],
      keptSettings: false,
      rebootNeeded: true,
      clusterReached: false,
    },
  ]);
  expect([await names(world), world.host.state.variables, world.host.fileTexts.has(knownGoodFile)]).toEqual([
    [],
    {},
    false,
  ]);
});

test('cleanup reports that the API server was not reached', async () => {
  const world = await configured({ clock: fastClock(200) });
  await world.stopServer();
  const { out } = await world.run(cleanup);
  expect(out).toMatch(/^The API server was not reached: .*ECONNREFUSED/m);
});

test('cleanup uses the record on the host at once without a kubeconfig', async () => {
  const world = await configured();
  world.host.fileTexts.delete(file.agentKubeconfig);
  expect(json((await world.run(`${cleanup} -o json`)).out)).toMatchObject({
    removed: ['kubelet', 'containerd'],
    clusterReached: false,
  });
});

test('cleanup uses the record on the host at once when it is not allowed to read the ConfigMap', async () => {
  const world = await configured();
  await world.client.raw(
    'DELETE',
    `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/agent-token`,
  );
  expect(json((await world.run(`${cleanup} -o json`)).out)).toMatchObject({
    removed: ['kubelet', 'containerd'],
    clusterReached: true,
  });
  expect(world.logged.messages('warn')).toEqual([
    expect.stringContaining('Services ConfigMap of version v1 cannot be read'),
  ]);
});

test('cleanup uses tags and records without a ConfigMap', async () => {
  const world = await configured();
  await world.client.delete(configMaps, 'windows-services-v1', { namespace });
  expect(json((await world.run(`${cleanup} -o json`)).out)).toMatchObject({
    removed: ['kubelet', 'containerd'],
    rebootNeeded: true,
    clusterReached: true,
  });
  expect(world.host.state.variables).toEqual({});
});

test('cleanup fails when a service cannot be removed, and keeps everything else', async () => {
  const world = await configured();
  world.host.services.before = call => {
    if (call === 'remove kubelet') throw new Error('5');
  };
  const told = await world.run(`${cleanup} -o json`);
  expect([told.code, json(told.out)['error']]).toEqual([1, expect.objectContaining({ code: 'CLEANUP_INCOMPLETE' })]);
  expect(world.host.state.variables).toEqual(proxy);
});

test('cleanup stops when aborted, and does not continue without the API server', async () => {
  const stop = new AbortController();
  const world = await configured({ clock: fastClock(2) });
  await world.stopServer();
  const running = runIn({ ...world.world, signal: stop.signal }, `${cleanup} -o json`);
  await expect
    .poll(() => world.logged.messages('warn').includes('Reading services ConfigMap failed; retrying'), {
      interval: 10,
    })
    .toBe(true);
  stop.abort(new Error('SIGINT'));
  const told = await running;
  expect([told.code, json(told.out)['error']]).toEqual([1, expect.objectContaining({ code: 'INTERRUPTED' })]);
  expect(await names(world)).toEqual(['containerd', 'kubelet']);
});

test('no verb shows a password', async () => {
  const world = await configured();
  const told = [await world.run(`${cleanup} -o json`), await world.run('inventory'), world.logged.lines];
  expect(JSON.stringify(told)).not.toContain('password');
});
