import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FieldSet } from './field-set.ts';
import { type ChangeContext, type Json, trackUpdate, withoutManagers } from './track-update.ts';

const now = '2026-01-02T03:04:05Z';

const context: ChangeContext = {
  resource: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  subresource: '',
  statusApart: false,
  schema: undefined,
  fieldManager: 'me',
  now,
};

const nodes: Partial<ChangeContext> = {
  resource: { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false },
  statusApart: true,
};

const apps: Partial<ChangeContext> = {
  resource: { group: 'ex.io', version: 'v1', kind: 'App', plural: 'apps', namespaced: true },
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          text: { type: 'string' },
        },
      },
      status: { type: 'object', properties: { phase: { type: 'string' } } },
    },
  },
};

function configMap(data: Json | undefined, metadata: Json = {}): Json {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...metadata }, ...(data && { data }) };
}

function track(before: Json | undefined, after: Json, change: Partial<ChangeContext> = {}): Json {
  return trackUpdate(before, after, { ...context, ...change });
}

/** Who owns what: fields by manager and operation, and by the subresource if it came that way. */
function owners(object: Json): Record<string, unknown> {
  const entries = ((object['metadata'] as Json)['managedFields'] ?? []) as Record<string, string>[];
  return Object.fromEntries(
    entries.map(entry => [
      [entry['manager'], entry['operation'], entry['subresource']].filter(Boolean).join(' '),
      entry['fieldsV1'],
    ]),
  );
}

test('gives a new object to who made it', () => {
  const created = track(undefined, configMap({ a: '1', b: '2' }, { labels: { l: '1' } }));
  expect((created['metadata'] as Json)['managedFields']).toEqual([
    {
      manager: 'me',
      operation: 'Update',
      apiVersion: 'v1',
      time: now,
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:data': { '.': {}, 'f:a': {}, 'f:b': {} },
        'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
      },
    },
  ]);
});

test('changes nothing but the managers', () => {
  const object = configMap({ a: '1' }, { uid: 'u' });
  expect(withoutManagers(track(undefined, object))).toEqual(object);
});

test('lists nobody for an object without content', () => {
  expect(track(undefined, configMap(undefined))).toEqual(configMap(undefined));
});

test('gives new and changed fields to who wrote them, and takes them from others', () => {
  const first = track(undefined, configMap({ a: '1', b: '2', c: '3' }));
  const managedFields = (first['metadata'] as Json)['managedFields'];
  const second = track(first, configMap({ a: '9', b: '2', d: '4' }, { managedFields }), { fieldManager: 'you' });
  expect(owners(second)).toEqual({
    'me Update': { 'f:data': { '.': {}, 'f:b': {} } },
    'you Update': { 'f:data': { 'f:a': {}, 'f:d': {} } },
  });
});

test('lets nobody own what is gone', () => {
  const first = track(undefined, configMap({ a: '1' }, { labels: { l: '1' } }));
  const second = track(first, configMap(undefined, { labels: { l: '1' } }), { fieldManager: 'you' });
  expect(owners(second)).toEqual({ 'me Update': { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } } });
});

test('keeps the time of a write that changed nothing', () => {
  const first = track(undefined, configMap({ a: '1' }));
  expect(track(first, first, { now: 'later' })).toEqual(first);
  expect(track(first, configMap({ a: '1' }), { now: 'later', fieldManager: 'you' })).toEqual(first);
});

test('moves the time of a manager that writes again', () => {
  const first = track(undefined, configMap({ a: '1' }));
  const second = track(first, configMap({ a: '1', b: '2' }), { now: '2026-01-03T00:00:00Z' });
  expect((second['metadata'] as { managedFields: Json[] }).managedFields).toMatchObject([
    { manager: 'me', time: '2026-01-03T00:00:00Z', fieldsV1: { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } } },
  ]);
});

test('keeps the managers when a client leaves them out', () => {
  const first = track(undefined, configMap({ a: '1' }));
  expect(owners(track(first, configMap({ a: '1' })))).toEqual(owners(first));
});

test('takes the managers a client sends', () => {
  const first = track(undefined, configMap({ a: '1' }));
  const managedFields = [
    { manager: 'other', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } },
  ];
  const second = track(first, configMap({ a: '1' }, { managedFields }));
  expect(Object.keys(owners(second))).toEqual(['other Update']);
});

const unreadable: [string, unknown][] = [
  ['managers that cannot be read', [{ manager: 'x', operation: 'Frob' }, {}]],
  ['managers that are no list', 'x'],
  ['null', null],
];

test.each(unreadable)('keeps the managers there were when a client sends %s', (_name, managedFields) => {
  const first = track(undefined, configMap({ a: '1' }));
  expect(owners(track(first, configMap({ a: '1' }, { managedFields })))).toEqual(owners(first));
});

test.each([
  ['an empty list', []],
  ['a list with an empty entry', [{}]],
])('forgets all managers when a client sends %s', (_name, managedFields) => {
  const first = track(undefined, configMap({ a: '1' }));
  const reset = track(first, configMap({ a: '1' }, { managedFields }));
  expect(reset).toEqual(configMap({ a: '1' }));
  const later = track(reset, configMap({ a: '2' }));
  expect(later).toEqual(configMap({ a: '2' }));
});

test('does not let a subresource change the managers', () => {
  const first = track(undefined, configMap({ a: '1' }));
  const second = track(first, configMap({ a: '1' }, { managedFields: [] }), { subresource: 'status' });
  expect(owners(second)).toEqual(owners(first));
});

test('tells the subresource a change came by', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: { podCIDR: '10.0.0.0/24' } };
  const first = track(undefined, node, nodes);
  const second = track(first, { ...first, status: { phase: 'x' } }, { ...nodes, subresource: 'status' });
  expect(owners(second)).toEqual({
    'me Update': { 'f:spec': { 'f:podCIDR': {} } },
    'me Update status': { 'f:status': { '.': {}, 'f:phase': {} } },
  });
});

test('does not take for a change what a request cannot reach', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: { a: 1 }, status: { b: 1 } };
  const first = track(undefined, node, nodes);
  expect(owners(first)).toEqual({ 'me Update': { 'f:spec': { 'f:a': {} } } });
  const changed = { ...first, spec: { a: 2 }, status: { b: 2 } };
  expect(owners(track(first, changed, { ...nodes, subresource: 'status', fieldManager: 'you' }))).toEqual({
    'me Update': { 'f:spec': { 'f:a': {} } },
    'you Update status': { 'f:status': { 'f:b': {} } },
  });
});

test('does not list objects that are always there', () => {
  const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'x' },
    spec: { containers: [{ name: 'c', resources: {} }], nodeSelector: { a: 'b' } },
    status: {},
  };
  expect(owners(track(undefined, pod, { resource: pods }))).toEqual({
    'me Update': {
      'f:spec': {
        'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:resources': {} } },
        'f:nodeSelector': { '.': {}, 'f:a': {} },
      },
    },
  });
});

test('lists every object of a custom resource', () => {
  const app = { apiVersion: 'ex.io/v1', kind: 'App', metadata: { name: 'x' }, spec: { set: ['q'], text: 't' } };
  expect(owners(track(undefined, app, apps))).toEqual({
    'me Update': { 'f:spec': { '.': {}, 'f:set': { '.': {}, 'v:"q"': {} }, 'f:text': {} } },
  });
});

test('goes by the keys of lists in the schema', () => {
  const app = (set: string[]): Json => ({
    apiVersion: 'ex.io/v1',
    kind: 'App',
    metadata: { name: 'x' },
    spec: { set },
  });
  const first = track(undefined, app(['a', 'b']), apps);
  const second = track(first, app(['b', 'c']), { ...apps, fieldManager: 'you' });
  expect(owners(second)).toEqual({
    'me Update': { 'f:spec': { '.': {}, 'f:set': { '.': {}, 'v:"b"': {} } } },
    'you Update': { 'f:spec': { 'f:set': { 'v:"c"': {} } } },
  });
});

test('gives all of a list to its owner when its items get keys', () => {
  const app = (set: string[]): Json => ({
    apiVersion: 'ex.io/v1',
    kind: 'App',
    metadata: { name: 'x' },
    spec: { set },
  });
  const untyped = { ...apps, schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const first = track(undefined, app(['a']), untyped);
  expect(owners(first)).toEqual({ 'me Update': { 'f:spec': { '.': {}, 'f:set': {} } } });
  const second = track(first, app(['a', 'b']), { ...apps, fieldManager: 'you' });
  expect(owners(second)).toMatchObject({
    'me Update': { 'f:spec': { 'f:set': { '.': {}, 'v:"a"': {} } } },
    'you Update': { 'f:spec': { 'f:set': { 'v:"b"': {} } } },
  });
});

test('keeps the number of managers small', () => {
  let object = track(undefined, configMap({}));
  for (let index = 0; index < 30; index += 1) {
    const data = { ...(object['data'] as Json), [`k${index}`]: 'x' };
    const change = { fieldManager: `m${index}`, now: `2026-01-01T00:00:${String(index).padStart(2, '0')}Z` };
    object = track(object, configMap(data, { managedFields: (object['metadata'] as Json)['managedFields'] }), change);
  }
  expect(Object.keys(owners(object))).toHaveLength(10);
  expect(Object.keys(owners(object))).toContain('ancient-changes Update');
});

const key = fc.constantFrom('a', 'b', 'c');
const data = fc.dictionary(key, fc.constantFrom('1', '2'), { minKeys: 1 });
const writer = fc.constantFrom('x', 'y', 'z');

test('gives every field exactly one owner, the one who wrote it last', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(writer, data), { minLength: 1, maxLength: 6 }), writes => {
      let object: Json | undefined;
      const lastWriter = new Map<string, string>();
      for (const [fieldManager, written] of writes) {
        // Who owns nothing of a map but the map itself would own all of it later on.
        const next = { ...written, kept: '0' };
        const current = (object?.['data'] ?? {}) as Json;
        for (const [name, value] of Object.entries(next))
          if (current[name] !== value) lastWriter.set(name, fieldManager);
        for (const name of Object.keys(current)) if (!(name in next)) lastWriter.delete(name);
        object = track(object, configMap(next), { fieldManager });
      }
      const found = Object.entries(owners(object ?? {})).flatMap(([who, fields]) =>
        (FieldSet.parse(fields)?.paths() ?? []).filter(path => path.length === 2).map(path => [path[1]?.slice(2), who]),
      );
      expect(Object.fromEntries(found)).toEqual(
        Object.fromEntries([...lastWriter].map(([name, who]) => [name, `${who} Update`])),
      );
      expect(found).toHaveLength(lastWriter.size);
    }),
    { numRuns: 500 },
  );
});

test('takes anything for managers', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      track(configMap({ a: '1' }, { managedFields: one }), configMap({ a: '2' }, { managedFields: other }));
      track(undefined, { metadata: other });
    }),
    { numRuns: 1000 },
  );
});
