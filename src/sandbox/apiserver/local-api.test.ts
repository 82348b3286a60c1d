import { afterAll, beforeAll, expect, test } from 'vitest';
import { refusal, type Sandbox, startSandbox } from '../../../test/kit/sandbox.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import type { Change, LocalApi } from './ports.ts';

const configMaps = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const pods = { ...configMaps, plural: 'pods', kind: 'Pod' };
const nodes = { ...configMaps, plural: 'nodes', kind: 'Node', namespaced: false };

let sandbox: Sandbox;
let api: LocalApi;
beforeAll(async () => {
  sandbox = await startSandbox();
  ({ api } = sandbox.server);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const key = (name: string) => ({ namespace: 'default', name });
const configMap = (name: string, data: Record<string, string> = {}) => ({
  metadata: { name, namespace: 'default' },
  data,
});

test('creates, reads, updates and deletes', () => {
  const created = api.create(configMaps, configMap('a', { k: 'v' }));
  expect(created).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { uid: expect.any(String) } });
  expect(api.get(configMaps, key('a'))).toEqual(created);
  const changed = api.replace(configMaps, { ...created, data: { k: 'w' } } as typeof created);
  expect(changed['data']).toEqual({ k: 'w' });
  expect(refusal(() => api.replace(configMaps, created))?.[0]).toBe(409);
  api.delete(configMaps, key('a'));
  expect(api.get(configMaps, key('a'))).toBeUndefined();
});

test('rejects what the server refuses', () => {
  expect(refusal(() => api.create(configMaps, configMap('A')))?.[0]).toBe(422);
  expect(refusal(() => api.create(configMaps, { metadata: { name: 'a', namespace: 'none' } }))?.[0]).toBe(404);
  expect(refusal(() => api.delete(configMaps, key('none')))?.[0]).toBe(404);
  expect(refusal(() => api.list({ ...configMaps, plural: 'nothings' }))?.[0]).toBe(404);
  expect(refusal(() => api.delete(configMaps, key('none'), { preconditions: { uid: 'x' } }))?.[0]).toBe(404);
});

test('lists one namespace or all', () => {
  api.create(
    { ...configMaps, plural: 'namespaces', kind: 'Namespace', namespaced: false },
    { metadata: { name: 'm' } },
  );
  api.create(configMaps, configMap('l1'));
  api.create(configMaps, { metadata: { name: 'l2', namespace: 'm' } });
  expect(api.list(configMaps, 'm').map(({ metadata }) => metadata.name)).toEqual(['l2']);
  expect(api.list(configMaps).map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['l1', 'l2']));
});

test('writes subresources', () => {
  const node = api.create(nodes, { metadata: { name: 'n1' } });
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  api.replace(nodes, { ...node, status } as typeof node, { subresource: 'status' });
  expect(api.get(nodes, { namespace: '', name: 'n1' })).toMatchObject({ status });
});

test('evicts', () => {
  api.create(pods, {
    metadata: { name: 'p', namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  } as never);
  api.create(pods, { metadata: { name: 'p', namespace: 'default' } }, { subresource: 'eviction' });
  expect(api.get(pods, key('p'))).toBeUndefined();
});

test('lists each stored resource once', () => {
  const names = api.resources().map(({ group, plural }) => `${plural}.${group}`);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(['pods.', 'poddisruptionbudgets.policy', 'events.']));
});

test('reports changes after the write, in order, in the storage version', async () => {
  const changes: Change[] = [];
  const stop = api.onChange(change => changes.push(change));
  const created = api.create(configMaps, configMap('c', { k: '1' }));
  api.replace(configMaps, { ...created, data: { k: '2' } } as typeof created);
  api.delete(configMaps, key('c'));
  expect(changes).toEqual([]);
  await settle();
  expect(changes.map(({ type, resource }) => [type, resource.plural])).toEqual([
    ['ADDED', 'configmaps'],
    ['MODIFIED', 'configmaps'],
    ['DELETED', 'configmaps'],
  ]);
  expect(changes[1]).toMatchObject({ object: { data: { k: '2' } }, old: { data: { k: '1' } } });
  stop();
});

test('lets a listener write', async () => {
  const stop = api.onChange(({ type, object }) => {
    if (type === 'ADDED' && object.metadata.name === 'first') api.create(configMaps, configMap('second'));
    if (type === 'ADDED' && object.metadata.name === 'second') api.create(configMaps, configMap('third'));
  });
  api.create(configMaps, configMap('first'));
  await settle();
  stop();
  expect(api.get(configMaps, key('third'))).toBeDefined();
});

test('reports nothing once it is stopped, not even queued changes', async () => {
  const changes: Change[] = [];
  const stop = api.onChange(change => changes.push(change));
  api.create(configMaps, configMap('unseen'));
  stop();
  api.create(configMaps, configMap('unseen2'));
  await settle();
  expect(changes).toEqual([]);
});

test('returns frozen objects', () => {
  const stored = api.create(configMaps, configMap('frozen', { k: 'v' }));
  expect(Object.isFrozen(stored['data'])).toBe(true);
});
