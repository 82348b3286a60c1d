import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { StatusError } from '../status.ts';
import { jsonPatch } from './json-patch.ts';

const applied: [string, unknown, unknown, unknown][] = [
  // The examples of RFC 6902, appendix A.
  ['adds a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { foo: 'bar', baz: 'qux' }],
  ['adds an item', { foo: ['a', 'b'] }, [{ op: 'add', path: '/foo/1', value: 'x' }], { foo: ['a', 'x', 'b'] }],
  ['removes a member', { baz: 1, foo: 2 }, [{ op: 'remove', path: '/baz' }], { foo: 2 }],
  ['removes an item', { foo: ['a', 'b', 'c'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['a', 'c'] }],
  ['replaces a value', { baz: 1, foo: 2 }, [{ op: 'replace', path: '/baz', value: 3 }], { baz: 3, foo: 2 }],
  [
    'moves a value',
    { foo: { bar: 1, waldo: 2 }, qux: { corge: 3 } },
    [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    { foo: { bar: 1 }, qux: { corge: 3, thud: 2 } },
  ],
  [
    'moves an item',
    { foo: ['a', 'b', 'c'] },
    [{ op: 'move', from: '/foo/1', path: '/foo/2' }],
    { foo: ['a', 'c', 'b'] },
  ],
  ['adds an object', { foo: 1 }, [{ op: 'add', path: '/child', value: { a: {} } }], { foo: 1, child: { a: {} } }],
  ['adds a list to a list', { foo: ['a'] }, [{ op: 'add', path: '/foo/-', value: ['b'] }], { foo: ['a', ['b']] }],
  ['tests a value', { baz: 'qux', foo: [1] }, [{ op: 'test', path: '/foo/0', value: 1 }], { baz: 'qux', foo: [1] }],
  ['tests an escaped name', { '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '~1': 10 }],
  ['ignores members nobody knows', { a: 1 }, [{ op: 'add', path: '/b', value: 2, xyz: 3 }], { a: 1, b: 2 }],
  // More of each operation.
  ['adds over what is there', { a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
  ['adds null for a missing value', {}, [{ op: 'add', path: '/a' }], { a: null }],
  ['adds at the end by its number', { l: [1] }, [{ op: 'add', path: '/l/1', value: 2 }], { l: [1, 2] }],
  ['adds at the start', { l: [1] }, [{ op: 'add', path: '/l/0', value: 0 }], { l: [0, 1] }],
  ['adds to an empty list', { l: [] }, [{ op: 'add', path: '/l/0', value: 1 }], { l: [1] }],
  ['counts from the end', { l: [1, 2] }, [{ op: 'add', path: '/l/-1', value: 3 }], { l: [1, 2, 3] }],
  ['counts far from the end', { l: [1, 2] }, [{ op: 'add', path: '/l/-3', value: 0 }], { l: [0, 1, 2] }],
  ['removes from the end', { l: [1, 2] }, [{ op: 'remove', path: '/l/-1' }], { l: [1] }],
  ['replaces from the end', { l: [1, 2] }, [{ op: 'replace', path: '/l/-2', value: 0 }], { l: [0, 2] }],
  ['adds deep inside lists', { l: [{ a: {} }] }, [{ op: 'add', path: '/l/0/a/b', value: 1 }], { l: [{ a: { b: 1 } }] }],
  ['adds a label with a slash', { l: {} }, [{ op: 'add', path: '/l/a~1b', value: 'x' }], { l: { 'a/b': 'x' } }],
  ['copies a value', { a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/c' }], { a: { b: 1 }, c: { b: 1 } }],
  ['copies into itself', { a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/a/c' }], { a: { b: 1, c: { b: 1 } } }],
  ['copies an item to the end', { l: [1] }, [{ op: 'copy', from: '/l/0', path: '/l/-' }], { l: [1, 1] }],
  ['moves a value to itself', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
  ['moves a value up', { a: { b: { c: 1 } } }, [{ op: 'move', from: '/a/b', path: '/a' }], { a: { c: 1 } }],
  [
    'tests whatever the order of members',
    { a: { b: 1, c: 2 } },
    [{ op: 'test', path: '/a', value: { c: 2, b: 1 } }],
    null,
  ],
  ['tests the whole document', { a: 1 }, [{ op: 'test', path: '', value: { a: 1 } }], { a: 1 }],
  ['takes a missing member for null', { a: {} }, [{ op: 'test', path: '/a/b', value: null }], { a: {} }],
  ['takes a missing value for null', { a: null }, [{ op: 'test', path: '/a' }], { a: null }],
  ['does nothing with no operations', { a: 1 }, [], { a: 1 }],
  ['does nothing with null', { a: 1 }, null, { a: 1 }],
  [
    'sees what operations before it have done',
    {},
    [
      { op: 'add', path: '/a', value: {} },
      { op: 'add', path: '/a/b', value: [1] },
      { op: 'test', path: '/a/b/0', value: 1 },
      { op: 'move', from: '/a/b', path: '/c' },
      { op: 'remove', path: '/a' },
    ],
    { c: [1] },
  ],
];

test.each(applied)('%s', (_name, document, patch, want) => {
  expect(jsonPatch(document, patch)).toEqual(want ?? document);
});

const inapplicable: [string, unknown, unknown][] = [
  ['a test that fails', { a: 1 }, { op: 'test', path: '/a', value: 2 }],
  ['a test of a text against a number', { a: '1' }, { op: 'test', path: '/a', value: 1 }],
  ['a test of a missing item', { l: [] }, { op: 'test', path: '/l/0', value: null }],
  ['a test of the end of a list', { l: [1] }, { op: 'test', path: '/l/-', value: 1 }],
  ['a test below a missing member', {}, { op: 'test', path: '/a/b', value: null }],
  ['a test of the document', { a: 1 }, { op: 'test', path: '', value: {} }],
  ['a remove of a missing member', { a: 1 }, { op: 'remove', path: '/b' }],
  ['a remove of a missing item', { l: [1] }, { op: 'remove', path: '/l/1' }],
  ['a remove of the end of a list', { l: [1] }, { op: 'remove', path: '/l/-' }],
  ['a remove of what objects inherit', {}, { op: 'remove', path: '/toString' }],
  ['a replace of a missing member', { a: 1 }, { op: 'replace', path: '/b', value: 1 }],
  ['a replace of a missing item', { l: [] }, { op: 'replace', path: '/l/0', value: 1 }],
  ['a replace of the end of a list', { l: [] }, { op: 'replace', path: '/l/-', value: 1 }],
  ['an add below a missing member', {}, { op: 'add', path: '/a/b', value: 1 }],
  ['an add below a text', { a: 'x' }, { op: 'add', path: '/a/b', value: 1 }],
  ['an add below null', { a: null }, { op: 'add', path: '/a/b', value: 1 }],
  ['an add beyond the end', { l: [] }, { op: 'add', path: '/l/1', value: 1 }],
  ['an add before the start', { l: [1] }, { op: 'add', path: '/l/-3', value: 1 }],
  ['an add to a list by name', { l: [] }, { op: 'add', path: '/l/x', value: 1 }],
  ['an add that replaces the document', { a: 1 }, { op: 'add', path: '', value: {} }],
  ['a remove of the document', { a: 1 }, { op: 'remove', path: '' }],
  ['a move of a missing member', { a: 1 }, { op: 'move', from: '/b', path: '/c' }],
  ['a move into itself', { a: { b: 1 } }, { op: 'move', from: '/a', path: '/a/b/c' }],
  ['a move without a source', { a: 1 }, { op: 'move', path: '/c' }],
  ['a copy of a missing member', { a: 1 }, { op: 'copy', from: '/b', path: '/c' }],
  ['a copy without a source', { a: 1 }, { op: 'copy', path: '/c' }],
  ['an operation nobody knows', { a: 1 }, { op: 'frob', path: '/a', value: 1 }],
  ['an operation without a name', { a: 1 }, { path: '/a', value: 1 }],
  ['an operation whose name is no text', { a: 1 }, { op: 1, path: '/a', value: 1 }],
  ['an operation without a path', { a: 1 }, { op: 'add', value: 1 }],
  ['a path that is no text', { a: 1 }, { op: 'add', path: 5, value: 1 }],
  ['a path without a leading slash', { a: 1 }, { op: 'add', path: 'a', value: 1 }],
];

test.each(inapplicable)('rejects %s', (_name, document, operation) => {
  const message = 'the server rejected our request due to an error in our request';
  const status = { code: 422, reason: 'Invalid', message, details: {} };
  expect(statusOf(document, [operation])).toEqual(status);
});

const malformed: [string, unknown][] = [
  ['an object', { op: 'add' }],
  ['a text', 'x'],
  ['a number', 5],
  ['a list of numbers', [1]],
  ['a list of lists', [[]]],
  ['a list with a null', [null]],
];

test.each(malformed)('rejects %s for a patch', (_name, body) => {
  expect(statusOf({}, body)).toMatchObject({ code: 400, reason: 'BadRequest' });
});

test('changes nothing if the last operation fails', () => {
  const document = { a: 1 };
  const patch = [
    { op: 'add', path: '/b', value: 1 },
    { op: 'test', path: '/a', value: 2 },
  ];
  expect(statusOf(document, patch)).toMatchObject({ code: 422 });
  expect(document).toEqual({ a: 1 });
});

test('treats a member named __proto__ like any other', () => {
  const result = jsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]);
  expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  expect(Object.hasOwn(result as object, '__proto__')).toBe(true);
});

test('leaves a frozen document alone', () => {
  const document = Object.freeze({ l: Object.freeze([1, 2]), o: Object.freeze({ a: 1 }) });
  const patch = [
    { op: 'remove', path: '/l/0' },
    { op: 'replace', path: '/o/a', value: 2 },
  ];
  expect(jsonPatch(document, patch)).toEqual({ l: [2], o: { a: 2 } });
  expect(document).toEqual({ l: [1, 2], o: { a: 1 } });
});

/** A second implementation that changes a copy in place and knows no negative numbers. */
function naive(document: unknown, operations: readonly Operation[]): unknown {
  const root = { root: structuredClone(document) };
  for (const operation of operations) applyInPlace(root, operation);
  return root.root;
}

interface Operation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  path: string;
  from: string;
  value: unknown;
}

type Box = Record<string, unknown>;

function applyInPlace(root: Box, { op, path, from, value }: Operation): void {
  if (op === 'move' || op === 'copy') {
    const [source, key] = place(root, from);
    if (!present(source, key)) throw new Error('no source');
    const copy = structuredClone(source[key]);
    if (op === 'move') takeAway(source, key);
    applyInPlace(root, { op: 'add', path, from, value: copy });
    return;
  }
  const [parent, key] = place(root, path);
  if (op === 'add') return addInPlace(parent, key, value);
  if (op === 'test') {
    const actual = Array.isArray(parent) && !present(parent, key) ? undefined : (parent[key] ?? null);
    expect(actual).toEqual(value);
    return;
  }
  if (!present(parent, key)) throw new Error('nothing there');
  if (op === 'remove') takeAway(parent, key);
  else parent[key] = structuredClone(value);
}

function addInPlace(parent: Box, key: string, value: unknown): void {
  if (!Array.isArray(parent)) {
    parent[key] = structuredClone(value);
    return;
  }
  const index = key === '-' ? parent.length : Number(key);
  if (!/^(-|\d+)$/.test(key) || index > parent.length) throw new Error('no place');
  parent.splice(index, 0, structuredClone(value));
}

function place(root: Box, path: string): [Box, string] {
  const tokens = path.split('/').slice(1);
  const key = tokens.pop() ?? '';
  let parent = root['root'];
  for (const token of tokens) {
    if (!present(parent as Box, token)) throw new Error('no parent');
    parent = (parent as Box)[token];
  }
  if (typeof parent !== 'object' || parent === null || path === '') throw new Error('no container');
  return [parent as Box, key];
}

function present(container: Box, key: string): boolean {
  if (typeof container !== 'object' || container === null) return false;
  return Object.hasOwn(container, key) && (!Array.isArray(container) || /^\d+$/.test(key));
}

function takeAway(container: Box, key: string): void {
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete container[key];
}

const leaf = fc.constantFrom(1, 'x', null, true);
const value = fc.letrec(tie => ({
  any: fc.oneof({ maxDepth: 3 }, leaf, tie('list'), tie('object')),
  list: fc.array(tie('any'), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom('a', 'b'), tie('any'), { maxKeys: 2 }),
}));
const token = fc.constantFrom('a', 'b', '0', '1', '2', '-');
const path = fc.array(token, { minLength: 1, maxLength: 3 }).map(tokens => `/${tokens.join('/')}`);
const operation = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
  path,
  from: path,
  value: value.any,
}) as fc.Arbitrary<Operation>;

test('does what a naive implementation does, or rejects what that cannot do', () => {
  fc.assert(
    fc.property(value.object, fc.array(operation, { maxLength: 4 }), (document, operations) => {
      const want = outcome(() => naive(document, operations));
      expect(outcome(() => jsonPatch(document, operations))).toEqual(want);
    }),
    { numRuns: 5000 },
  );
});

test('throws only StatusErrors', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (document, body) => {
      try {
        jsonPatch(document, body);
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError);
      }
    }),
    { numRuns: 2000 },
  );
});

function outcome(run: () => unknown): unknown {
  try {
    return { result: run() };
  } catch {
    return 'refused';
  }
}

function statusOf(document: unknown, body: unknown): unknown {
  try {
    return jsonPatch(document, body);
  } catch (error) {
    return (error as StatusError).status;
  }
}
