import { afterAll, beforeAll, expect, test } from 'vitest';
import { textFromBase64 } from '../../src/base/bytes.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName, nodeAnnotation, secretKey, secretName } from '../../src/contract/names.ts';
import { servicesConfigMapName } from '../../src/contract/version.ts';
import type { WindowsInstanceStatus } from '../../src/contract/windows-instance/resource.ts';
import { isAlreadyExists, unless } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import * as kinds from '../../src/kube/resources.ts';
import { endGoOperator } from '../kit/go-cluster.ts';
import { goClusterObjects, goLock, goPod, goPodName, goVersion } from '../../src/sandbox/go-operator/objects.ts';
import { allowedOf, formerRights, ownRights, textOf, wideRights } from '../kit/agent-reviews.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { newPrivateKey } from '../kit/new-private-key.ts';
import { infrastructure, openshiftCluster } from '../kit/openshift-objects.ts';
import {
  makeSecret,
  type OperatorScene,
  operatorScene,
  operatorVersion,
  tokenKubeconfig,
} from '../kit/operator-scene.ts';

/** What agents of the Go operator may do, on a real API server, while this operator takes their Nodes over. */

const names = ['win-1', 'win-2'];
let cluster: Cluster;
let scene: OperatorScene;
let admin: Client;
let lastingToken = '';

const patience = { timeout: 60_000, interval: 100 };
const place = (node: string) => ({ namespace: scene.namespace, node, other: node === 'win-1' ? 'win-2' : 'win-1' });
const allWide = () => names.flatMap(name => wideRights(place(name)));

beforeAll(async () => {
  cluster = await startCluster({ controllers: [] });
  const objects = openshiftCluster({ infrastructure: infrastructure('None') });
  scene = await operatorScene({ url: cluster.url, ca: cluster.ca, kubeconfig: cluster.kubeconfigText, objects });
  ({ admin } = scene);
  const { namespace } = scene;
  for (const name of names) {
    const annotations = { [nodeAnnotation.version]: goVersion, [nodeAnnotation.desiredVersion]: goVersion };
    await admin.create(kinds.nodes, { metadata: { name, labels: { 'kubernetes.io/os': 'windows' }, annotations } });
    await admin.create(windowsInstances, instance(name));
  }
  for (const { resource, object } of goClusterObjects({ namespace, apiServerUrl: cluster.url }))
    await admin.create(resource, object).catch(unless(isAlreadyExists));
  const pod = await admin.create(kinds.pods, goPod(namespace));
  await admin.create(kinds.configMaps, goLock(namespace, pod.metadata.uid ?? ''));
  await makeSecret(admin, namespace, secretName.privateKey, { 'private-key.pem': newPrivateKey() });
});
afterAll(async () => {
  await scene?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

/** Paused: nobody connects to its host, and the test writes what a journey would record. */
function instance(name: string) {
  const spec = { address: `10.0.0.${name.at(-1)}`, username: 'Administrator', paused: true };
  return { metadata: { name, namespace: scene.namespace }, spec };
}

async function record(name: string, status: WindowsInstanceStatus): Promise<void> {
  const { namespace } = scene;
  const whole = { host: { name, addresses: [] }, ...status };
  await admin.patch(
    windowsInstances,
    name,
    { type: 'merge', body: { status: whole } },
    { namespace, subresource: 'status' },
  );
}

async function storedToken(): Promise<string> {
  const found = await admin.find(kinds.secrets, secretName.agentToken, { namespace: scene.namespace });
  return textFromBase64(found?.data?.[secretKey.token] ?? '') ?? '';
}

/** HTTP status of a harmless request with the lasting token. */
async function tokenStatus(): Promise<number> {
  const client = createClient(loadKubeconfig(tokenKubeconfig(cluster, lastingToken)));
  try {
    await client.list(kinds.certificateSigningRequests);
    return 200;
  } catch (error) {
    return (error as { code?: number }).code ?? 0;
  } finally {
    await client.close();
  }
}

test('wide rights are narrowed when the Go operator is gone, and end with its last agent, as does the shared token', async () => {
  const { namespace } = scene;
  await expect.poll(storedToken, patience).not.toBe('');
  lastingToken = await storedToken();
  const wide = allWide();
  expect(await allowedOf(admin, wide)).toEqual(wide.map(textOf));
  const operator = await scene.start();
  await expect
    .poll(() => operator.log.messages('info'), patience)
    .toContain('Waiting for the owner of the legacy lock');
  expect(await allowedOf(admin, wide)).toEqual(wide.map(textOf));
  await endGoOperator(admin, namespace);

  // Not recorded yet: each agent keeps its own Node, and no other.
  const foreign = wide.filter(
    ({ verb, name, who }) => name !== undefined && verb !== 'get' && !who.user.endsWith(`:${name}`),
  );
  await expect.poll(() => allowedOf(admin, foreign), patience).toEqual([]);
  for (const name of names) {
    const needed = formerRights(place(name));
    await expect.poll(() => allowedOf(admin, needed), patience).toEqual(needed.map(textOf));
  }
  const agent = { keyHash: 'a'.repeat(64), installed: '2026-03-01T12:00:00Z' };
  await record('win-1', { version: operatorVersion, agent });
  await record('win-2', { version: goVersion });
  const replaced = wideRights(place('win-1')).filter(({ who }) => who.user.endsWith(':win-1'));
  await expect.poll(() => allowedOf(admin, replaced), patience).toEqual([]);
  const kept = formerRights(place('win-2'));
  expect(await allowedOf(admin, kept)).toEqual(kept.map(textOf));
  expect([await tokenStatus(), await storedToken()]).toEqual([200, lastingToken]);

  await record('win-2', { version: operatorVersion, agent });
  await expect.poll(() => allowedOf(admin, allWide()), patience).toEqual([]);
  for (const name of names) {
    const needed = ownRights(place(name), operatorVersion);
    await expect.poll(() => allowedOf(admin, needed), patience).toEqual(needed.map(textOf));
  }
  await expect.poll(storedToken, patience).toBe('');
  await expect.poll(tokenStatus, patience).toBe(401);
  const find = (name: string) => admin.find(kinds.configMaps, name, { namespace });
  await expect.poll(() => find(servicesConfigMapName(goVersion)), patience).toBeUndefined();
  const lockOwner = async () => JSON.stringify((await find(configMapName.leaderLock))?.metadata.ownerReferences ?? []);
  await expect.poll(lockOwner, patience).not.toContain(goPodName);
}, 240_000);
