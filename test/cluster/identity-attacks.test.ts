import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { toBase64 } from '../../src/base/bytes.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { agentName, nodeAnnotation, secretName, signer } from '../../src/contract/names.ts';
import type { HostTarget } from '../../src/host/host.ts';
import { printPublicKey } from '../../src/host/keys/public-key.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { findCondition } from '../../src/base/condition.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import * as kinds from '../../src/kube/resources.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { makeCsr } from '../kit/csr.ts';
import { newPrivateKey } from '../kit/new-private-key.ts';
import { infrastructure, openshiftCluster } from '../kit/openshift-objects.ts';
import { makeSecret, type OperatorScene, operatorScene, operatorVersion } from '../kit/operator-scene.ts';
import { recordHost } from '../kit/recorded-host.ts';
import { anyKey } from '../kit/lifecycle/lab-host.ts';

/** An attacker with the kubelet credential of node `evil`, on a real API server with NodeRestriction. */

const requests = kinds.certificateSigningRequests;
const [victimAddress, evilAddress] = ['10.0.0.5', '10.0.0.6'];
const pinned = anyKey();
const goVersion = '10.0.0-go';

let cluster: Cluster;
let scene: OperatorScene;
let admin: Client;
let evil: Client;
let operator: Awaited<ReturnType<OperatorScene['start']>>;
const dialed: HostTarget[] = [];
const eventually = (look: () => Promise<unknown>) => expect.poll(look, { timeout: 60_000, interval: 100 });
const inNamespace = () => ({ namespace: scene.namespace });

const node = (name: string) => ({ metadata: { name, labels: { 'kubernetes.io/os': 'windows' } } });

beforeAll(async () => {
  cluster = await startCluster({ admissionPlugins: ['NodeRestriction'] });
  const objects = openshiftCluster({ infrastructure: infrastructure('None') });
  scene = await operatorScene({ url: cluster.url, ca: cluster.ca, kubeconfig: cluster.kubeconfigText, objects });
  ({ admin } = scene);
  await makeSecret(admin, scene.namespace, secretName.privateKey, { 'private-key.pem': newPrivateKey() });
  evil = createClient(loadKubeconfig(cluster.kubeconfigFor('system:node:evil', ['system:nodes'])));
  await evil.create(kinds.nodes, node('evil'));
  await recordHost(admin, scene.namespace, { name: 'evil', address: evilAddress });
  operator = await scene.start(
    {},
    { connect: target => (dialed.push(target), Promise.reject(new Error('no answer'))) },
  );
});
afterAll(async () => {
  await evil?.close();
  await scene?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

async function report(addresses: readonly string[]): Promise<void> {
  const items = addresses.map(address => ({ type: 'InternalIP', address }));
  await evil.patch(
    kinds.nodes,
    'evil',
    { type: 'merge', body: { status: { addresses: items } } },
    { subresource: 'status' },
  );
}

async function requestServing(names: { dnsNames?: string[]; ips?: number[][] }): Promise<string> {
  const content = { commonNames: ['system:node:evil'], organizations: ['system:nodes'], ...names };
  const { metadata } = await evil.create(requests, {
    metadata: { generateName: 'csr-' },
    spec: {
      request: toBase64(makeCsr(content)),
      signerName: signer.kubeletServing,
      usages: ['digital signature', 'key encipherment', 'server auth'],
    },
  });
  return metadata.name ?? '';
}

const eventsAbout = async (name: string, namespace = 'default') =>
  (await admin.list(kinds.events, { namespace })).items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message }) => `${reason} ${message}`);

const names: [about: string, addresses: string[], asked: Parameters<typeof requestServing>[0], rule: string][] = [
  ['the API server', ['kubernetes.default.svc'], { dnsNames: ['kubernetes.default.svc'] }, 'alternative-names'],
  ['a whole domain', ['*.example.com'], { dnsNames: ['*.example.com'] }, 'alternative-names'],
  ['the address of the service of the API server', ['172.30.0.1'], { ips: [[172, 30, 0, 1]] }, 'alternative-names'],
  ['an address that only it reports', ['10.0.9.9'], { ips: [[10, 0, 9, 9]] }, 'recorded-names'],
  ['a name that only it reports', ['other.example.com'], { dnsNames: ['other.example.com'] }, 'recorded-names'],
];
for (const [about, addresses, asked, rule] of names) {
  test(`a node that reports ${about} as its own gets no certificate for it`, async () => {
    await report([evilAddress, ...addresses]);
    const name = await requestServing({ ...asked, dnsNames: ['evil', ...(asked.dnsNames ?? [])] });
    await eventually(() => eventsAbout(name)).toContainEqual(expect.stringContaining(`(${rule})`));
    const { status } = await admin.get(requests, name);
    expect([status?.certificate, findCondition(status?.conditions, 'Approved')]).toEqual([undefined, undefined]);
  });
}

test('a node gets a certificate for its recorded name and address', async () => {
  const name = await requestServing({ dnsNames: ['evil'], ips: [[10, 0, 0, 6]] });
  await eventually(async () => {
    const { status } = await admin.get(requests, name);
    return [status?.certificate !== undefined, await eventsAbout(name)];
  }).toEqual([true, []]);
});

test('a node that claims the address of another host neither becomes its Node nor changes the pinned key', async () => {
  await report([evilAddress, victimAddress]);
  const annotations = { [nodeAnnotation.sshHostKey]: printPublicKey(anyKey()).split(' ')[1] ?? '' };
  await evil.patch(kinds.nodes, 'evil', { type: 'merge', body: { metadata: { annotations } } });
  const spec = { paused: false };
  const status = { hostKey: printPublicKey(pinned), host: { name: 'victim', addresses: [victimAddress] } };
  await recordHost(admin, scene.namespace, { name: 'victim', address: victimAddress, spec: { paused: true }, status });
  await admin.patch(windowsInstances, 'victim', { type: 'merge', body: { spec } }, inNamespace());
  const demanded = () => dialed.find(({ address }) => address === victimAddress)?.pinnedKey;
  await eventually(async () => printPublicKey(demanded() ?? anyKey())).toBe(printPublicKey(pinned));
  const victim = await admin.get(windowsInstances, 'victim', inNamespace());
  expect([victim.status?.node, victim.status?.host?.name]).toEqual(['victim', 'victim']);
});

test('reports two Nodes with one address', async () => {
  await admin.create(kinds.nodes, {
    metadata: { ...node('victim').metadata, annotations: { [nodeAnnotation.version]: operatorVersion } },
  });
  const agent = { keyHash: 'a'.repeat(64), installed: new Date().toISOString() };
  await admin.patch(
    windowsInstances,
    'victim',
    { type: 'merge', body: { status: { agent } } },
    {
      ...inNamespace(),
      subresource: 'status',
    },
  );
  await admin.patch(
    windowsInstances,
    'victim',
    { type: 'merge', body: { spec: { labels: { x: '1' } } } },
    inNamespace(),
  );
  await eventually(() => eventsAbout('victim', scene.namespace)).toContainEqual(
    expect.stringMatching(/^NodeAddressConflict Node evil reports the address 10\.0\.0\.5/),
  );
});

test('a version annotation neither adds permissions of agents nor keeps a ConfigMap', async () => {
  const name = `windows-services-${goVersion}`;
  await admin.create(kinds.configMaps, { metadata: { name, ...inNamespace() }, data: { services: '[]', files: '[]' } });
  const annotations = { [nodeAnnotation.version]: goVersion };
  await evil.patch(kinds.nodes, 'evil', { type: 'merge', body: { metadata: { annotations } } });
  await eventually(() =>
    admin.get(kinds.configMaps, name, inNamespace()).then(
      () => 'there',
      (error: unknown) => (isNotFound(error) ? 'gone' : error),
    ),
  ).toBe('gone');
  const rules = JSON.stringify([
    await admin.get(kinds.clusterRoles, 'system-wicd-nodes'),
    await admin.get(kinds.clusterRoles, `${agentName}:evil`),
    await admin.get(kinds.clusterRoles, agentName),
  ]);
  expect(rules).not.toContain('"patch"');
});

test('a node cannot create another Node', async () => {
  await expect(evil.create(kinds.nodes, node('other'))).rejects.toMatchObject({ code: 403 });
  const stranger = createClient(loadKubeconfig(cluster.kubeconfigFor('system:wicd-node:evil', ['system:wicd-nodes'])));
  onTestFinished(() => stranger.close());
  await expect(stranger.get(kinds.nodes, 'victim')).rejects.toMatchObject({ code: 403 });
});

test('certificates are not renewed after the instance is deleted', async () => {
  await admin.delete(windowsInstances, 'evil', inNamespace());
  const name = await requestServing({ dnsNames: ['evil'], ips: [[10, 0, 0, 6]] });
  await eventually(async () => operator.log.lines.length).toBeGreaterThan(0);
  await new Promise(resolve => setTimeout(resolve, 3000));
  expect((await admin.get(requests, name)).status?.certificate).toBeUndefined();
});
