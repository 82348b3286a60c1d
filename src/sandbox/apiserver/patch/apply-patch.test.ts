import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { StatusError } from '../status.ts';
import { applyPatch, type PatchKind } from './apply-patch.ts';
import { builtInType } from './built-in-types.ts';
import type { Json } from './strategic-merge.ts';

const type = builtInType('', 'Node');

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
];

test.each(kinds)('patches by %s', (kind, body, want) => {
  const result = applyPatch(kind, node, body, type);
  expect((result['status'] as Json)['addresses']).toEqual(want);
});

test.each([
  ['merge', {}, {}],
  ['strategic', {}, {}],
  ['json', [], {}],
] as [PatchKind, unknown, unknown][])('makes nothing out of nothing by an empty %s patch', (kind, body, want) => {
  expect(applyPatch(kind, {}, body, type)).toEqual(want);
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
];

test.each(malformed)('rejects for %s the body %j', (kind, body) => {
  expect(() => applyPatch(kind, node, body, type)).toThrow(StatusError);
  expect(statusOf(() => applyPatch(kind, node, body, type))).toMatchObject({ code: 400, reason: 'BadRequest' });
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
];

test.each(deep)('takes by %s an object of many levels, but not of too many', (kind, body) => {
  expect(applyPatch(kind, node, body(nested(450)), type)).toHaveProperty('spec');
  expect(statusOf(() => applyPatch(kind, node, body(nested(100_000)), type))).toMatchObject({ code: 400 });
});

test('rejects copies that exceed the depth limit', () => {
  const add = { op: 'add', path: '/spec', value: { a: {} } };
  const copies = Array.from({ length: 12 }, () => ({ op: 'copy', from: '/spec', path: '/spec/a' }));
  const deeper = copies.map((copy, index) => ({ ...copy, path: `/spec${'/a'.repeat(2 ** index)}` }));
  expect(statusOf(() => applyPatch('json', node, [add, ...deeper], type))).toMatchObject({ code: 400 });
});

test('never changes what it is given', () => {
  const frozen = deepFreeze(structuredClone(node));
  for (const [kind, body] of kinds) applyPatch(kind, frozen, deepFreeze(structuredClone(body)), type);
  expect(frozen).toEqual(node);
});

test('throws only StatusErrors', () => {
  const kind = fc.constantFrom<PatchKind>('merge', 'json', 'strategic');
  const current = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(kind, current, fc.jsonValue(), (kind, current, body) => {
      try {
        applyPatch(kind, current, body, type);
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
