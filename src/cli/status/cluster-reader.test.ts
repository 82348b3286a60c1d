import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { isAppError } from '#base/errors.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName } from '#contract/names.ts';
import { hostCondition, printConditions, rolloutCondition, suitabilityCondition } from '#contract/operator-status.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { startEmbeddedCluster } from '#sandbox/embedded-cluster.ts';
import { startSandbox } from '#sandbox/sandbox.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { type StatusCluster, statusCluster } from '../../../test/kit/status-cluster.ts';
import { instanceOf, nodeOf } from '../../../test/kit/status-views.ts';
import { readCluster, watchCluster } from './cluster-reader.ts';
import { hostOfInstance } from './view/instance-host.ts';

let cluster: StatusCluster;
const never = new AbortController().signal;
const parts = () => ({ client: cluster.client, namespace: cluster.namespace, clock: systemClock });
const namesOf = (objects: readonly { metadata: { name?: string } }[]) => objects.map(({ metadata }) => metadata.name);

beforeEach(async () => {
  cluster = await statusCluster();
});
afterEach(() => cluster[Symbol.asyncDispose]());

test('reads only objects about Windows hosts', async () => {
  await cluster.putInstance(instanceOf('10.0.0.1', { phase: 'Ready', node: 'win-1' }));
  await cluster.putNode('win-1');
  await cluster.putMachine('m1', 'Provisioning');
  await cluster.list({ '10.0.0.1': 'username=x' });
  await cluster.lead(systemClock.now());
  const hostKeys = { '10.0.0.1': 'AAAA' };
  await cluster.put(configMaps, {
    metadata: { name: configMapName.hostKeys, namespace: cluster.namespace },
    data: hostKeys,
  });
  const view = await readCluster(parts(), never);
  expect(namesOf(view.instances)).toEqual(['10.0.0.1']);
  expect(view.instances[0]?.status?.phase).toBe('Ready');
  // The sandbox has Linux nodes, too.
  expect(view.nodes.map(({ name, ready }) => [name, ready])).toEqual([['win-1', true]]);
  expect(namesOf(view.machines)).toEqual(['m1']);
  expect([view.entries, view.hostKeys, view.notes]).toEqual([{ '10.0.0.1': 'username=x' }, hostKeys, []]);
});

test('a cluster without Machines is watched all the same', async () => {
  await using sandbox = await startSandbox({ kind: 'kubernetes', hosts: 0 });
  const client = createClient(loadKubeconfig(sandbox.kubeconfig));
  try {
    await using watched = await watchCluster({ client, namespace: sandbox.namespace, clock: systemClock }, never);
    expect(watched.view()).toMatchObject({ machines: [], machineSets: [], unread: [], notes: [expect.any(String)] });
  } finally {
    await client.close();
  }
});

test('a namespace with the Lease of an operator has one, also without hosts', async () => {
  await cluster.lead(systemClock.now());
  const view = await readCluster(parts(), never);
  expect(view).toMatchObject({ instances: [], notes: [], hasOperator: 'yes', isOperatorRunning: true, unread: [] });
});

test('a namespace without any object of an operator has none', async () => {
  expect(await readCluster({ ...parts(), namespace: 'default' }, never)).toMatchObject({
    hasOperator: 'no',
    isOperatorRunning: false,
  });
});

test('notes that no operator is running', async () => {
  await cluster.list({ '10.0.0.1': 'username=x' });
  expect((await readCluster(parts(), never)).notes).toEqual([
    `No operator is running in namespace ${cluster.namespace}; run \`kubectl get pods -n ${cluster.namespace}\`.`,
  ]);
});

test('notes that the operator has not renewed its lease', async () => {
  await cluster.list({ '10.0.0.1': 'username=x' });
  await cluster.lead(systemClock.now() - 600_000);
  expect((await readCluster(parts(), never)).notes).toEqual([
    `Operator operator-1 does not run: it has not renewed its lease for 10 min; run \`kubectl get pods -n ${cluster.namespace}\`.`,
  ]);
});

test('reads why the cluster does not support Windows nodes', async () => {
  const problem = { code: 'NETWORK_CLASS_E', message: 'class E', remedy: 'Choose another.' };
  const metadata = { name: configMapName.operatorStatus, namespace: cluster.namespace };
  const conditions = [suitabilityCondition([problem]), { type: 'Other', status: 'False', message: 'not shown' }];
  await cluster.put(configMaps, { metadata, data: printConditions(conditions) });
  expect((await readCluster(parts(), never)).clusterProblems).toEqual([problem]);
});

test('reads which settings of the disruption budget are invalid', async () => {
  const problem = { code: 'ROLLOUT_SETTING_INVALID', message: 'soak is "x"', remedy: 'Set soak.' };
  const metadata = { name: configMapName.operatorStatus, namespace: cluster.namespace };
  const conditions = [suitabilityCondition([]), rolloutCondition([problem])];
  await cluster.put(configMaps, { metadata, data: printConditions(conditions) });
  expect((await readCluster(parts(), never)).clusterProblems).toEqual([problem]);
});

test('reads why it is not known which settings hosts should have', async () => {
  const problem = { code: 'OBJECT_MISSING', message: 'ConfigMap x is missing', remedy: 'Create it.' };
  const metadata = { name: configMapName.operatorStatus, namespace: cluster.namespace };
  const conditions = [suitabilityCondition([]), hostCondition([problem])];
  expect((await readCluster(parts(), never)).settingsProblem).toBeUndefined();
  await cluster.put(configMaps, { metadata, data: printConditions(conditions) });
  const view = await readCluster(parts(), never);
  expect([view.clusterProblems, view.settingsProblem]).toEqual([[problem], 'OBJECT_MISSING']);
  expect(hostOfInstance(instanceOf('win-1'), view).settingsProblem).toBe('OBJECT_MISSING');
});

test('reads the budget and the hosts that were removed by force', async () => {
  const grant = { node: 'win-1', journey: 'remove', since: '2026-07-01T12:00:00Z', uid: 'u1' };
  const note = { removed: '2026-07-01T12:00:00Z', address: '10.0.0.5', instance: 'win-5' };
  const data: [name: string, data: Record<string, string>][] = [
    [configMapName.rollout, { maxUnavailable: '2' }],
    [configMapName.rolloutGrants, { 'win-1': JSON.stringify(grant), bad: '{' }],
    [configMapName.removedHosts, { 'win-5': JSON.stringify(note), bad: '{' }],
  ];
  for (const [name, content] of data)
    await cluster.put(configMaps, { metadata: { name, namespace: cluster.namespace }, data: content });
  // Neither its instance nor its Node exists.
  expect((await readCluster(parts(), never)).grants).toEqual([]);
  await cluster.putNode('win-1', { spec: { unschedulable: true } });
  expect(await readCluster(parts(), never)).toMatchObject({
    rollout: { maxUnavailable: '2' },
    grants: [{ instance: 'win-1', node: 'win-1', journey: 'remove', sinceMs: Date.parse(grant.since) }],
    removedHosts: [{ node: 'win-5', ...note }],
  });
});

test('follows changes', async () => {
  await using followed = await watchCluster(parts(), never);
  let changes = 0;
  const end = followed.onChange(() => (changes += 1));
  expect(followed.view().instances).toEqual([]);
  await cluster.putInstance(instanceOf('10.0.0.1', { phase: 'Configuring' }));
  await cluster.putNode('win-1');
  await cluster.list({ '10.0.0.2': 'username=x' });
  await expect.poll(() => followed.view().instances[0]?.status?.phase).toBe('Configuring');
  await expect.poll(() => followed.view().nodes.length).toBe(1);
  await expect.poll(() => followed.view().entries).toEqual({ '10.0.0.2': 'username=x' });
  expect(changes).toBeGreaterThanOrEqual(3);
  await cluster.client.delete(windowsInstances, '10.0.0.1', { namespace: cluster.namespace });
  await expect.poll(() => followed.view().instances).toEqual([]);
  end();
  const before = changes;
  await cluster.client.delete(nodes, 'win-1');
  await expect.poll(() => followed.view().nodes).toEqual([]);
  expect(changes).toBe(before);
});

test('notes a lost connection while it follows', async () => {
  await using followed = await watchCluster(parts(), never);
  await cluster.sandbox.stop();
  await expect.poll(() => followed.view().notes.join()).toContain('Lost connection to the cluster; retrying: ');
});

test('stops following at once when aborted', async () => {
  await expect(watchCluster(parts(), AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
});

/** A client with almost no permissions. */
async function withoutPermissions<T>(act: (client: Client) => Promise<T>): Promise<T> {
  const client = createClient(loadKubeconfig(cluster.sandbox.kubeconfigFor({ commonName: 'nobody' })));
  try {
    return await act(client);
  } finally {
    await client.close();
  }
}

test('names the permission that a user lacks', async () => {
  const error = await withoutPermissions(client => rejectionOf(readCluster({ ...parts(), client }, never)));
  expect(error).toMatchObject({ code: 'API_REFUSED', message: expect.stringContaining('nobody') as string });
  expect(error?.remedy).toContain(
    `list windowsinstances.windowsmachineconfig.openshift.io in namespace ${cluster.namespace}`,
  );
});

test('reports a cluster without the WindowsInstance resource', async () => {
  await using bare = await startEmbeddedCluster();
  const client = createClient(loadKubeconfig(bare.kubeconfigFor()));
  const error = await rejectionOf(readCluster({ client, namespace: 'ns', clock: systemClock }, never));
  await client.close();
  expect(error).toMatchObject({ code: 'CLUSTER_UNSUITABLE' });
  expect(error?.remedy).toContain('wmco render crd');
});

test('reports a server that does not answer', async () => {
  const text = cluster.sandbox.kubeconfig.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1');
  const client = createClient(loadKubeconfig(text));
  const error = await rejectionOf(readCluster({ ...parts(), client }, never));
  await client.close();
  expect(error).toMatchObject({ code: 'API_UNREACHABLE', message: expect.stringContaining('127.0.0.1:1') as string });
});

/** A server in memory that rejects the configured requests. */
function refusing(code: number, ...plurals: string[]) {
  const api = new MemoryApi();
  api.put(windowsInstances, { ...instanceOf('10.0.0.1'), metadata: { name: '10.0.0.1', namespace: 'ns' } });
  api.put(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'win-1', labels: nodeOf('x').labels } });
  api.before = ({ resource }) => {
    if (plurals.includes(resource)) throw refused(code, 'Refused');
  };
  return readCluster({ client: api as unknown as Client, namespace: 'ns', clock: systemClock }, never);
}

const refusals: [number, string][] = [
  [401, 'Log in to the cluster again, or use another kubeconfig with --kubeconfig.'],
  [500, 'Retry; if the error persists, check the API server.'],
];
for (const [code, remedy] of refusals) {
  test(`a response with ${code} becomes an error with a remedy`, async () => {
    expect(await rejectionOf(refusing(code, 'windowsinstances'))).toMatchObject({ code: 'API_REFUSED', remedy });
  });
}

test('notes objects that cannot be read and returns the others', async () => {
  const view = await refusing(403, 'nodes', 'configmaps', 'machines', 'leases');
  expect(namesOf(view.instances)).toEqual(['10.0.0.1']);
  expect(view.notes).toEqual([
    'ConfigMap windows-instances cannot be read: permission denied',
    'ConfigMap windows-machine-config-operator-status cannot be read: permission denied',
    'ConfigMap windows-removed-hosts cannot be read: permission denied',
    'ConfigMap windows-rollout cannot be read: permission denied',
    'ConfigMap windows-rollout-grants cannot be read: permission denied',
    'ConfigMap windows-ssh-host-keys cannot be read: permission denied',
    'Lease windows-machine-config-operator cannot be read: permission denied',
    'Machines cannot be read: permission denied',
    'Nodes cannot be read: permission denied',
  ]);
});

test('a cluster without the Machine API has no Machines and no note', async () => {
  const view = await refusing(404, 'machines');
  expect(view.machines).toEqual([]);
  expect(view.notes).toEqual(['No operator is running in namespace ns; run `kubectl get pods -n ns`.']);
});

test('passes on errors that are not from the API server', async () => {
  const client = { listAll: () => Promise.reject(new Error('a bug')) } as unknown as Client;
  const failing = readCluster({ client, namespace: 'ns', clock: systemClock }, never);
  await expect(failing).rejects.toSatisfy(error => !isAppError(error));
});
