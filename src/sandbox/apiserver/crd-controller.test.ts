import { afterAll, beforeAll, expect, test } from 'vitest';
import { quiet } from '../../../test/kit/local-api.ts';
import { refusal, type Sandbox, startSandbox } from '../../../test/kit/sandbox.ts';
import type { LocalApi, StoredObject } from './ports.ts';

const crds = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

let sandbox: Sandbox;
let api: LocalApi;
beforeAll(async () => {
  sandbox = await startSandbox();
  ({ api } = sandbox.server);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const version = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  ...more,
});

function crd(plural: string, versions = [version('v1', { storage: true })], scope = 'Namespaced'): StoredObject {
  const kind = `${plural.slice(0, 1).toUpperCase()}${plural.slice(1, -1)}`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: { group: 'example.com', scope, names: { plural, kind }, versions },
  };
}

const resource = (plural: string, of = 'v1') => ({
  group: 'example.com',
  version: of,
  plural,
  kind: 'X',
  namespaced: true,
});
const key = (plural: string) => ({ namespace: '', name: `${plural}.example.com` });
const thing = (plural: string, name: string, more: object = {}, of = 'v1') => ({
  apiVersion: `example.com/${of}`,
  kind: `${plural.slice(0, 1).toUpperCase()}${plural.slice(1, -1)}`,
  metadata: { name, namespace: 'default', ...more },
});

async function define(definition: StoredObject): Promise<void> {
  api.create(crds, definition);
  await quiet(api);
}

test('serves a resource and sets its conditions', async () => {
  const created = api.create(crds, crd('apples'));
  expect(created).toMatchObject({
    metadata: { generation: 1 },
    spec: { names: { singular: 'apple', listKind: 'AppleList' }, conversion: { strategy: 'None' } },
    status: { acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  });
  await quiet(api);
  expect(api.get(crds, key('apples'))).toMatchObject({
    metadata: { generation: 1 },
    status: {
      acceptedNames: { plural: 'apples', singular: 'apple', kind: 'Apple', listKind: 'AppleList' },
      conditions: [
        { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', lastTransitionTime: expect.any(String) },
        { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
      ],
    },
  });
  expect(api.create(resource('apples'), thing('apples', 'a'))).toMatchObject({ kind: 'Apple' });
});

test('serves the versions that are served, and stores one', async () => {
  const versions = [version('v1alpha1', { served: false }), version('v1', { storage: true }), version('v1beta1')];
  await define(crd('berries', versions));
  api.create(resource('berries', 'v1beta1'), thing('berries', 'b', {}, 'v1beta1'));
  expect(api.get(resource('berries'), { namespace: 'default', name: 'b' })?.apiVersion).toBe('example.com/v1');
  expect(refusal(() => api.list(resource('berries', 'v1alpha1')))?.[0]).toBe(404);
  expect(api.resources().filter(({ plural }) => plural === 'berries')).toHaveLength(1);
});

test('follows changes of the definition', async () => {
  await define(crd('cherries'));
  const current = api.get(crds, key('cherries')) as StoredObject;
  const spec = current['spec'] as { names: object; versions: unknown[] };
  const next = {
    ...current,
    spec: {
      ...spec,
      names: { ...spec.names, shortNames: ['ch'] },
      versions: [version('v2', { storage: true }), version('v1')],
    },
  };
  api.replace(crds, next);
  await quiet(api);
  expect(api.get(crds, key('cherries'))).toMatchObject({
    metadata: { generation: 2 },
    status: { acceptedNames: { shortNames: ['ch'] }, storedVersions: ['v1', 'v2'] },
  });
  expect(api.list(resource('cherries', 'v2'))).toEqual([]);
});

test('a deleted CRD deletes its objects', async () => {
  await define(crd('dates'));
  for (const name of ['a', 'b']) api.create(resource('dates'), thing('dates', name));
  api.delete(crds, key('dates'));
  expect(api.get(crds, key('dates'))).toMatchObject({
    metadata: { deletionTimestamp: expect.any(String), finalizers: ['customresourcecleanup.apiextensions.k8s.io'] },
    status: { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Terminating', status: 'True' })]) },
  });
  await quiet(api);
  expect(api.get(crds, key('dates'))).toBeUndefined();
  expect(refusal(() => api.list(resource('dates')))?.[0]).toBe(404);
});

test('waits for an object that is held', async () => {
  await define(crd('elders'));
  api.create(resource('elders'), thing('elders', 'a', { finalizers: ['hold'] }));
  api.delete(crds, key('elders'));
  await quiet(api);
  const held = api.get(resource('elders'), { namespace: 'default', name: 'a' }) as StoredObject;
  expect(held.metadata.deletionTimestamp).toBeDefined();
  expect(api.get(crds, key('elders'))).toBeDefined();
  api.replace(resource('elders'), { ...held, metadata: { ...held.metadata, finalizers: [] } });
  await quiet(api);
  expect(api.get(crds, key('elders'))).toBeUndefined();
});

test('can be recreated after deletion without the old objects', async () => {
  await define(crd('figs'));
  api.create(resource('figs'), thing('figs', 'a'));
  api.delete(crds, key('figs'));
  await quiet(api);
  await define(crd('figs'));
  expect(api.list(resource('figs'))).toEqual([]);
});

test('keeps objects with finalizers', async () => {
  await define({ ...crd('grapes'), metadata: { name: 'grapes.example.com', finalizers: ['example.com/hold'] } });
  api.delete(crds, key('grapes'));
  await quiet(api);
  const left = api.get(crds, key('grapes')) as StoredObject;
  expect(left.metadata.finalizers).toEqual(['example.com/hold']);
  api.replace(crds, { ...left, metadata: { ...left.metadata, finalizers: [] } });
  expect(api.get(crds, key('grapes'))).toBeUndefined();
});

const wrong: [string, StoredObject, RegExp][] = [
  [
    'another name',
    { ...crd('hops'), metadata: { name: 'x.example.com' } },
    /metadata\.name: Invalid value: "x\.example\.com": must be spec\.names\.plural\+"\."\+spec\.group/,
  ],
  ['another scope', crd('hops', undefined, 'Global'), /spec\.scope: Unsupported value: "Global"/],
  ['no stored version', crd('hops', [version('v1')]), /must have exactly one version marked as storage version/],
  [
    'two stored versions',
    crd('hops', [version('v1', { storage: true }), version('v2', { storage: true })]),
    /must have exactly one version marked as storage version/,
  ],
  [
    'no schema',
    crd('hops', [version('v1', { storage: true, schema: {} })]),
    /schema\.openAPIV3Schema: Required value$/,
  ],
  [
    'no names',
    { ...crd('hops'), spec: { group: 'example.com', scope: 'Cluster', names: { plural: 'hops' }, versions: [] } },
    /spec\.names\.singular: Required value, spec\.names\.kind: Required value, spec\.names\.listKind: Required value/,
  ],
];
test.each(wrong)('rejects a definition with %s', (_, definition, message) => {
  expect(refusal(() => api.create(crds, definition))).toEqual([422, expect.stringMatching(message)]);
});

const fixed: [string, Record<string, unknown>][] = [
  ['spec.scope', { scope: 'Cluster' }],
  ['spec.names.kind', { names: { plural: 'kiwis', kind: 'Other', singular: 'kiwi', listKind: 'OtherList' } }],
];
test.each(fixed)('never changes %s', async (path, change) => {
  if (api.get(crds, key('kiwis')) === undefined) await define(crd('kiwis'));
  const current = api.get(crds, key('kiwis')) as StoredObject;
  const next = { ...current, spec: { ...(current['spec'] as object), ...change } };
  expect(refusal(() => api.replace(crds, next))).toEqual([
    422,
    expect.stringMatching(new RegExp(`${path.replaceAll('.', '\\.')}: Invalid value: ".*": field is immutable`)),
  ]);
});
