import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ListText } from './list-text.ts';

const managed = [
  { manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a"]}[{': {} } } } },
];

function keep(text: string | Buffer, sizes: readonly number[] = [text.length]): string {
  const list = new ListText('GET /x');
  const bytes = Buffer.from(text);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    list.push(bytes.subarray(at, at + size));
    at += size;
  }
  return list.take();
}

const listOf = (...items: unknown[]) => ({ kind: 'NodeList', apiVersion: 'v1', metadata: { continue: 'x' }, items });

const cuts: [string, unknown, unknown][] = [
  ['last', listOf({ metadata: { name: 'a', managedFields: managed } }), listOf({ metadata: { name: 'a' } })],
  ['first', listOf({ metadata: { managedFields: managed, name: 'a' } }), listOf({ metadata: { name: 'a' } })],
  ['in the middle', listOf({ metadata: { a: 1, managedFields: managed, b: 2 } }), listOf({ metadata: { a: 1, b: 2 } })],
  ['alone', listOf({ metadata: { managedFields: managed } }), listOf({ metadata: {} })],
  ['empty', listOf({ metadata: { a: 1, managedFields: [] } }), listOf({ metadata: { a: 1 } })],
  [
    'of every item',
    listOf(...[1, 2, 3].map(n => ({ metadata: { n, managedFields: managed }, spec: { n } }))),
    listOf(...[1, 2, 3].map(n => ({ metadata: { n }, spec: { n } }))),
  ],
  [
    'of items in a list that begins otherwise',
    { apiVersion: 'v1', items: [{ metadata: { a: 1, managedFields: managed } }], kind: 'XList', metadata: {} },
    { apiVersion: 'v1', items: [{ metadata: { a: 1 } }], kind: 'XList', metadata: {} },
  ],
];
for (const [name, list, want] of cuts) {
  test(`leaves out managedFields ${name}, wherever the chunks end`, () => {
    const text = JSON.stringify(list);
    for (const size of [1, 2, 3, 7, 16, 64, text.length]) expect(JSON.parse(keep(text, [size]))).toEqual(want);
  });
}

const kept: [string, unknown][] = [
  ['a list without it', listOf({ metadata: { name: 'a' }, spec: {} })],
  ['an empty list', listOf()],
  ['managedFields of a template', listOf({ spec: { managedFields: managed } })],
  ['managedFields deeper down', listOf({ spec: { template: { metadata: { managedFields: managed } } } })],
  [
    'managedFields deeper in metadata',
    listOf({ metadata: { annotations: { managedFields: 'x' }, a: { managedFields: [1] } } }),
  ],
  ['managedFields that is no list', listOf({ metadata: { managedFields: { a: [1] }, b: null } })],
  ['a name that only ends alike', listOf({ metadata: { 'x"managedFields': [1], 'x,"managedFields': [2] } })],
  [
    'a parent that only ends alike',
    listOf({ 'x"metadata': { managedFields: [1] }, 'a,"metadata': { managedFields: [2] } }),
  ],
  ['the words in a text', listOf({ metadata: { a: '{"metadata":{"managedFields":[1,2]}}', b: ',"managedFields":[' } })],
  ['a single object', { metadata: { name: 'a', managedFields: managed } }],
  ['a text with quotes and backslashes', listOf({ metadata: { a: '\\"\\\\', b: 'Grüße €𝄞', c: '\\' } })],
  ['something else', [[[[{ managedFields: [1] }]]]]],
];
for (const [name, list] of kept) {
  test(`keeps ${name}`, () => {
    const text = JSON.stringify(list);
    for (const size of [1, 3, 10, text.length]) expect(keep(text, [size])).toBe(text);
  });
}

test('leaves a list with blanks as it is', () => {
  const text = JSON.stringify(listOf({ metadata: { name: 'a', managedFields: managed } }), undefined, 2);
  expect(keep(text, [11])).toBe(text);
});

test('begins again after each text, also after one that was cut off', () => {
  const list = new ListText('GET /x');
  list.push(Buffer.from('{"items":[{"metadata":{"managedFields":[{"a":"'));
  list.take();
  const text = JSON.stringify(listOf({ metadata: { name: 'a', managedFields: managed } }));
  list.push(Buffer.from(text));
  expect(JSON.parse(list.take())).toEqual(listOf({ metadata: { name: 'a' } }));
  expect(list.take()).toBe('');
});

test('grows with the list', () => {
  const items = Array.from({ length: 30 }, (_, n) => ({
    metadata: { n, managedFields: managed },
    x: 'y'.repeat(100_000),
  }));
  const want = JSON.stringify(listOf(...items.map(({ metadata: { n }, x }) => ({ metadata: { n }, x }))));
  expect(keep(JSON.stringify(listOf(...items)), [16_384])).toBe(want);
});

/** Objects as they are, with names that matter put in at random places. */
const anything = fc.object({
  key: fc.oneof(fc.constantFrom('metadata', 'managedFields', 'items', 'a'), fc.string({ maxLength: 4 })),
  maxDepth: 4,
  withNullPrototype: false,
});
const item = fc.record({
  metadata: fc.oneof(anything, fc.record({ managedFields: fc.array(anything) })),
  spec: anything,
});

test('gives what parsing and deleting gives', () => {
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
      (items, sizes) => {
        const text = JSON.stringify(listOf(...items));
        const want = JSON.parse(text) as { items: { metadata: { managedFields?: unknown } }[] };
        for (const { metadata } of want.items) if (Array.isArray(metadata.managedFields)) delete metadata.managedFields;
        expect(JSON.parse(keep(text, sizes))).toEqual(want);
      },
    ),
    { numRuns: 2000 },
  );
});

test('never throws on bytes of any kind', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc
      .array(fc.constantFrom('{', '}', '[', ']', '"', ',', '\\', '"metadata":', '"managedFields":', 'a'))
      .map(parts => Buffer.from(parts.join(''))),
  );
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 9 }), (text, size) => {
      expect(() => keep(Buffer.from(text), [size])).not.toThrow();
    }),
    { numRuns: 2000 },
  );
});
