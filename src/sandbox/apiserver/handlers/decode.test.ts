import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { refusal } from '../../../../test/kit/sandbox.ts';
import { defineKind } from '../kind.ts';
import { configMap } from '../kinds/config.ts';
import { node } from '../kinds/node.ts';
import { decodeObject } from './decode.ts';

const custom = defineKind({
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
  custom: true,
});
const head = { apiVersion: 'v1', kind: 'ConfigMap' };
const thing = { apiVersion: 'example.com/v1', kind: 'Thing' };

const builtIn: [string, unknown, unknown][] = [
  [
    'everything said',
    { ...head, metadata: { name: 'a' }, data: { k: 'v' } },
    { ...head, metadata: { name: 'a' }, data: { k: 'v' } },
  ],
  ['neither kind nor version', { metadata: { name: 'a' } }, { ...head, metadata: { name: 'a' } }],
  ['no metadata', {}, { ...head, metadata: {} }],
  ['nothing in the metadata', { metadata: null }, { ...head, metadata: {} }],
  ['unknown members', { x: 1, metadata: { y: 2 }, data: { k: 'v' } }, { ...head, metadata: {}, data: { k: 'v' } }],
  ['nothing in a member', { data: null }, { ...head, metadata: {} }],
];
test.each(builtIn)('decodes a built-in object with %s', (_, body, wanted) => {
  expect(decodeObject(configMap, body)).toEqual(wanted);
});

const refusedBuiltIn: [unknown, string | RegExp][] = [
  [[], 'the object provided is unrecognized (must be of type ConfigMap)'],
  ['x', 'the object provided is unrecognized (must be of type ConfigMap)'],
  [null, 'the object provided is unrecognized (must be of type ConfigMap)'],
  [{ kind: 'Secret' }, /^Secret in version "v1" cannot be handled as a ConfigMap/],
  [{ apiVersion: 'v2' }, /^ConfigMap in version "v1" cannot be handled as a ConfigMap: it is of apiVersion "v2"/],
  [{ metadata: [] }, /metadata cannot be read$/],
  [{ metadata: { name: 1 } }, /metadata cannot be read$/],
  [{ data: 'x' }, /: data: expects strings, but found string$/],
  [{ data: { k: 1 } }, /: data: expects strings, but found object$/],
];
test.each(refusedBuiltIn)('rejects %j as a ConfigMap', (body, message) => {
  const wanted = typeof message === 'string' ? message : expect.stringMatching(message);
  expect(refusal(() => decodeObject(configMap, body))).toEqual([400, wanted]);
});

test('names the place of a wrong value deep inside', () => {
  const body = { spec: { taints: [{ key: 'a', effect: 1 }] } };
  expect(refusal(() => decodeObject(node, body))?.[1]).toMatch(
    /: spec\.taints\[0\]\.effect: expects string, but found number$/,
  );
});

test('decodes a custom object with all it has', () => {
  const body = { ...thing, metadata: { name: 'a', unknown: 1 }, spec: { x: null, y: [1] }, anything: true };
  expect(decodeObject(custom, body)).toEqual({
    ...thing,
    metadata: { name: 'a' },
    spec: { x: null, y: [1] },
    anything: true,
  });
});

const refusedCustom: [unknown, number, RegExp][] = [
  [[], 400, /unrecognized/],
  [{ apiVersion: 'example.com/v1' }, 400, /Object 'Kind' is missing/],
  [
    { kind: 'Thing' },
    400,
    /the API version in the data \(\) does not match the expected API version \(example\.com\/v1\)/,
  ],
  [{ ...thing, apiVersion: 'example.com/v2' }, 400, /\(example\.com\/v2\) does not match the expected/],
  [{ ...thing, metadata: 1 }, 400, /metadata cannot be read/],
  [
    { ...thing, kind: 'Other', metadata: { name: 'a' } },
    422,
    /^Other\.example\.com "a" is invalid: kind: Invalid value: "Other": must be Thing$/,
  ],
];
test.each(refusedCustom)('rejects %j as a custom object', (body, code, message) => {
  expect(refusal(() => decodeObject(custom, body))).toEqual([code, expect.stringMatching(message)]);
});

test('fails on any value only by refusing it, and decodes what it has decoded', () => {
  fc.assert(
    fc.property(fc.anything({ key: fc.constantFrom('metadata', 'data', 'kind', 'name', 'labels') }), body => {
      for (const kind of [configMap, custom]) {
        const code = refusal(() => {
          const once = decodeObject(kind, body);
          expect(decodeObject(kind, once)).toEqual(once);
        })?.[0];
        expect([undefined, 400, 422]).toContain(code);
      }
    }),
    { numRuns: 1000 },
  );
});
