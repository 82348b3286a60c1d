import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { findCondition } from '#base/condition.ts';
import { hnsNetwork, nodeAnnotation, windowsTaint } from '#contract/names.ts';
import { dir, file } from '#contract/paths.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { certificateSigningRequests, clusterRoleBindings, nodes } from '#kube/resources.ts';
import { startApprover } from '../../../../test/kit/approve-requests.ts';
import { recordedLog } from '../../../../test/kit/recorded-log.ts';
import { startHost } from '../../../../test/kit/simulated-host.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../embedded-cluster.ts';
import { hostPorts } from '../host/ports.ts';
import { SimulatedProcesses } from '../host/processes.ts';
import { defaultTimes } from '../times.ts';
import { defaultTraits, type Traits } from '../traits.ts';
import { serviceProgram } from './all.ts';
import type { ProgramHost } from './program-host.ts';
import type { Defect } from './stamp.ts';

let cluster: EmbeddedCluster;
let admin: Client;
const bootstrapper = { commonName: 'bootstrapper' };
const config =
  '{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","registerWithTaints":[{"key":"os","value":"Windows","effect":"NoSchedule"}],"serverTLSBootstrap":true,"maxPods":250}';

beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  admin = createClient(loadKubeconfig(cluster.kubeconfigFor()));
  const apiGroup = 'rbac.authorization.k8s.io';
  await admin.create(clusterRoleBindings, {
    metadata: { name: 'bootstrap' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ kind: 'User', name: bootstrapper.commonName, apiGroup }],
  });
});
afterAll(async () => {
  await admin.close();
  await cluster.close();
});

/** A host whose programs are run here by hand. */
async function scene(traits: Partial<Traits> = {}) {
  const made = await startHost({ start: 'off', traits });
  const { host } = made;
  const recorded = recordedLog();
  const context: ProgramHost = {
    pid: 4711,
    ports: hostPorts({
      state: host.state,
      files: host.files,
      services: host.services,
      processes: new SimulatedProcesses(),
      delays: systemClock,
      times: defaultTimes,
      busyPorts: () => [],
      reboot: () => undefined,
    }),
    state: host.state,
    clock: systemClock,
    delays: { ...systemClock, sleep: () => Promise.resolve() },
    times: defaultTimes,
    traits: { ...defaultTraits, ...traits },
    log: recorded.log,
  };
  await host.files.write(file.kubeletConfig, config);
  await host.files.write(file.bootstrapKubeconfig, cluster.kubeconfigFor(bootstrapper));
  const stop = new AbortController();
  const run = (path: string, words: string[], defect?: Defect) => {
    let isReady = false;
    const life = {
      signal: stop.signal,
      ready: () => {
        isReady = true;
      },
    };
    const ended = serviceProgram({ path, words, version: '1', ...(defect && { defect }) }, context)(life);
    return { ended, isReady: () => isReady };
  };
  return {
    ...made,
    run,
    stop: () => stop.abort(new Error('stopped')),
    messages: () => recorded.lines.map(({ message }) => message),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'));
      await made[Symbol.asyncDispose]();
    },
  };
}

const kubeletWords = (name: string) => [
  `--config=${file.kubeletConfig}`,
  `--bootstrap-kubeconfig=${file.bootstrapKubeconfig}`,
  `--kubeconfig=${file.kubeconfig}`,
  `--cert-dir=${dir.kubeletPki}`,
  '--windows-service',
  '--node-labels=node.openshift.io/os_id=Windows',
  `--hostname-override=${name}`,
  '--node-ip=10.0.0.11',
];
const patient = { interval: 50 };
const readyOf = async (name: string) => findCondition((await admin.get(nodes, name)).status?.conditions, 'Ready');

test('the kubelet registers its Node with requested certificates', async () => {
  await using approver = startApprover(admin, undefined, 20);
  await using made = await scene();
  const kubelet = made.run(file.kubelet, kubeletWords('programs-1'));
  expect(kubelet.isReady()).toBe(true);
  await expect.poll(() => readyOf('programs-1'), patient).toMatchObject({ status: 'False' });
  const node = await admin.get(nodes, 'programs-1');
  expect(node).toMatchObject({
    metadata: { labels: { 'kubernetes.io/os': 'windows', 'node.openshift.io/os_id': 'Windows' } },
    spec: { taints: expect.arrayContaining([windowsTaint]) },
    status: { addresses: [{ type: 'InternalIP', address: '10.0.0.11' }, {}], allocatable: { pods: '250', cpu: '4' } },
  });
  await expect.poll(() => made.host.files.has(`${dir.kubeletPki}kubelet-server-current.pem`), patient).toBe(true);
  expect(made.host.files.paths().map(path => path.toLowerCase())).toContain(file.kubeconfig.toLowerCase());
  expect(approver.decided.length).toBeGreaterThanOrEqual(2);
  made.stop();
  expect(await kubelet.ended).toBe(0);
});

test('a broken program exits at once', async () => {
  await using made = await scene();
  const proxy = made.run(file.kubeProxy, [], 'broken');
  expect([await proxy.ended, proxy.isReady(), made.messages()]).toEqual([1, false, ['Crashed']]);
});

test('a program that breaks later works for that time, and not again until its file is replaced', async () => {
  await using made = await scene();
  await made.host.files.write(file.kubeProxy, 'x');
  const proxy = made.run(file.kubeProxy, [], 'breaks-after-1s');
  await expect.poll(proxy.isReady, { interval: 10 }).toBe(true);
  expect(await proxy.ended).toBe(1);
  const again = made.run(file.kubeProxy, [], 'breaks-after-1s');
  expect([await again.ended, again.isReady()]).toEqual([1, false]);
  await made.host.files.write(file.kubeProxy, 'x');
  await expect.poll(made.run(file.kubeProxy, [], 'breaks-after-1s').isReady, { interval: 10 }).toBe(true);
});

test('a program that breaks later can be stopped before', async () => {
  await using made = await scene();
  await made.host.files.write(file.kubeProxy, 'x');
  const proxy = made.run(file.kubeProxy, [], 'breaks-after-100s');
  await expect.poll(proxy.isReady, { interval: 10 }).toBe(true);
  made.stop();
  expect([await proxy.ended, made.messages()]).toEqual([0, []]);
});

test('the service of a broken agent fails, and its verbs work', async () => {
  await using made = await scene();
  expect(await made.run(file.agent, ['controller', '--windows-service'], 'broken').ended).toBe(1);
  expect(made.messages()).toEqual(['Crashed']);
  expect(await made.run(file.agent, ['version'], 'broken').ended).toBe(0);
});

test('the Node is ready while containerd and the network are up, and reports changes at once', async () => {
  await using _ = startApprover(admin, undefined, 20);
  await using made = await scene();
  await made.install(file.containerd);
  await made.host.services.create('containerd', {
    command: file.containerd,
    description: '',
    dependencies: [],
    startType: 'manual',
    recovery: undefined,
  });
  made.run(file.kubelet, kubeletWords('programs-2'));
  await made.host.services.start('containerd');
  await made.host.files.write(file.cniConfig, '{}');
  await expect.poll(() => readyOf('programs-2'), patient).toMatchObject({ status: 'True' });
  await made.host.files.remove(file.cniConfig);
  await expect
    .poll(() => readyOf('programs-2'), patient)
    .toMatchObject({ status: 'False', message: expect.stringContaining('cni plugin not initialized') });
});

test('a kubelet that never registers has its certificate and no Node', async () => {
  await using _ = startApprover(admin, undefined, 20);
  await using made = await scene({ kubelet: 'never registers' });
  made.run(file.kubelet, kubeletWords('programs-3'));
  await expect.poll(() => made.host.files.has(file.kubeconfig), patient).toBe(true);
  await expect(admin.get(nodes, 'programs-3')).rejects.toMatchObject({ code: 404 });
});

test('a kubelet with the fault "never ready" never becomes ready', async () => {
  await using _ = startApprover(admin, undefined, 20);
  await using made = await scene({ kubelet: 'never ready' });
  await made.host.files.write(file.cniConfig, '{}');
  made.run(file.kubelet, kubeletWords('programs-4'));
  await expect
    .poll(() => readyOf('programs-4'), patient)
    .toMatchObject({ status: 'False', message: expect.stringContaining('may not have completed') });
});

const failures: [string, string[], (made: Awaited<ReturnType<typeof scene>>) => Promise<void>][] = [
  ['with a flag that no kubelet has', ['--no-such-flag'], async () => undefined],
  ['without its configuration', kubeletWords('x'), made => made.host.files.remove(file.kubeletConfig)],
  [
    'with a configuration of something else',
    kubeletWords('x'),
    made => made.host.files.write(file.kubeletConfig, '{"kind":"Pod"}'),
  ],
];
for (const [name, words, spoil] of failures) {
  test(`a kubelet ${name} fails and logs the reason`, async () => {
    await using made = await scene();
    await spoil(made);
    expect(await made.run(file.kubelet, words).ended).toBe(1);
    expect(made.messages()).toContain('Failed to run the kubelet');
  });
}

test('a kubelet ends when its request is denied', async () => {
  await using made = await scene();
  const kubelet = made.run(file.kubelet, kubeletWords('programs-5'));
  await expect.poll(() => made.messages(), patient).toContain('Waiting for a certificate');
  for (const { metadata, status } of (await admin.list(certificateSigningRequests)).items) {
    if (status?.conditions !== undefined) continue;
    const body = { status: { conditions: [{ type: 'Denied', status: 'True', reason: 'Test', message: 'no' }] } };
    const patch = { type: 'merge', body } as const;
    await admin.patch(certificateSigningRequests, metadata.name ?? '', patch, { subresource: 'approval' });
  }
  expect(await kubelet.ended).toBe(1);
});

test('a kubelet can be stopped while it waits for its certificate', async () => {
  await using made = await scene();
  const kubelet = made.run(file.kubelet, kubeletWords('programs-6'));
  await expect.poll(() => made.messages(), patient).toContain('Waiting for a certificate');
  made.stop();
  expect(await kubelet.ended).toBe(0);
});

const overlayWords = (name: string) => [
  '--node',
  name,
  `--bootstrap-kubeconfig=${file.kubeconfig}`,
  '--windows-service',
];

test('the overlay makes its networks once the Node has a subnet, and once only', async () => {
  await using made = await scene();
  await made.host.files.write(file.kubeconfig, cluster.kubeconfigFor());
  await admin.create(nodes, { metadata: { name: 'programs-7' } });
  const overlay = made.run(file.hybridOverlay, overlayWords('programs-7'));
  expect(overlay.isReady()).toBe(true);
  expect(made.host.state.networks).toEqual([]);
  const body = { metadata: { annotations: { [nodeAnnotation.hybridOverlaySubnet]: '10.132.5.0/24' } } };
  await admin.patch(nodes, 'programs-7', { type: 'merge', body });
  await expect.poll(() => made.host.state.networks.length, patient).toBe(2);
  expect(made.host.state.networks).toMatchObject([
    { name: hnsNetwork.base, managementIp: '10.0.0.11' },
    { name: hnsNetwork.overlay, subnets: ['10.132.5.0/24'], managementIp: '10.0.0.11' },
  ]);
  const again = made.run(file.hybridOverlay, overlayWords('programs-7'));
  await expect
    .poll(() => made.messages().filter(message => message === 'Created HNS networks').length, patient)
    .toBe(2);
  expect(made.host.state.networks).toHaveLength(2);
  made.stop();
  expect([await overlay.ended, await again.ended]).toEqual([0, 0]);
});

test('the overlay fails without a kubeconfig and stops cleanly on request', async () => {
  await using made = await scene();
  expect(await made.run(file.hybridOverlay, overlayWords('x')).ended).toBe(1);
  expect(made.messages()).toContain('Failed to create HNS networks');
  await made.host.files.write(file.kubeconfig, cluster.kubeconfigFor());
  await admin.create(nodes, { metadata: { name: 'programs-8' } });
  const waiting = made.run(file.hybridOverlay, overlayWords('programs-8'));
  made.stop();
  expect(await waiting.ended).toBe(0);
});

test('any other program runs until it is stopped', async () => {
  await using made = await scene();
  const others = [file.containerd, file.csiProxy, 'C:\\k\\constructor', 'C:\\k\\unknown.exe'];
  const running = others.map(path => made.run(path, []));
  expect(running.map(each => each.isReady())).toEqual([true, true, true, true]);
  made.stop();
  expect(await Promise.all(running.map(each => each.ended))).toEqual([0, 0, 0, 0]);
});
