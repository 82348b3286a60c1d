import { expect, test } from 'vitest';
import type { StatusError } from '../status.ts';
import { type ApplyContext, applyConfiguration } from './apply.ts';
import { type Json, trackUpdate } from './track-update.ts';

const configMaps = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };

const context: ApplyContext = {
  resource: configMaps,
  subresource: '',
  statusApart: false,
  schema: undefined,
  fieldManager: 'one',
  force: false,
  now: '2026-01-01T00:00:00Z',
};

function config(data: Json | undefined, metadata: Json = {}): Json {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...metadata }, ...(data && { data }) };
}

/** One change of an object: by whom, what, and whether by apply or by an update of the whole. */
type Step = [who: string, body: Json, how?: 'force' | 'update'];

function run(steps: readonly Step[], change: Partial<ApplyContext> = {}): Json {
  return steps.reduce<Json | undefined>((object, [fieldManager, body, how]) => {
    const all = { ...context, ...change, fieldManager, force: how === 'force' };
    return how === 'update' ? trackUpdate(object, body, all) : applyConfiguration(object, body, all);
  }, undefined) as Json;
}

function owners(object: Json): Record<string, unknown> {
  const entries = ((object['metadata'] as Json)['managedFields'] ?? []) as Record<string, string>[];
  return Object.fromEntries(entries.map(entry => [`${entry['manager']} ${entry['operation']}`, entry['fieldsV1']]));
}

const data = (...names: string[]): unknown => ({ 'f:data': Object.fromEntries(names.map(name => [`f:${name}`, {}])) });

/** Who owns what after some steps, as kube-apiserver has it. */
const histories: [string, Step[], Json | undefined, Record<string, unknown>][] = [
  ['creates', [['one', config({ a: '1' })]], { a: '1' }, { 'one Apply': data('a') }],
  [
    'changes its own fields',
    [
      ['one', config({ a: '1' })],
      ['one', config({ a: '2', b: '1' })],
    ],
    { a: '2', b: '1' },
    { 'one Apply': data('a', 'b') },
  ],
  [
    'removes what it says no more',
    [
      ['one', config({ a: '1', b: '1' })],
      ['one', config({ a: '1' })],
    ],
    { a: '1' },
    { 'one Apply': data('a') },
  ],
  [
    'shares a field on which both agree',
    [
      ['one', config({ a: '1' })],
      ['two', config({ a: '1', c: '3' })],
    ],
    { a: '1', c: '3' },
    { 'one Apply': data('a'), 'two Apply': data('a', 'c') },
  ],
  [
    'keeps a field that another still says',
    [
      ['one', config({ a: '1', b: '1' })],
      ['two', config({ a: '1' })],
      ['one', config({ b: '1' })],
    ],
    { a: '1', b: '1' },
    { 'one Apply': data('b'), 'two Apply': data('a') },
  ],
  [
    'removes everything with the last configuration',
    [
      ['one', config({ a: '1' })],
      ['one', config(undefined)],
    ],
    undefined,
    {},
  ],
  [
    'takes a field over by force',
    [
      ['one', config({ a: '1', b: '1' })],
      ['two', config({ a: '2' }), 'force'],
    ],
    { a: '2', b: '1' },
    { 'one Apply': data('b'), 'two Apply': data('a') },
  ],
  [
    'leaves a field alone that it has lost',
    [
      ['one', config({ a: '1', b: '1' })],
      ['two', config({ a: '2' }), 'force'],
      ['one', config({ b: '1' })],
    ],
    { a: '2', b: '1' },
    { 'one Apply': data('b'), 'two Apply': data('a') },
  ],
  [
    'loses a field to an update',
    [
      ['one', config({ a: '1', b: '1' })],
      ['upd', config({ a: '9', b: '1' }), 'update'],
    ],
    { a: '9', b: '1' },
    { 'one Apply': data('b'), 'upd Update': data('a') },
  ],
  [
    'keeps fields of an update it knows nothing about',
    [
      ['one', config({ a: '1' })],
      ['upd', config({ a: '1', u: '1' }), 'update'],
      ['one', config({ b: '1' })],
    ],
    { b: '1', u: '1' },
    { 'one Apply': data('b'), 'upd Update': data('u') },
  ],
  [
    'keeps a field that came by an update and by apply',
    [
      ['upd', config({ a: '1' }), 'update'],
      ['one', config({ a: '1' })],
      ['one', config(undefined)],
    ],
    { a: '1' },
    { 'upd Update': { 'f:data': { '.': {}, 'f:a': {} } } },
  ],
];

test.each(histories)('%s', (_name, steps, want, wantOwners) => {
  const object = run(steps);
  expect(object['data']).toEqual(want);
  expect(owners(object)).toEqual(wantOwners);
});

test('keeps the metadata the server has set', () => {
  const served = { uid: 'u', resourceVersion: '5', creationTimestamp: 'then', namespace: 'ns' };
  const first = run([['one', config({ a: '1' }, { labels: { l: '1' } })]]);
  const live = { ...first, metadata: { ...(first['metadata'] as Json), ...served } };
  const second = applyConfiguration(live, config(undefined), context);
  expect(second).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...served } });
});

test('adds to finalizers and owners and takes away its own', () => {
  const owner = (uid: string): Json => ({ uid, apiVersion: 'v1', kind: 'Pod', name: uid });
  const two = config(undefined, { finalizers: ['c/d', 'a/b'], ownerReferences: [owner('v')] });
  const object = run([
    ['one', config(undefined, { finalizers: ['a/b'], ownerReferences: [owner('u')] })],
    ['two', two],
  ]);
  expect(object['metadata']).toMatchObject({ finalizers: ['a/b', 'c/d'], ownerReferences: [owner('u'), owner('v')] });
  const left = applyConfiguration(object, config(undefined, { finalizers: ['a/b'] }), {
    ...context,
    fieldManager: 'two',
  });
  expect(left['metadata']).toMatchObject({ finalizers: ['a/b'], ownerReferences: [owner('u')] });
});

const conflicts: [string, Step[], Json, string, [string, string][]][] = [
  [
    'one field of an applier',
    [['one', config({ a: '1' })]],
    config({ a: '2' }),
    'Apply failed with 1 conflict: conflict with "one": .data.a',
    [['conflict with "one"', '.data.a']],
  ],
  [
    'one field of an updater',
    [['upd', config({ a: '1' }), 'update']],
    config({ a: '2' }),
    'Apply failed with 1 conflict: conflict with "upd" using v1: .data.a',
    [['conflict with "upd" using v1', '.data.a']],
  ],
  [
    'many fields',
    [['one', config({ a: '1', b: '1' }, { labels: { l: '1' } })]],
    config({ a: '2', b: '2' }, { labels: { l: '2' } }),
    'Apply failed with 3 conflicts: conflicts with "one":\n- .data.a\n- .data.b\n- .metadata.labels.l',
    [
      ['conflict with "one"', '.data.a'],
      ['conflict with "one"', '.data.b'],
      ['conflict with "one"', '.metadata.labels.l'],
    ],
  ],
  [
    'many managers',
    [
      ['one', config({ a: '1' })],
      ['three', config({ a: '1' })],
    ],
    config({ a: '2' }),
    'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\nconflicts with "three":\n- .data.a',
    [
      ['conflict with "one"', '.data.a'],
      ['conflict with "three"', '.data.a'],
    ],
  ],
];

test.each(conflicts)('refuses to change %s', (...[, steps, body, message, causes]) => {
  expect(statusOf(() => applyConfiguration(run(steps), body, { ...context, fieldManager: 'two' }))).toEqual({
    code: 409,
    reason: 'Conflict',
    message,
    details: { causes: causes.map(([says, field]) => ({ reason: 'FieldManagerConflict', message: says, field })) },
  });
});

test('names items of lists in a conflict', () => {
  const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
  const pod = (image: string): Json => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'x' },
    spec: { containers: [{ name: 'web', image, ports: [{ containerPort: 80, name: image }] }] },
  });
  const live = run([['one', pod('a')]], { resource: pods });
  const status = statusOf(() =>
    applyConfiguration(live, pod('b'), { ...context, resource: pods, fieldManager: 'two' }),
  );
  expect(status?.details?.causes?.map(({ field }) => field)).toEqual([
    '.spec.containers[name="web"].image',
    '.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].name',
  ]);
});

test('treats what has no owner as owned by everything before', () => {
  const live = config({ a: '1', b: '1' });
  const agreed = applyConfiguration(live, config({ a: '1' }), context);
  expect(owners(agreed)).toEqual({
    'before-first-apply Update': { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } },
    'one Apply': data('a'),
  });
  const status = statusOf(() => applyConfiguration(live, config({ a: '2' }), context));
  const want = 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a';
  expect(status?.message).toBe(want);
});

test('writes the time only when something changed', () => {
  const first = run([['one', config({ a: '1' })]]);
  expect(applyConfiguration(first, config({ a: '1' }), { ...context, now: 'later' })).toEqual(first);
  const second = applyConfiguration(first, config({ a: '2' }), { ...context, now: 'later' });
  expect((second['metadata'] as { managedFields: Json[] }).managedFields[0]).toMatchObject({ time: 'later' });
});

test('keeps an applier in one entry when it moves on to another version', () => {
  const leases = {
    group: 'coordination.k8s.io',
    version: 'v1beta1',
    kind: 'Lease',
    plural: 'leases',
    namespaced: true,
  };
  const lease = (version: string): Json => ({
    apiVersion: `coordination.k8s.io/${version}`,
    kind: 'Lease',
    metadata: { name: 'x' },
    spec: { holderIdentity: 'me' },
  });
  const first = applyConfiguration(undefined, lease('v1beta1'), { ...context, resource: leases });
  const live = { ...first, apiVersion: 'coordination.k8s.io/v1' };
  const second = applyConfiguration(live, lease('v1'), { ...context, resource: { ...leases, version: 'v1' } });
  expect((second['metadata'] as Json)['managedFields']).toMatchObject([
    { manager: 'one', apiVersion: 'coordination.k8s.io/v1' },
  ]);
});

test('keeps the entries of a manager for the object and for its status apart', () => {
  const nodes = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
  const node = (content: Json): Json => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' }, ...content });
  const apart = { ...context, resource: nodes, statusApart: true };
  const first = applyConfiguration(undefined, node({ spec: { unschedulable: true } }), apart);
  const conditions = [{ type: 'Mine', status: 'True' }];
  const second = applyConfiguration(first, node({ status: { conditions } }), { ...apart, subresource: 'status' });
  expect(second).toMatchObject({ spec: { unschedulable: true }, status: { conditions } });
  expect((second['metadata'] as Json)['managedFields']).toMatchObject([
    { fieldsV1: { 'f:spec': { 'f:unschedulable': {} } } },
    { subresource: 'status', fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"Mine"}': { '.': {} } } } } },
  ]);
});

test('lets nobody own by the object what only its status subresource writes', () => {
  const nodes = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x', labels: { a: 'b' } }, status: { phase: 'x' } };
  const object = applyConfiguration(undefined, body, { ...context, resource: nodes, statusApart: true });
  expect(owners(object)).toEqual({ 'one Apply': { 'f:metadata': { 'f:labels': { 'f:a': {} } } } });
});

const refused: [string, unknown, number, string][] = [
  ['a list', [], 400, 'must be an object'],
  ['a number', 5, 400, 'must be an object'],
  ['null', null, 400, 'must be an object'],
  ['an object without a version', { kind: 'ConfigMap', metadata: {} }, 400, 'Specified patch version: , expected: v1'],
  [
    'an object of another version',
    { ...config({}), apiVersion: 'v2' },
    400,
    'Specified patch version: v2, expected: v1',
  ],
  ['a version that is no text', { ...config({}), apiVersion: 5 }, 400, 'Specified patch version: , expected: v1'],
  ['an object of another kind', { ...config({}), kind: 'Secret' }, 400, 'kind: Secret, expected: ConfigMap'],
  ['an object without a kind', { apiVersion: 'v1', metadata: {} }, 400, 'kind: , expected: ConfigMap'],
  ['managers', config({}, { managedFields: [{}] }), 400, 'metadata.managedFields must be nil'],
  ['no managers in so many words', config({}, { managedFields: [] }), 400, 'metadata.managedFields must be nil'],
  [
    'a finalizer twice',
    config({}, { finalizers: ['a', 'a'] }),
    500,
    '.metadata.finalizers: duplicate entries for key [="a"]',
  ],
];

test.each(refused)('refuses %s', (_name, body, code, says) => {
  const status = statusOf(() => applyConfiguration(undefined, body, context));
  expect(status?.code).toBe(code);
  expect(status?.message).toContain(says);
});

test('takes managers given as null', () => {
  expect(owners(applyConfiguration(undefined, config({ a: '1' }, { managedFields: null }), context))).toEqual({
    'one Apply': data('a'),
  });
});

test('refuses to go on when the managers of the object cannot be read', () => {
  const live = config({ a: '1' }, { managedFields: [{ manager: 'x' }] });
  expect(statusOf(() => applyConfiguration(live, config({ a: '1' }), context))).toEqual({
    code: 500,
    message: 'failed to decode managed fields',
  });
});

test('leaves a frozen object alone', () => {
  const live = deepFreeze(run([['one', config({ a: '1' }, { labels: { l: '1' } })]]));
  const copy = structuredClone(live);
  applyConfiguration(live, deepFreeze(config({ b: '1' })), context);
  expect(live).toEqual(copy);
});

function statusOf(act: () => unknown): StatusError['status'] | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return (error as StatusError).status;
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
