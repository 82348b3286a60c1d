import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { StatusError } from '../status.ts';
import { applyConfiguration, type ApplyContext } from './apply.ts';
import { builtInType } from './built-in-types.ts';
import { allowedByLastApplied, withLastApplied } from './last-applied.ts';
import { type Json, trackUpdate } from './track-update.ts';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
const type = builtInType('', 'ConfigMap');

function config(data: Json, annotations?: Json): Json {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...(annotations && { annotations }) }, data };
}

/** An object that kubectl has applied on the client's side, and perhaps somebody changed later. */
function applied(last: Json, now: Json = last): Json {
  return config(now, { [annotation]: JSON.stringify(config(last)), mine: '1' });
}

const allowed: [string, Json, unknown][] = [
  ['fields that are still as applied', applied({ a: '1', b: '2' }), { 'f:a': {}, 'f:b': {} }],
  ['no fields that somebody changed', applied({ a: '1', b: '2' }, { a: '9', b: '2' }), { 'f:b': {} }],
  ['no fields that are gone', applied({ a: '1', b: '2' }, { b: '2' }), { 'f:b': {} }],
  ['no fields that others added', applied({ a: '1' }, { a: '1', z: '1' }), { 'f:a': {} }],
];

test.each(allowed)('lets kubectl take over %s', (_name, live, want) => {
  expect(allowedByLastApplied(type, live, 'v1').below('f:data').print()).toEqual(want);
});

const nothing: [string, Json][] = [
  ['no annotation', config({ a: '1' }, { other: 'x' })],
  ['no annotations at all', config({ a: '1' })],
  ['an annotation that is no JSON', config({ a: '1' }, { [annotation]: '{' })],
  ['an annotation that is no object', config({ a: '1' }, { [annotation]: '[]' })],
  ['an annotation that is no text', config({ a: '1' }, { [annotation]: 5 })],
  ['an annotation of another version', config({ a: '1' }, { [annotation]: '{"apiVersion":"v2","data":{"a":"1"}}' })],
  ['no metadata', { data: { a: '1' } }],
];

test.each(nothing)('lets kubectl take over nothing with %s', (_name, live) => {
  expect(allowedByLastApplied(type, live, 'v1').isEmpty).toBe(true);
});

test('keeps the annotation in step', () => {
  const next = withLastApplied(applied({ a: '1' }), config({ a: '2' }));
  const annotations = (next['metadata'] as Json)['annotations'] as Record<string, string>;
  expect(JSON.parse(annotations[annotation] ?? '')).toEqual(config({ a: '2' }));
  expect(annotations['mine']).toBe('1');
});

test('does not put the annotation into itself', () => {
  const next = withLastApplied(applied({ a: '1' }), applied({ a: '2' }));
  const annotations = (next['metadata'] as Json)['annotations'] as Record<string, string>;
  expect(JSON.parse(annotations[annotation] ?? '')).toEqual(config({ a: '2' }, { mine: '1' }));
});

test('adds no annotation where there was none', () => {
  const object = config({ a: '1' });
  expect(withLastApplied(object, config({ a: '2' }))).toBe(object);
});

const context: ApplyContext = {
  resource: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  subresource: '',
  statusApart: false,
  schema: undefined,
  fieldManager: 'kubectl',
  force: false,
  now: '2026-01-01T00:00:00Z',
};

const clientSide = trackUpdate(undefined, applied({ a: '1', b: '1' }), {
  ...context,
  fieldManager: 'kubectl-client-side-apply',
});

test('lets kubectl go on by server-side apply where it began by client-side apply', () => {
  const object = applyConfiguration(clientSide, config({ a: '2', b: '1' }), context);
  expect(object['data']).toEqual({ a: '2', b: '1' });
  const annotations = (object['metadata'] as Json)['annotations'] as Record<string, string>;
  expect(JSON.parse(annotations[annotation] ?? '')).toEqual(config({ a: '2', b: '1' }));
});

test('does not let any other manager do so', () => {
  const act = (): unknown => applyConfiguration(clientSide, config({ a: '2' }), { ...context, fieldManager: 'argo' });
  expect(act).toThrow('conflict with "kubectl-client-side-apply" using v1: .data.a');
  expect(act).toThrow(StatusError);
});

test('still protects what somebody else has changed', () => {
  const changed = trackUpdate(
    clientSide,
    { ...clientSide, data: { a: '9', b: '1' } },
    { ...context, fieldManager: 'you' },
  );
  const act = (): unknown => applyConfiguration(changed, config({ a: '2', b: '2' }), context);
  expect(act).toThrow('Apply failed with 1 conflict: conflict with "you" using v1: .data.a');
});

test('reads any annotation', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), text => {
      const live = config({ a: '1' }, { [annotation]: text });
      allowedByLastApplied(type, live, 'v1');
      withLastApplied(live, config({}));
    }),
    { numRuns: 1000 },
  );
});
