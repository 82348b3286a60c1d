import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { isAppError } from '#base/errors.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { type StatusCluster, statusCluster } from '../../../test/kit/status-cluster.ts';
import { instanceOf, nodeOf } from '../../../test/kit/status-views.ts';
import { startEmbeddedCluster } from '../../sandbox/embedded-cluster.ts';
import { followCluster, readCluster } from './cluster-source.ts';

let cluster: StatusCluster;
const never = new AbortController().signal;
const parts = () => ({ client: cluster.client, namespace: cluster.namespace, clock: systemClock });
const namesOf = (objects: readonly { metadata: { name?: string } }[]) => objects.map(({ metadata }) => metadata.name);

beforeEach(async () => {
  cluster = await statusCluster();
});
afterEach(() => cluster[Symbol.asyncDispose]());

test('reads everything about Windows hosts, and nothing else', async () => {
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

test('an empty cluster is no error, but is worth a note', async () => {
  await cluster.lead(systemClock.now());
  const view = await readCluster(parts(), never);
  expect(view.instances).toEqual([]);
  expect(view.notes).toEqual([expect.stringMatching(/^Nothing lists Windows hosts in namespace .* give --namespace/)]);
});

test('notes that no operator is at work', async () => {
  await cluster.list({ '10.0.0.1': 'username=x' });
  expect((await readCluster(parts(), never)).notes).toEqual([
    `No operator is at work in namespace ${cluster.namespace}.`,
  ]);
});

test('notes that nothing was heard of the operator for long', async () => {
  await cluster.list({ '10.0.0.1': 'username=x' });
  await cluster.lead(systemClock.now() - 600_000);
  expect((await readCluster(parts(), never)).notes).toEqual([
    'Nothing was heard of the operator operator-1 for 10 min.',
  ]);
});

test('follows what changes', async () => {
  await using followed = await followCluster(parts(), never);
  let changes = 0;
  const end = followed.onChange(() => (changes += 1));
  expect(followed.view().instances).toEqual([]);
  await cluster.putInstance(instanceOf('10.0.0.1', { phase: 'Configuring' }));
  await cluster.putNode('win-1');
  await cluster.list({ '10.0.0.2': 'username=x' });
  await expect.poll(() => followed.view().instances[0]?.status?.phase, { timeout: 20_000 }).toBe('Configuring');
  await expect.poll(() => followed.view().nodes.length, { timeout: 20_000 }).toBe(1);
  await expect.poll(() => followed.view().entries, { timeout: 20_000 }).toEqual({ '10.0.0.2': 'username=x' });
  expect(changes).toBeGreaterThanOrEqual(3);
  await cluster.client.delete(windowsInstances, '10.0.0.1', { namespace: cluster.namespace });
  await expect.poll(() => followed.view().instances, { timeout: 20_000 }).toEqual([]);
  end();
  const before = changes;
  await cluster.client.delete(nodes, 'win-1');
  await expect.poll(() => followed.view().nodes, { timeout: 20_000 }).toEqual([]);
  expect(changes).toBe(before);
});

test('tells while it follows that the server has gone', async () => {
  await using followed = await followCluster(parts(), never);
  await cluster.sandbox.stop();
  await expect
    .poll(() => followed.view().notes.join(), { timeout: 30_000 })
    .toContain('The cluster cannot be followed: ');
}, 60_000);

test('gives up following at once when it is told to', async () => {
  await expect(followCluster(parts(), AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
});

/** A client of somebody who may do next to nothing. */
async function asNobody<T>(act: (client: Client) => Promise<T>): Promise<T> {
  const client = createClient(loadKubeconfig(cluster.sandbox.kubeconfigFor({ commonName: 'nobody' })));
  try {
    return await act(client);
  } finally {
    await client.close();
  }
}

test('somebody without the right to see instances is told which right he needs', async () => {
  const error = await asNobody(client => rejectionOf(readCluster({ ...parts(), client }, never)));
  expect(error).toMatchObject({ code: 'API_REFUSED', message: expect.stringContaining('nobody') as string });
  expect(error?.remedy).toContain(
    `list windowsinstances.windowsmachineconfig.openshift.io in namespace ${cluster.namespace}`,
  );
});

test('a cluster without our resource is told as such', async () => {
  await using bare = await startEmbeddedCluster();
  const client = createClient(loadKubeconfig(bare.kubeconfigFor()));
  const error = await rejectionOf(readCluster({ client, namespace: 'ns', clock: systemClock }, never));
  await client.close();
  expect(error).toMatchObject({ code: 'CLUSTER_UNSUITABLE' });
  expect(error?.remedy).toContain('wmco render crd');
});

test('a server that does not answer is told as such', async () => {
  const text = cluster.sandbox.kubeconfig.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1');
  const client = createClient(loadKubeconfig(text));
  const error = await rejectionOf(readCluster({ ...parts(), client }, never));
  await client.close();
  expect(error).toMatchObject({ code: 'API_UNREACHABLE', message: expect.stringContaining('127.0.0.1:1') as string });
});

/** A server in memory that refuses what it is told to. */
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
  [401, 'Log in to the cluster again, or give another kubeconfig.'],
  [500, 'Try again; when it stays so, look at the API server.'],
];
for (const [code, remedy] of refusals) {
  test(`a refusal with ${code} says what to do`, async () => {
    expect(await rejectionOf(refusing(code, 'windowsinstances'))).toMatchObject({ code: 'API_REFUSED', remedy });
  });
}

test('what may not be read is noted, and everything else shown', async () => {
  const view = await refusing(403, 'nodes', 'configmaps', 'machines', 'leases');
  expect(namesOf(view.instances)).toEqual(['10.0.0.1']);
  expect(view.notes).toEqual([
    'ConfigMap windows-instances cannot be read: you may not',
    'ConfigMap windows-ssh-host-keys cannot be read: you may not',
    'Lease windows-machine-config-operator cannot be read: you may not',
    'Machines cannot be read: you may not',
    'Nodes cannot be read: you may not',
  ]);
});

test('a cluster without Machines has none, and nothing is noted', async () => {
  const view = await refusing(404, 'machines');
  expect(view.machines).toEqual([]);
  expect(view.notes).toEqual(['No operator is at work in namespace ns.']);
});

test('an error that is none of the server goes on as it is', async () => {
  const client = { listAll: () => Promise.reject(new Error('a bug')) } as unknown as Client;
  const failing = readCluster({ client, namespace: 'ns', clock: systemClock }, never);
  await expect(failing).rejects.toSatisfy(error => !isAppError(error));
});
