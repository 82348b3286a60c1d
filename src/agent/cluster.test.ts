import { expect, onTestFinished, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { configMaps, namespaces, nodes } from '#kube/resources.ts';
import { startApiServer } from '../sandbox/apiserver/server.ts';
import { annotateNode, annotationPatch, type ClusterClient, createCluster } from './cluster.ts';

const { version, rebootRequired } = nodeAnnotation;
const path = (key: string) => `/metadata/annotations/windowsmachineconfig.openshift.io~1${key}`;
const { signal } = new AbortController();

/** An API server with a Node, and a cluster made of a client that can be disturbed. */
async function clusterWith(
  annotations: Record<string, string> | undefined,
  before: (client: Client) => Promise<unknown> = () => Promise.resolve(),
) {
  const server = await startApiServer();
  const client = createClient(loadKubeconfig(server.kubeconfig()));
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  await client.create(namespaces, { metadata: { name: 'ns' } });
  await client.create(nodes, { metadata: { name: 'win-1', ...(annotations && { annotations }) } });
  const patches: unknown[] = [];
  const disturbed: ClusterClient = {
    get: (...args) => client.get(...args),
    listAll: (...args) => client.listAll(...args),
    patch: async (resource, name, patch, options) => {
      patches.push(patch);
      if (patches.length === 1) await before(client);
      return client.patch(resource, name, patch, options);
    },
  };
  const cluster = createCluster({ client: disturbed, nodeName: 'win-1', namespace: 'ns', signal });
  const found = async () => (await client.get(nodes, 'win-1')).metadata.annotations;
  return { client, cluster, disturbed, patches, found };
}

const patchCases: [
  name: string,
  present: Record<string, string> | undefined,
  wanted: Record<string, string | null>,
  operations: unknown[],
][] = [
  ['adds a mark', {}, { [version]: 'v1' }, [{ op: 'add', path: path('version'), value: 'v1' }]],
  [
    'adds a mark without a value',
    { a: 'b' },
    { [rebootRequired]: '' },
    [{ op: 'add', path: path('reboot-required'), value: '' }],
  ],
  ['changes a mark', { [version]: 'v0' }, { [version]: 'v1' }, [{ op: 'add', path: path('version'), value: 'v1' }]],
  ['leaves a mark that is there', { [version]: 'v1' }, { [version]: 'v1' }, []],
  ['leaves a mark without a value that is there', { [rebootRequired]: '' }, { [rebootRequired]: '' }, []],
  ['removes a mark', { [version]: 'v1' }, { [version]: null }, [{ op: 'remove', path: path('version') }]],
  [
    'removes a mark without a value',
    { [rebootRequired]: '' },
    { [rebootRequired]: null },
    [{ op: 'remove', path: path('reboot-required') }],
  ],
  ['does not remove what is not there', {}, { [version]: null }, []],
  ['does not remove what only every object has', {}, { constructor: null }, []],
  ['does not touch a Node without annotations for nothing', undefined, { [version]: null }, []],
  [
    'escapes tildes before slashes',
    {},
    { 'a~/b': 'c' },
    [{ op: 'add', path: '/metadata/annotations/a~0~1b', value: 'c' }],
  ],
  [
    'makes the map where there is none, unless somebody else does meanwhile',
    undefined,
    { [version]: 'v1' },
    [
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'add', path: path('version'), value: 'v1' },
    ],
  ],
  [
    'does several things at once',
    { [version]: 'v0' },
    { [version]: null, [rebootRequired]: '' },
    [
      { op: 'remove', path: path('version') },
      { op: 'add', path: path('reboot-required'), value: '' },
    ],
  ],
];
for (const [name, annotations, wanted, operations] of patchCases) {
  test(`${name}, as an operation`, () => {
    const node = { metadata: { resourceVersion: '7', ...(annotations && { annotations }) } };
    expect(annotationPatch(node, wanted)).toEqual(operations);
  });
}

test('sets and removes marks on a real Node and leaves all others', async () => {
  const { cluster, found } = await clusterWith({ other: 'stays', [version]: 'v0' });
  await cluster.annotateNode({ [version]: 'v1', [rebootRequired]: '' });
  expect(await found()).toEqual({ other: 'stays', [version]: 'v1', [rebootRequired]: '' });
  await cluster.annotateNode({ [version]: null });
  expect(await found()).toEqual({ other: 'stays', [rebootRequired]: '' });
});

test('sends a JSON patch, and none where nothing changes', async () => {
  const { cluster, patches } = await clusterWith({ [version]: 'v1' });
  await cluster.annotateNode({ [version]: 'v1' });
  expect(patches).toEqual([]);
  await cluster.annotateNode({ [version]: 'v2' });
  expect(patches).toEqual([{ type: 'json', body: [{ op: 'add', path: path('version'), value: 'v2' }] }]);
});

test('marks a Node that has no annotations at all', async () => {
  const { cluster, found } = await clusterWith(undefined);
  await cluster.annotateNode({ [version]: 'v1' });
  expect(await found()).toEqual({ [version]: 'v1' });
});

test('does not take away annotations that came between look and patch', async () => {
  const annotations = { other: 'came meanwhile' };
  const { cluster, found, patches } = await clusterWith(undefined, async client => {
    await client.patch(nodes, 'win-1', { type: 'merge', body: { metadata: { annotations } } });
  });
  await cluster.annotateNode({ [version]: 'v1' });
  expect(await found()).toEqual({ ...annotations, [version]: 'v1' });
  expect(patches.length).toBe(2);
});

test('does not mind that somebody else was quicker to remove a mark', async () => {
  const { cluster, found, patches } = await clusterWith({ [version]: 'v1', other: 'stays' }, async client => {
    const body = { metadata: { annotations: { [version]: null } } };
    await client.patch(nodes, 'win-1', { type: 'merge', body });
  });
  await cluster.annotateNode({ [version]: null });
  expect(await found()).toEqual({ other: 'stays' });
  expect(patches.length).toBe(1);
});

test('gives up when the Node never stands still', async () => {
  const { disturbed, client, patches } = await clusterWith({});
  const never: ClusterClient = {
    ...disturbed,
    patch: (resource, name) => {
      patches.push('refused');
      const body = [{ op: 'remove' as const, path: '/metadata/annotations/none' }];
      return client.patch(resource, name, { type: 'json', body });
    },
  };
  await expect(annotateNode(never, 'win-1', { [version]: 'v1' }, signal)).rejects.toMatchObject({ reason: 'Invalid' });
  expect(patches.length).toBe(4);
});

test('tells any other refusal at once', async () => {
  const { cluster, client } = await clusterWith({});
  await client.delete(nodes, 'win-1');
  await expect(cluster.annotateNode({ [version]: 'v1' })).rejects.toMatchObject({ code: 404 });
});

test('gives the Node, and undefined when it is gone', async () => {
  const { cluster, client } = await clusterWith({});
  expect(await cluster.node()).toMatchObject({ kind: 'Node', metadata: { name: 'win-1' } });
  await client.delete(nodes, 'win-1');
  expect(await cluster.node()).toBeUndefined();
});

test('asks nobody for a Node that there is none of', async () => {
  const fail = () => Promise.reject(new Error('nobody shall be asked'));
  const client: ClusterClient = { get: fail, listAll: fail, patch: fail };
  expect(await createCluster({ client, nodeName: undefined, namespace: 'ns', signal }).node()).toBeUndefined();
});

test('does not take trouble for a missing Node', async () => {
  const fail = () => Promise.reject(new Error('503'));
  const client: ClusterClient = { get: fail, listAll: fail, patch: fail };
  const cluster = createCluster({ client, nodeName: 'win-1', namespace: 'ns', signal });
  await expect(cluster.node()).rejects.toThrow('503');
  await expect(cluster.servicesConfigMap('v1')).rejects.toThrow('503');
  await expect(cluster.servicesConfigMaps()).rejects.toThrow('503');
});

test('gives services ConfigMaps and no others', async () => {
  const { cluster, client } = await clusterWith({});
  for (const name of ['windows-services-v1', 'windows-services-v2', 'windows-services-', 'trusted-ca']) {
    await client.create(configMaps, { metadata: { name, namespace: 'ns' } }).catch(() => undefined);
  }
  expect(await cluster.servicesConfigMap('v2')).toMatchObject({ metadata: { name: 'windows-services-v2' } });
  expect(await cluster.servicesConfigMap('v3')).toBeUndefined();
  const all = (await cluster.servicesConfigMaps()) as { kind: string; metadata: { name: string } }[];
  expect(all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'ConfigMap windows-services-v1',
    'ConfigMap windows-services-v2',
  ]);
});
