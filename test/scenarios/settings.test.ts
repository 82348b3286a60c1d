import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromBase64, toBase64 } from '../../src/base/bytes.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { dir, file } from '../../src/contract/paths.ts';
import type { InstanceSetting } from '../../src/contract/windows-instance/resource.ts';
import type { KubeResource } from '../../src/kube/resource.ts';
import { type ConfigMap, configMaps, secrets } from '../../src/kube/resources.ts';
import {
  controllerConfigs,
  imageTagMirrorSets,
  machineConfigs,
  networkConfigs,
  proxyConfigs,
} from '../../src/kube/resources-openshift.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type NodeHistory, recordNodes } from '../kit/node-history.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { until } from '../kit/until.ts';

/** Settings of the cluster that change while hosts work, with the real agent. */

const names = ['win-1', 'win-2', 'win-3'];
let sandbox: Sandbox;
let operator: SandboxOperator;

let history: NodeHistory;

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: names.length, speed: 20 });
  operator = startOperator(sandbox, { payloadBytes: 200_000 });
  await operator.allReady(names.length);
  history = await recordNodes(operator.client);
}, 120_000);
afterAll(async () => {
  await history?.[Symbol.asyncDispose]();
  await operator?.stop();
  await sandbox?.stop();
});

const hosts = () => names.map(name => sandbox.host(name));
const textOn = (path: string) => Promise.all(hosts().map(host => host.files.read(path)));
const registries = () => Promise.all(hosts().map(host => host.files.list(dir.registries)));
const pids = () =>
  Promise.all(hosts().map(async host => (await host.services.list()).map(({ name, pid }) => `${name} ${pid}`)));
const isSettled = ({ desired, applied }: Partial<InstanceSetting> = {}) => desired === applied;
const settled = () =>
  until(async () => {
    const { items } = await operator.client.list(windowsInstances, { namespace: sandbox.namespace });
    return items.every(
      ({ status: { phase, settings } = {} }) =>
        phase === 'Ready' && isSettled(settings?.files) && isSettled(settings?.services),
    );
  }, 'all hosts have what they should have');

const set: KubeResource & { spec: object } = {
  metadata: { name: 'e2e-powershell-mirror' },
  spec: {
    imageTagMirrors: [
      {
        source: 'test.registry.io/powershell',
        mirrors: ['mcr.microsoft.com/powershell'],
        mirrorSourcePolicy: 'AllowContactingSource',
      },
    ],
  },
};

test('MIR-01, MIR-02: a mirror set reaches all nodes and leaves them, and nothing is restarted', async () => {
  const [before, running] = [await registries(), await pids()];
  await operator.client.create(imageTagMirrorSets, set);
  const path = `${dir.registries}\\test.registry.io\\hosts.toml`;
  await until(async () => (await textOn(path)).every(text => text !== undefined), 'all hosts have the mirror');
  const [text] = await textOn(path);
  expect(text).toContain('[host."https://mcr.microsoft.com/v2"]\n  capabilities = ["pull", "resolve"]');
  expect((await registries()).map(list => list.length)).toEqual(before.map(list => list.length + 1));
  await operator.client.delete(imageTagMirrorSets, set.metadata.name ?? '');
  await until(async () => (await textOn(path)).every(each => each === undefined), 'no host has the mirror');
  await settled();
  expect(await registries()).toEqual(before);
  expect(await pids()).toEqual(running);
}, 120_000);

test('CA-04, CA-05: a rotated kubelet CA reaches all nodes without a restart', async () => {
  const running = await pids();
  const { items } = await operator.client.list(controllerConfigs);
  const [config] = items as (KubeResource & { spec: Record<string, string> })[];
  const former = new TextDecoder().decode(fromBase64(config?.spec['kubeAPIServerServingCAData'] ?? ''));
  const rotated = `${former}\n# rotated\n`;
  const body = { spec: { kubeAPIServerServingCAData: toBase64(rotated) } };
  await operator.client.patch(controllerConfigs, config?.metadata.name ?? '', { type: 'merge', body });
  await until(async () => (await textOn(file.kubeletCa)).every(text => text === rotated), 'all hosts have the CA');
  await settled();
  expect(await pids()).toEqual(running);
}, 120_000);

test('SEC-07: a renewed TLS pair of the exporter reaches a host that was off, when it is back', async () => {
  const [off] = hosts();
  off?.switchOff();
  const tls = await operator.client.get(secrets, 'windows-machine-config-operator-tls', {
    namespace: sandbox.namespace,
  });
  const data = { ...tls.data, 'tls.crt': toBase64('renewed') };
  await operator.client.patch(
    secrets,
    tls.metadata.name ?? '',
    { type: 'merge', body: { data } },
    { namespace: sandbox.namespace },
  );
  await until(
    async () => (await textOn(file.tlsCertificate)).slice(1).every(text => text === 'renewed'),
    'the others have it',
  );
  off?.switchOn();
  await until(async () => (await textOn(file.tlsCertificate)).every(text => text === 'renewed'), 'all hosts have it');
  await settled();
}, 120_000);

const boots = () => hosts().map(host => host.stats.reboots);
const variablesOf = async (service: string) =>
  Promise.all(
    hosts().map(async host => (await host.services.list()).find(({ name }) => name === service)?.config.environment),
  );

/** What happens to nodes while the act is carried out: which services were restarted, and that nothing else happened. */
async function during(act: () => Promise<unknown>, isDone: () => Promise<boolean>): Promise<{ restarted: string[] }> {
  const [before, booted] = [await pids(), boots()];
  await act();
  await until(isDone, 'all hosts have the change');
  await settled();
  expect(boots()).toEqual(booted);
  const after = await pids();
  const restarted = new Set(
    after.flatMap((list, host) =>
      list.filter(each => !before[host]?.includes(each)).map(each => each.split(' ')[0] ?? ''),
    ),
  );
  return { restarted: [...restarted].toSorted() };
}

test('settings of the kubelet restart the kubelets that they are for, and no Node is cordoned', async () => {
  const metadata = { name: 'windows-kubelet-config', namespace: sandbox.namespace };
  const data = { all: 'kubelet:\n  maxPods: 77\n' };
  const has = (text: string) => async () =>
    (await textOn(file.kubeletConfig)).every(config => config?.includes(text) === true);
  const { restarted } = await during(
    () => operator.client.create<ConfigMap>(configMaps, { metadata, data }),
    has('"maxPods":77'),
  );
  expect(restarted).toContain('kubelet');
  expect(restarted).not.toContain('containerd');
  const { restarted: again } = await during(
    () => operator.client.delete(configMaps, metadata.name, metadata),
    has('"maxPods":250'),
  );
  expect(again).toContain('kubelet');
  expect(history.events.filter(({ object }) => object.spec?.unschedulable === true)).toEqual([]);
}, 120_000);

const proxy = { httpProxy: 'http://proxy.example.com:3128', noProxy: '.cluster.local,10.0.0.0/8' };

test('PRX-01, PRX-03, PRX-04: a proxy that is switched on, changed and off reaches services by restarts, not by reboots', async () => {
  const { client } = operator;
  const inject = async () => {
    await until(() => client.find(configMaps, 'trusted-ca', { namespace: sandbox.namespace }), 'trusted-ca exists');
    const body = { data: { 'ca-bundle.crt': '# injected\n' } };
    await client.patch(configMaps, 'trusted-ca', { type: 'merge', body }, { namespace: sandbox.namespace });
  };
  const seen = (want: string | undefined) => async () =>
    (await variablesOf('kubelet')).every(variables => variables?.['HTTP_PROXY'] === want);
  const on = await during(async () => {
    await client.create(proxyConfigs, { metadata: { name: 'cluster' }, status: proxy } as KubeResource);
    await inject();
  }, seen(proxy.httpProxy));
  expect(on.restarted).toEqual(expect.arrayContaining(['containerd', 'kubelet', 'kube-proxy']));
  expect(await textOn(file.caBundle)).toEqual(names.map(() => expect.stringContaining('# injected')));
  const httpProxy = 'http://other.example.com:3128';
  await during(
    () => client.patch(proxyConfigs, 'cluster', { type: 'merge', body: { status: { httpProxy } } }),
    seen(httpProxy),
  );
  await during(() => client.patch(proxyConfigs, 'cluster', { type: 'merge', body: { status: null } }), seen(undefined));
  expect(await textOn(file.caBundle)).toEqual(names.map(() => expect.not.stringContaining('# injected')));
}, 120_000);

interface Ignition {
  systemd: { units: { contents: string }[] };
}

test("the cluster's own upgrade: a rendered worker with the same options changes nothing, others restart the kubelet", async () => {
  const { client } = operator;
  const [worker] = (await client.list(machineConfigs)).items as unknown as (KubeResource & {
    spec: { config: Ignition };
  })[];
  const rendered = (name: string, config: object) => ({ metadata: { name }, spec: { config } }) as KubeResource;
  const before = await pids();
  await client.create(machineConfigs, rendered('rendered-worker-same', worker?.spec.config ?? {}));
  await settled();
  expect(await pids()).toEqual(before);
  const config = structuredClone(worker?.spec.config);
  for (const unit of config?.systemd.units ?? [])
    unit.contents = unit.contents.replace(' --v=2', ' \\\n  --cloud-provider=external \\\n  --v=2');
  const commands = async () =>
    Promise.all(
      hosts().map(async host => (await host.services.list()).find(({ name }) => name === 'kubelet')?.config.command),
    );
  const { restarted } = await during(
    () => client.create(machineConfigs, rendered('rendered-worker-other', config ?? {})),
    async () => (await commands()).every(command => command?.includes('--cloud-provider=external') === true),
  );
  expect(restarted).toContain('kubelet');
}, 120_000);

test("the cluster's own upgrade: another service network restarts kubelet and kube-proxy", async () => {
  const body = { spec: { serviceNetwork: ['172.31.0.0/16'] }, status: { serviceNetwork: ['172.31.0.0/16'] } };
  const { restarted } = await during(
    () => operator.client.patch(networkConfigs, 'cluster', { type: 'merge', body }),
    async () => (await textOn(file.kubeletConfig)).every(config => config?.includes('172.31.0.10') === true),
  );
  expect(restarted).toContain('kubelet');
}, 120_000);
