import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { StatusError } from '../status.ts';
import type { ApplyContext } from './apply.ts';
import { applyPatch, type PatchKind } from './apply-patch.ts';
import type { Json } from './track-update.ts';

const context: ApplyContext = {
  resource: { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false },
  subresource: '',
  statusApart: true,
  schema: undefined,
  fieldManager: 'me',
  force: false,
  now: '2026-01-01T00:00:00Z',
};

const node: Json = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels: { a: '1' } },
  status: { addresses: [{ type: 'InternalIP', address: '1.1.1.1' }] },
};

const host = { type: 'Hostname', address: 'h' };
const inside = { type: 'InternalIP', address: '1.1.1.1' };

const kinds: [PatchKind, unknown, unknown][] = [
  ['merge', { status: { addresses: [host] } }, [host]],
  ['strategic', { status: { addresses: [host] } }, [host, inside]],
  ['json', [{ op: 'add', path: '/status/addresses/-', value: host }], [inside, host]],
  ['apply', { ...node, status: { addresses: [host] } }, [inside, host]],
];

test.each(kinds)('patches by %s', (kind, body, want) => {
  const result = applyPatch(kind, node, body, { ...context, force: true });
  expect((result['status'] as Json)['addresses']).toEqual(want);
});

test.each(kinds.filter(([kind]) => kind !== 'apply'))('leaves the managers to others after %s', (kind, body) => {
  expect(applyPatch(kind, node, body, context)['metadata']).not.toHaveProperty('managedFields');
});

test('creates only by apply', () => {
  const created = applyPatch('apply', undefined, node, context);
  expect(created).toMatchObject({ ...node, metadata: { name: 'n', managedFields: [{ manager: 'me' }] } });
});

test.each([
  ['merge', {}, {}],
  ['strategic', {}, {}],
  ['json', [], {}],
] as [PatchKind, unknown, unknown][])('makes nothing out of nothing by an empty %s patch', (kind, body, want) => {
  expect(applyPatch(kind, undefined, body, context)).toEqual(want);
});

const malformed: [PatchKind, unknown][] = [
  ['merge', []],
  ['merge', 'x'],
  ['merge', 5],
  ['merge', null],
  ['strategic', []],
  ['strategic', 'x'],
  ['json', {}],
  ['json', 'x'],
  ['apply', []],
  ['apply', null],
];

test.each(malformed)('refuses for %s the body %j', (kind, body) => {
  expect(() => applyPatch(kind, node, body, context)).toThrow(StatusError);
  expect(statusOf(() => applyPatch(kind, node, body, context))).toMatchObject({ code: 400, reason: 'BadRequest' });
});

test('merges custom resources by the keys of their schema when applied', () => {
  const schema = {
    type: 'object',
    properties: { list: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } } },
  };
  const resource = { group: 'ex.io', version: 'v1', kind: 'App', plural: 'apps', namespaced: true };
  const app = (list: string[]): Json => ({ apiVersion: 'ex.io/v1', kind: 'App', metadata: { name: 'x' }, list });
  const first = applyPatch('apply', undefined, app(['a']), { ...context, resource, schema });
  const second = applyPatch('apply', first, app(['b']), { ...context, resource, schema, fieldManager: 'you' });
  expect(second['list']).toEqual(['a', 'b']);
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

const deep: [PatchKind, (value: unknown) => unknown][] = [
  ['merge', value => ({ spec: value })],
  ['strategic', value => ({ spec: value })],
  ['json', value => [{ op: 'add', path: '/spec', value }]],
  ['apply', value => ({ ...node, spec: value })],
];

test.each(deep)('takes by %s an object of many levels, but not of too many', (kind, body) => {
  expect(applyPatch(kind, node, body(nested(450)), { ...context, force: true })).toHaveProperty('spec');
  expect(statusOf(() => applyPatch(kind, node, body(nested(100_000)), context))).toMatchObject({ code: 400 });
});

test('refuses copies that go deeper and deeper', () => {
  const add = { op: 'add', path: '/spec', value: { a: {} } };
  const copies = Array.from({ length: 12 }, () => ({ op: 'copy', from: '/spec', path: '/spec/a' }));
  const deeper = copies.map((copy, index) => ({ ...copy, path: `/spec${'/a'.repeat(2 ** index)}` }));
  expect(statusOf(() => applyPatch('json', node, [add, ...deeper], context))).toMatchObject({ code: 400 });
});

test('never changes what it is given', () => {
  const frozen = deepFreeze(structuredClone(node));
  for (const [kind, body] of kinds)
    applyPatch(kind, frozen, deepFreeze(structuredClone(body)), { ...context, force: true });
  expect(frozen).toEqual(node);
});

test('throws nothing but statuses', () => {
  const kind = fc.constantFrom<PatchKind>('merge', 'json', 'strategic', 'apply');
  const current = fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined });
  fc.assert(
    fc.property(kind, current, fc.jsonValue(), (kind, current, body) => {
      try {
        applyPatch(kind, current, body, context);
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError);
      }
    }),
    { numRuns: 2000 },
  );
});

function statusOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return (error as StatusError).status;
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
