import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { secretName } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { noMetrics } from '#kube/controller/metrics.ts';
import { createClient } from '#kube/http-client.ts';
import { Informers } from '#kube/informer/informers.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import * as kinds from '#kube/resources.ts';
import { hostInputSource } from '#node/inputs/host-inputs.ts';
import { startEmbeddedCluster } from '#sandbox/embedded-cluster.ts';
import { fixedFacts } from '../../test/kit/fixed-facts.ts';
import { newPrivateKey } from '../../test/kit/new-private-key.ts';
import { networkOperator, openshiftCluster } from '../../test/kit/openshift-objects.ts';
import { makeSecret, type OperatorScene, operatorScene, operatorVersion } from '../../test/kit/operator-scene.ts';
import { ask } from '../../test/kit/running-server.ts';
import { defaultSettings } from './settings.ts';

const opened: OperatorScene[] = [];
async function openScene(more: Partial<Parameters<typeof operatorScene>[0]> = {}): Promise<OperatorScene> {
  const cluster = await startEmbeddedCluster();
  const scene = await operatorScene({ url: cluster.url, ca: cluster.ca, kubeconfig: cluster.kubeconfigFor(), ...more });
  opened.push({ ...scene, [Symbol.asyncDispose]: async () => (await scene[Symbol.asyncDispose](), cluster.close()) });
  return scene;
}
afterAll(async () => {
  for (const scene of opened) await scene[Symbol.asyncDispose]();
});

let scene: OperatorScene;
let admin: Client;
beforeAll(async () => {
  scene = await openScene();
  ({ admin } = scene);
});

async function found<T extends KubeResource>(
  resource: Resource<T>,
  name: string,
  namespace?: string,
): Promise<T | undefined> {
  try {
    return await admin.get(resource, name, namespace === undefined ? {} : { namespace });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const eventually = (look: () => Promise<unknown>) => expect.poll(look, { interval: 50 });

async function start(...given: Parameters<OperatorScene['start']>) {
  const operator = await scene.start(...given);
  onTestFinished(() => operator.stop());
  return operator;
}

const leads = ({ log }: { log: { messages: (level: 'info') => string[] } }) =>
  log.messages('info').includes('Became the leader');

/** Where a server of the operator listens, by what it says in the log. */
function urlOf({ log }: Awaited<ReturnType<typeof start>>, server: string): string {
  const line = log.lines.find(({ message }) => message === `Starting ${server}`);
  return `http://${String(line?.fields['address'])}`;
}

test('OP-01, OP-05: makes its singletons with the rights of its manifests, and without the private key', async () => {
  const { namespace } = scene;
  const operator = await start();
  await eventually(() => found(kinds.configMaps, `windows-services-${operatorVersion}`, namespace)).toMatchObject({
    immutable: true,
  });
  await eventually(() => found(kinds.roleBindings, 'windows-instance-config-daemon', namespace)).toBeDefined();
  await eventually(() => found(kinds.roleBindings, 'system-wicd-nodes', namespace)).toBeDefined();
  expect(operator.log.messages('error')).toEqual([]);
  expect(JSON.stringify(operator.log.lines)).not.toContain('orbidden');
});

test('deletes the services ConfigMap of a version that no host runs, and repairs a wrong one', async () => {
  const { namespace } = scene;
  for (const name of ['windows-services-0.0.1-55657c8', `windows-services-${operatorVersion}`]) {
    const made = { metadata: { name, namespace }, data: { services: '[]', files: '[]' } };
    await admin.delete(kinds.configMaps, name, { namespace }).catch(() => undefined);
    await admin.create(kinds.configMaps, made);
  }
  await start();
  await eventually(() => found(kinds.configMaps, 'windows-services-0.0.1-55657c8', namespace)).toBeUndefined();
  await eventually(
    async () => (await found(kinds.configMaps, `windows-services-${operatorVersion}`, namespace))?.data,
  ).toMatchObject({
    services: expect.stringContaining('kubelet'),
  });
});

test('makes user data as soon as there is a key, and shows the key nowhere', async () => {
  const operator = await start();
  const pem = newPrivateKey();
  await makeSecret(admin, scene.namespace, secretName.privateKey, { 'private-key.pem': pem });
  await eventually(() => found(kinds.secrets, secretName.userData, 'openshift-machine-api')).toBeDefined();
  const planted = pem.split('\n')[1] ?? '';
  expect(planted.length).toBeGreaterThan(20);
  expect(JSON.stringify(operator.log.lines)).not.toContain(planted);
});

test('makes an instance of an entry and tells what happened to it', async () => {
  const { namespace } = scene;
  const operator = await start();
  const data = { '10.7.7.7': 'username=Administrator' };
  await admin.create(kinds.configMaps, { metadata: { name: 'windows-instances', namespace }, data });
  const conditionOf = async () =>
    (await found(windowsInstances, '10.7.7.7', namespace))?.status?.conditions?.find(
      ({ type }) => type === 'Configured',
    );
  await eventually(conditionOf).toMatchObject({ status: 'False', reason: 'HOST_UNREACHABLE' });
  const figures = operator.metrics.all().map(({ metric }) => metric.name);
  expect(figures).toContain('wmco_step_seconds');
  await admin.delete(kinds.configMaps, 'windows-instances', { namespace });
});

test('gives the agent of a recorded host its own Node, and takes that back with the Node', async () => {
  const { namespace } = scene;
  await start();
  const key = { name: 'win-1', namespace };
  const spec = { address: '10.7.7.8', username: 'Administrator', paused: true };
  const made = await admin.create(windowsInstances, { metadata: key, spec });
  const agent = { keyHash: 'a'.repeat(64), installed: '2026-03-01T12:00:00Z' };
  const status = { host: { name: 'win-1', addresses: ['10.7.7.8'] }, agent };
  await admin.replace(windowsInstances, { ...made, status }, { subresource: 'status' });
  const labels = { 'kubernetes.io/os': 'windows' };
  await admin.create(kinds.nodes, { metadata: { name: 'win-1', labels } });
  await eventually(() => found(kinds.clusterRoleBindings, 'windows-instance-config-daemon:win-1')).toBeDefined();
  await admin.delete(kinds.nodes, 'win-1');
  await eventually(() => found(kinds.clusterRoleBindings, 'windows-instance-config-daemon:win-1')).toBeUndefined();
  await eventually(() => found(kinds.clusterRoles, 'windows-instance-config-daemon:win-1')).toBeUndefined();
  await admin.delete(windowsInstances, 'win-1', { namespace });
});

test('of two operators one leads, and the other follows when it ends', async () => {
  const first = await start();
  await eventually(async () => leads(first)).toBe(true);
  const second = await start();
  await eventually(async () => second.log.messages('info')).toContain('Waiting to become the leader');
  expect(leads(second)).toBe(false);
  await first.stop();
  await eventually(async () => leads(second)).toBe(true);
});

test('serves health and metrics', async () => {
  const here = { host: '127.0.0.1', port: 0 };
  const operator = await start({ healthAddress: here, metricsAddress: here });
  await eventually(async () => leads(operator)).toBe(true);
  const health = urlOf(operator, 'health server');
  expect(await ask(`${health}/healthz`)).toMatchObject({ code: 200 });
  expect(await ask(`${health}/readyz`)).toMatchObject({ code: 200, text: 'ok\n' });
  const { text } = await ask(`${urlOf(operator, 'metrics server')}/metrics`);
  for (const name of ['controller_runtime_reconcile_total', 'wmco_informer_objects', 'process_resident_memory_bytes'])
    expect(text).toContain(`# TYPE ${name} `);
  expect(text).toMatch(/wmco_informer_objects\{informer="nodes\.v1"\} \d/);
});

test('watches no Secrets but those it needs', async () => {
  const here = { host: '127.0.0.1', port: 0 };
  const operator = await start({ metricsAddress: here });
  await eventually(async () => leads(operator)).toBe(true);
  const { text } = await ask(`${urlOf(operator, 'metrics server')}/metrics`);
  const scopes = [...text.matchAll(/wmco_informer_objects\{informer="(secrets[^"]*)"\}/g)]
    .map(([, name]) => name ?? '')
    .sort();
  expect(scopes).toEqual([
    'secrets.v1 namespace=openshift-config fieldSelector=metadata.name=pull-secret',
    'secrets.v1 namespace=openshift-machine-api fieldSelector=metadata.name=windows-user-data',
    'secrets.v1 namespace=openshift-windows-machine-config-operator fieldSelector=metadata.name=cloud-private-key',
    'secrets.v1 namespace=openshift-windows-machine-config-operator fieldSelector=metadata.name=windows-instance-config-daemon',
    'secrets.v1 namespace=openshift-windows-machine-config-operator fieldSelector=metadata.name=windows-machine-config-operator-tls',
    'secrets.v1 namespace=openshift-windows-machine-config-operator fieldSelector=metadata.name=windows-private-keys',
  ]);
});

test('brings tokens with which hosts are who they should be, for an hour', async () => {
  const { namespace } = scene;
  const client = await scene.asOperator();
  const informers = new Informers({ client });
  onTestFinished(async () => {
    await informers.stop();
    await client.close();
  });
  const common = { client, informers, namespace, clock: systemClock, log: silentLog, metrics: noMetrics };
  const inputs = hostInputSource({
    ...common,
    recorder: { record: () => undefined },
    version: operatorVersion,
    facts: fixedFacts({ apiServerUrl: scene.url }),
    settings: defaultSettings({ namespace, version: operatorVersion }),
    kind: 'openshift',
    serves: () => true,
  });
  informers.start();
  await informers.synced();
  await start();
  await eventually(() => found(kinds.configMaps, `windows-services-${operatorVersion}`, namespace)).toBeDefined();
  await eventually(() => found(kinds.serviceAccounts, 'windows-instance-config-daemon', namespace)).toBeDefined();
  const instance = { metadata: { name: 'x' }, spec: { address: 'x', username: 'Administrator' } };
  const { files } = await inputs.prepareInputs(instance, new AbortController().signal);
  const identityIn = async (path: string) => {
    const kubeconfig = files.files.find(each => each.path === path)?.content.reveal() ?? '';
    const host = createClient(loadKubeconfig(kubeconfig));
    const { token } = (JSON.parse(kubeconfig) as { users: { user: { token: string } }[] }).users[0]?.user ?? {
      token: '',
    };
    const { exp, iat } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      number
    >;
    // Over the address and with the CA that the host is given.
    await host.raw('GET', '/version');
    await host.close();
    const review: kinds.TokenReview = { metadata: {}, spec: { token } };
    const { status } = await admin.create(kinds.tokenReviews, review);
    return [status?.user?.username, (exp ?? 0) - (iat ?? 0)];
  };
  expect(await identityIn(file.agentKubeconfig)).toEqual([
    `system:serviceaccount:${namespace}:windows-instance-config-daemon`,
    3600,
  ]);
  expect(await identityIn(file.bootstrapKubeconfig)).toEqual([
    'system:serviceaccount:openshift-machine-config-operator:node-bootstrapper',
    3600,
  ]);
});

test('ends with the reason when the cluster cannot take Windows nodes', async () => {
  const other = await openScene({ objects: openshiftCluster({ networkOperator: networkOperator(null) }) });
  const operator = await other.start();
  await expect(operator.ended).rejects.toMatchObject({ code: 'NETWORK_HYBRID_OVERLAY_MISSING' });
  expect(leads(operator)).toBe(false);
});

test('ends with the reason when the server is too old for its kubelet', async () => {
  const operator = await start({ kubeletVersion: 'v1.99.0' });
  await expect(operator.ended).rejects.toMatchObject({ code: 'SERVER_VERSION_UNSUPPORTED' });
});

test('stops without an error when the signal is aborted, and leaves the Lease to others', async () => {
  const operator = await start();
  await eventually(async () => leads(operator)).toBe(true);
  await operator.stop();
  await operator.ended;
  const lease = await found(kinds.leases, 'windows-machine-config-operator', scene.namespace);
  expect(lease?.spec?.holderIdentity).toBe('');
});

test('runs in a plain cluster that its administrator describes, without permission to discover it', async () => {
  const plain = await openScene({ openshift: false, without: ['windows-machine-config-operator-discovery'] });
  const operator = await plain.start();
  const { namespace } = plain;
  const get = <T extends KubeResource>(resource: Resource<T>, name: string) =>
    plain.admin.get(resource, name, resource.namespaced ? { namespace } : {}).catch(() => undefined);
  await eventually(async () => operator.log.messages('info')).toContain('Waiting to create services ConfigMap');
  const data = { apiServerURL: plain.url, serviceCIDR: '10.96.0.0/12' };
  await plain.admin.create(kinds.configMaps, { metadata: { name: 'windows-cluster', namespace }, data });
  await eventually(() => get(kinds.configMaps, `windows-services-${operatorVersion}`)).toBeDefined();
  await eventually(() => get(kinds.serviceAccounts, 'node-bootstrapper')).toBeDefined();
  await eventually(() =>
    get(kinds.clusterRoleBindings, 'windows-instance-config-daemon-node-bootstrapper'),
  ).toBeDefined();
  expect(operator.log.messages('error')).toEqual([]);
});
