import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { prepareRequest } from '../../src/agent/identity/request.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { reportName } from '../../src/contract/agent-report.ts';
import { agentName, nodeAnnotation, secretName } from '../../src/contract/names.ts';
import { kubeProxyBinding } from '../../src/controllers/agent-access/desired.ts';
import { ApiError, isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { findCondition } from '../../src/base/condition.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { Informer } from '../../src/kube/informer/informer.ts';
import * as kinds from '../../src/kube/resources.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { newPrivateKey } from '../kit/new-private-key.ts';
import { recordHost } from '../kit/recorded-host.ts';
import { infrastructure, openshiftCluster } from '../kit/openshift-objects.ts';
import { accountToken } from '../kit/account-token.ts';
import {
  makeSecret,
  type OperatorScene,
  operatorScene,
  operatorVersion,
  tokenKubeconfig,
} from '../kit/operator-scene.ts';

const requests = kinds.certificateSigningRequests;
const services = `windows-services-${operatorVersion}`;

let cluster: Cluster;
let scene: OperatorScene;
let admin: Client;
let operator: Awaited<ReturnType<OperatorScene['start']>>;
/** The agent of win-1 with its certificate. */
let agent: Client;

/** Shared by all agents of this test; requests are approved by its hash. */
const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keyHash = sha256(publicKey.export({ type: 'spki', format: 'der' }));

const windows = (name: string) => ({
  metadata: { name, labels: { 'kubernetes.io/os': 'windows' }, annotations: { [nodeAnnotation.pubKeyHash]: 'x' } },
});
const addressOf = (name: string) => `10.0.0.${name.at(-1)}`;

/** A Node, and a paused instance that is recorded as that Node. */
async function addHost(name: string): Promise<void> {
  await admin.create(kinds.nodes, windows(name));
  await recordHost(admin, scene.namespace, { name, address: addressOf(name), keyHash });
}
const asAgent = (node: string) =>
  createClient(loadKubeconfig(cluster.kubeconfigFor(`system:wicd-node:${node}`, ['system:wicd-nodes'])));
const eventually = (look: () => Promise<unknown>) => expect.poll(look, { interval: 100 });
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error: unknown) => {
      if (error instanceof ApiError) return error.code;
      throw error;
    },
  );

beforeAll(async () => {
  cluster = await startCluster();
  const objects = openshiftCluster({ infrastructure: infrastructure('None') });
  scene = await operatorScene({ url: cluster.url, ca: cluster.ca, kubeconfig: cluster.kubeconfigText, objects });
  ({ admin } = scene);
  for (const name of ['win-1', 'win-2']) await addHost(name);
  await admin.create(kinds.nodes, { metadata: { name: 'linux-1', labels: { 'kubernetes.io/os': 'linux' } } });
  await makeSecret(admin, scene.namespace, secretName.privateKey, { 'private-key.pem': newPrivateKey() });
  operator = await scene.start();
  agent = asAgent('win-1');
});

afterAll(async () => {
  await agent?.close();
  await scene?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

const own = 'metadata.name=win-1';
const report = reportName('win-1');
const annotate = { type: 'merge', body: { metadata: { annotations: { test: '1' } } } } as const;
const inNamespace = () => ({ namespace: scene.namespace });

const allowed: [what: string, call: () => Promise<unknown>][] = [
  ['look at its own Node', () => agent.get(kinds.nodes, 'win-1')],
  ['list its own Node by name', () => agent.list(kinds.nodes, { fieldSelector: own })],
  ['read the services ConfigMap', () => agent.get(kinds.configMaps, services, inNamespace())],
  [
    'list the services ConfigMap by name',
    () => agent.list(kinds.configMaps, { ...inNamespace(), fieldSelector: `metadata.name=${services}` }),
  ],
  ['read its report', () => agent.get(kinds.configMaps, report, inNamespace())],
  [
    'write its report',
    () => agent.patch(kinds.configMaps, report, { type: 'merge', body: { data: { bootID: '1' } } }, inNamespace()),
  ],
];
for (const [what, call] of allowed) {
  test(`the agent of a Node is allowed to ${what}`, async () => eventually(() => codeOf(call())).toBe(200));
}

test('leaves the permissions of kube-proxy to OpenShift', async () => {
  await eventually(() => codeOf(admin.get(kinds.clusterRoleBindings, agentName))).toBe(200);
  expect(await codeOf(admin.get(kinds.clusterRoleBindings, kubeProxyBinding))).toBe(404);
});

function remarkOn(node: string): kinds.KubeEvent {
  return {
    metadata: { generateName: 'event-', namespace: 'default' },
    involvedObject: { kind: 'Node', name: node },
    reason: 'Test',
    message: 'test',
    type: 'Normal',
  };
}

const refused: [what: string, call: () => Promise<unknown>][] = [
  ['mark its own Node', () => agent.patch(kinds.nodes, 'win-1', annotate)],
  [
    'label its own Node',
    () => agent.patch(kinds.nodes, 'win-1', { type: 'merge', body: { metadata: { labels: { x: '1' } } } }),
  ],
  ['write the status of its own Node', () => agent.patch(kinds.nodes, 'win-1', annotate, { subresource: 'status' })],
  ['make events', () => agent.create(kinds.events, remarkOn('win-1'), { namespace: 'default' })],
  ['read the report of another Node', () => agent.get(kinds.configMaps, reportName('win-2'), inNamespace())],
  [
    'write the report of another Node',
    () => agent.patch(kinds.configMaps, reportName('win-2'), annotate, inNamespace()),
  ],
  ['delete its report', () => agent.delete(kinds.configMaps, report, inNamespace())],
  [
    'make a ConfigMap',
    () => agent.create(kinds.configMaps, { metadata: { name: 'x', ...inNamespace() } }, inNamespace()),
  ],
  ['look at another Node', () => agent.get(kinds.nodes, 'win-2')],
  ['look at a Linux node', () => agent.get(kinds.nodes, 'linux-1')],
  ['look at a Node that does not exist', () => agent.get(kinds.nodes, 'win-9')],
  ['mark another Node', () => agent.patch(kinds.nodes, 'win-2', annotate)],
  ['change the status of another Node', () => agent.patch(kinds.nodes, 'win-2', annotate, { subresource: 'status' })],
  ['list all Nodes', () => agent.list(kinds.nodes)],
  ['list Windows nodes', () => agent.list(kinds.nodes, { labelSelector: 'kubernetes.io/os=windows' })],
  ['list another Node by name', () => agent.list(kinds.nodes, { fieldSelector: 'metadata.name=win-2' })],
  ['list all Nodes but one', () => agent.list(kinds.nodes, { fieldSelector: 'metadata.name!=win-1' })],
  ['list Nodes by another field', () => agent.list(kinds.nodes, { fieldSelector: 'spec.unschedulable=false' })],
  ['replace its own Node', async () => agent.replace(kinds.nodes, await admin.get(kinds.nodes, 'win-1'))],
  ['delete its own Node', () => agent.delete(kinds.nodes, 'win-1')],
  ['make a Node', () => agent.create(kinds.nodes, windows('win-8'))],
  ['read another ConfigMap of the namespace', () => agent.get(kinds.configMaps, 'kube-root-ca.crt', inNamespace())],
  ['list ConfigMaps of the namespace', () => agent.list(kinds.configMaps, inNamespace())],
  ['list ConfigMaps of the cluster', () => agent.list(kinds.configMaps)],
  ['change the services ConfigMap', () => agent.patch(kinds.configMaps, services, annotate, inNamespace())],
  ['read the private key', () => agent.get(kinds.secrets, secretName.privateKey, inNamespace())],
  ['list Secrets', () => agent.list(kinds.secrets, inNamespace())],
  [
    'read WindowsInstances',
    () => agent.raw('GET', `/apis/windowsmachineconfig.openshift.io/v1alpha1/windowsinstances`),
  ],
  ['list pods', () => agent.list(kinds.pods)],
  ['list events', () => agent.list(kinds.events, { namespace: 'default' })],
  [
    'make events in other namespaces',
    () =>
      agent.create(
        kinds.events,
        { ...remarkOn('win-1'), metadata: { generateName: 'x-', namespace: 'kube-system' } },
        { namespace: 'kube-system' },
      ),
  ],
  ['see roles', () => agent.list(kinds.clusterRoles)],
  [
    'widen its own role',
    () => agent.patch(kinds.clusterRoles, `${agentName}:win-1`, { type: 'merge', body: { rules: [] } }),
  ],
  ['make tokens', () => accountToken(agent, scene.namespace, agentName)],
];
for (const [what, call] of refused) {
  test(`the agent of a Node is not allowed to ${what}`, async () => expect(await codeOf(call())).toBe(403));
}

test('an agent watches its own Node and its services ConfigMap', async () => {
  const scope = { namespace: scene.namespace, fieldSelector: `metadata.name=${services}` };
  const informers = [
    new Informer({ client: agent, resource: kinds.nodes, scope: { fieldSelector: own } }),
    new Informer({ client: agent, resource: kinds.configMaps, scope }),
  ] as const;
  onTestFinished(async () => void (await Promise.all(informers.map(informer => informer.stop()))));
  for (const informer of informers) informer.start();
  await Promise.all(informers.map(informer => informer.synced));
  expect(informers.map(({ store }) => store.list().map(({ metadata }) => metadata.name))).toEqual([
    ['win-1'],
    [services],
  ]);
  await admin.patch(kinds.nodes, 'win-1', { type: 'merge', body: { metadata: { annotations: { seen: 'yes' } } } });
  await expect.poll(() => informers[0].store.list()[0]?.metadata.annotations?.['seen']).toBe('yes');
  expect(informers.map(({ trouble }) => trouble)).toEqual([undefined, undefined]);
});

test.each([[{}], [{ fieldSelector: 'metadata.name=win-2' }], [{ labelSelector: 'kubernetes.io/os=windows' }]])(
  'an agent may not watch other Nodes: %j',
  async scope => {
    const watch = async () => {
      for await (const _ of agent.watch(kinds.nodes, { ...scope, timeoutSeconds: 5 })) return;
    };
    expect(await codeOf(watch())).toBe(403);
  },
);

/** All rules for the agent from the server. */
async function rightsOf(user: string): Promise<string[]> {
  const roles = [
    await admin.get(kinds.clusterRoles, `${agentName}:${user}`),
    await admin.get(kinds.clusterRoles, 'system-wicd-nodes'),
    await admin.get(kinds.roles, `${agentName}:${user}`, inNamespace()),
    await admin.get(kinds.roles, 'system-wicd-nodes', inNamespace()),
  ];
  return roles
    .flatMap(({ rules }) => rules ?? [])
    .map(({ verbs, resources = [], resourceNames = [] }) =>
      `${verbs.join()} ${resources.join()} ${resourceNames.join()}`.trim(),
    );
}

test('an agent has exactly these permissions', async () => {
  expect(await rightsOf('win-1')).toEqual([
    'get,list,watch nodes win-1',
    'create,get,list,watch certificatesigningrequests',
    'get,update,patch configmaps wicd-report-win-1',
    `get,list,watch configmaps ${services}`,
  ]);
});

test('metadata that an agent adds to its report is removed at once', async () => {
  const node = await admin.get(kinds.nodes, 'win-1');
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'win-1', uid: node.metadata.uid ?? '' }];
  const metadata = { finalizers: ['evil.example/keep'], ownerReferences, labels: { x: '1' }, annotations: { x: '1' } };
  await agent.patch(kinds.configMaps, report, { type: 'merge', body: { metadata } }, inNamespace());
  await eventually(async () => {
    const { metadata: now } = await admin.get(kinds.configMaps, report, inNamespace());
    return [now.finalizers, now.ownerReferences, now.labels, now.annotations];
  }).toEqual([undefined, undefined, { 'app.kubernetes.io/managed-by': 'windows-machine-config-operator' }, undefined]);
});

test('the operator mirrors a report only to the Node of its agent', async () => {
  const events = [{ type: 'Warning', reason: 'ServiceFailure', message: 'kubelet', time: '2026-01-01T00:00:00.000Z' }];
  const data = { version: operatorVersion, bootID: '1', rebootRequired: 'true', events: JSON.stringify(events) };
  await agent.patch(kinds.configMaps, report, { type: 'merge', body: { data } }, inNamespace());
  const marksOf = async (name: string) => {
    const { annotations = {} } = (await admin.get(kinds.nodes, name)).metadata;
    return [annotations[nodeAnnotation.version], annotations[nodeAnnotation.rebootRequired]];
  };
  await eventually(() => marksOf('win-1')).toEqual([operatorVersion, '']);
  expect(await marksOf('win-2')).toEqual([undefined, undefined]);
  await eventually(() => remarksOn('win-1')).toContain('ServiceFailure');
});

/** A certificate request of the agent of a Node. */
async function request(
  by: Client,
  node: string,
  edit: (spec: kinds.CertificateSigningRequest['spec']) => object = () => ({}),
  withKey: KeyObject = key,
) {
  const subject = { user: `system:wicd-node:${node}`, group: 'system:wicd-nodes' };
  const object = prepareRequest(subject, withKey, 3_600_000);
  const { metadata } = await by.create(requests, { ...object, spec: { ...object.spec, ...edit(object.spec) } });
  return metadata.name ?? '';
}

const remarksOn = async (name: string) =>
  (await admin.list(kinds.events, { namespace: 'default' })).items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason }) => reason);

test('an agent gets the next certificate for its own Node', async () => {
  const name = await request(agent, 'win-1');
  await eventually(async () => (await admin.get(requests, name)).status?.certificate).toBeDefined();
  const { status } = await admin.get(requests, name);
  expect(findCondition(status?.conditions, 'Approved')).toMatchObject({ reason: 'WICDAutoApproved' });
});

test('the operator records the expiry of the certificate', async () => {
  await eventually(async () => {
    const { status } = await admin.get(windowsInstances, 'win-1', inNamespace());
    return Date.parse(status?.agent?.certificateEnds ?? '') > Date.now();
  }).toBe(true);
});

const greedy: [what: string, ask: () => Promise<string>][] = [
  ['a certificate for another Node', () => request(agent, 'win-2')],
  [
    'a certificate for a name that only begins like its own',
    () => request(agent, 'win-1', spec => ({ ...spec, usages: ['digital signature', 'client auth', 'server auth'] })),
  ],
  ['a certificate for a Linux node', () => request(agent, 'linux-1')],
  ['a certificate for a Node that is not there', () => request(agent, 'win-9')],
  [
    'a certificate of a kubelet',
    () => request(agent, 'win-1', () => ({ signerName: 'kubernetes.io/kube-apiserver-client-kubelet' })),
  ],
  [
    'a certificate for servers',
    () => request(agent, 'win-1', () => ({ usages: ['digital signature', 'server auth'] })),
  ],
];
for (const [what, ask] of greedy) {
  test(`an agent does not get ${what}, and an event gives the reason`, async () => {
    const name = await ask();
    await eventually(() => remarksOn(name)).toContain('CSRRefused');
    const { status } = await admin.get(requests, name);
    expect(status?.certificate).toBeUndefined();
    expect(findCondition(status?.conditions, 'Approved')).toBeUndefined();
  });
}

test('an agent cannot approve its own request', async () => {
  const name = await request(agent, 'win-2');
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Me', message: 'me' }];
  const object = await admin.get(requests, name);
  const approve = agent.replace(requests, { ...object, status: { conditions } }, { subresource: 'approval' });
  expect(await codeOf(approve)).toBe(403);
});

test('a request with another key than the recorded one is refused', async () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const name = await request(agent, 'win-1', undefined, other);
  await expect.poll(() => remarksOn(name), { timeout: 90_000, interval: 500 }).toContain('CSRRefused');
  expect((await admin.get(requests, name)).status?.certificate).toBeUndefined();
});

test('the bootstrap account can only read its ConfigMap and request a certificate', async () => {
  const token = await accountToken(admin, scene.namespace, agentName);
  const host = createClient(loadKubeconfig(tokenKubeconfig(scene, token)));
  onTestFinished(() => host.close());
  expect(await codeOf(host.get(kinds.configMaps, services, inNamespace()))).toBe(200);
  const forbidden = [
    host.list(kinds.nodes, { labelSelector: 'kubernetes.io/os=windows' }),
    host.get(kinds.nodes, 'win-1'),
    host.list(kinds.configMaps, inNamespace()),
    host.get(kinds.configMaps, report, inNamespace()),
    host.patch(kinds.nodes, 'win-1', annotate),
    host.delete(kinds.nodes, 'win-1'),
    host.list(kinds.secrets, inNamespace()),
    host.create(kinds.events, remarkOn('win-1'), { namespace: 'default' }),
  ].map(codeOf);
  expect(await Promise.all(forbidden)).toEqual(forbidden.map(() => 403));
});

test('the operator reverts manually added permissions', async () => {
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  for (const name of [`${agentName}:win-1`, 'system-wicd-nodes'])
    await admin.patch(kinds.clusterRoles, name, { type: 'merge', body: { rules } });
  await eventually(() => codeOf(agent.list(kinds.secrets))).toBe(403);
  await eventually(() => codeOf(agent.get(kinds.nodes, 'win-1'))).toBe(200);
});

test('the operator recreates a binding to another role', async () => {
  const name = `${agentName}:win-2`;
  await eventually(() => codeOf(admin.get(kinds.clusterRoleBindings, name))).toBe(200);
  await admin.delete(kinds.clusterRoleBindings, name);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ kind: 'User', name: 'system:wicd-node:win-2', apiGroup: 'rbac.authorization.k8s.io' }];
  await admin.create(kinds.clusterRoleBindings, { metadata: { name }, roleRef, subjects }).catch(() => undefined);
  await eventually(async () => (await admin.get(kinds.clusterRoleBindings, name)).roleRef.name).toBe(name);
});

test('the permissions of an agent are deleted with its Node', async () => {
  await addHost('win-3');
  const third = asAgent('win-3');
  onTestFinished(() => third.close());
  await eventually(() => codeOf(third.get(kinds.nodes, 'win-3'))).toBe(200);
  await admin.delete(kinds.nodes, 'win-3');
  await eventually(() => codeOf(third.get(kinds.nodes, 'win-3'))).toBe(403);
  const gone = await admin.get(kinds.clusterRoles, `${agentName}:win-3`).catch((error: unknown) => error);
  expect(isNotFound(gone)).toBe(true);
});

test('the agent of a Node without an instance gets no permissions', async () => {
  const annotations = { [nodeAnnotation.version]: operatorVersion, [nodeAnnotation.pubKeyHash]: 'x' };
  await admin.create(kinds.nodes, {
    metadata: { name: 'stranger', labels: { 'kubernetes.io/os': 'windows' }, annotations },
  });
  const stranger = asAgent('stranger');
  onTestFinished(() => stranger.close());
  await new Promise(resolve => setTimeout(resolve, 1000));
  expect(await codeOf(stranger.get(kinds.nodes, 'stranger'))).toBe(403);
});

test('the operator needs only the permissions of its manifests', () => {
  const refusals = operator.log.lines.filter(
    ({ fields }) => (fields['error'] as { code?: unknown } | undefined)?.code === 403,
  );
  expect(refusals.map(({ message }) => message)).toEqual([]);
  const errors = operator.log.lines.filter(({ level }) => level === 'error');
  expect(errors.map(({ message, fields }) => `${message}: ${String(fields['error'])}`)).toEqual([]);
});
