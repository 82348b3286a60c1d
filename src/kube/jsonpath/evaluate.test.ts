import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf, within } from '../../../test/kit/outcome.ts';
import { evaluateJsonPath, type MissingKeys } from './evaluate.ts';
import { parseJsonPath } from './parse.ts';
import { jsonPathText } from '../../../test/kit/json-path-text.ts';

const node = {
  metadata: {
    name: 'win-1',
    labels: { 'kubernetes.io/os': 'windows', zone: 'b', arch: 'amd64' },
    annotations: { 'k8s.ovn.org/hybrid-overlay-node-subnet': '10.132.0.0/24', empty: '' },
  },
  spec: { unschedulable: false, taints: null },
  status: {
    capacity: { cpu: 4, memory: 16.5 },
    addresses: [
      { type: 'InternalIP', address: '10.0.0.4' },
      { type: 'Hostname', address: 'win-1' },
      { type: 'InternalIP', address: '10.0.0.5' },
    ],
    conditions: [
      { type: 'Ready', status: 'True', age: 10 },
      { type: 'DiskPressure', status: 'False', age: 3 },
    ],
  },
};
const numbers = [0, 1, 2, 3, 4, 5];

const find = (template: string, data: unknown = node, missing?: MissingKeys) =>
  evaluateJsonPath(parseJsonPath(template), data, missing);

const found: [name: string, template: string, data: unknown, want: unknown[][]][] = [
  ['no segment in nothing', '', node, []],
  ['the text itself', 'C:\\k', node, [['C:\\k']]],
  ['a field', '{.metadata.name}', node, [['win-1']]],
  ['a key with dots and a slash', '{.metadata.labels.kubernetes\\.io/os}', node, [['windows']]],
  ['a quoted key with dots', "{.metadata.labels['kubernetes\\.io/os']}", node, [['windows']]],
  ['an empty text', '{.metadata.annotations.empty}', node, [['']]],
  ['false', '{.spec.unschedulable}', node, [[false]]],
  ['null where the field is null', '{.spec.taints}', node, [[null]]],
  ['the root', '{$}', 7, [[7]]],
  ['the root by a dot', '{.}', 7, [[7]]],
  ['an element', '{[2]}', numbers, [[2]]],
  ['the last element', '{[-1]}', numbers, [[5]]],
  ['the first element from the end', '{[-6]}', numbers, [[0]]],
  ['a slice', '{[1:4]}', numbers, [[1, 2, 3]]],
  ['a slice from the start', '{[:2]}', numbers, [[0, 1]]],
  ['a slice to the end', '{[4:]}', numbers, [[4, 5]]],
  ['a slice with a negative start', '{[-2:]}', numbers, [[4, 5]]],
  ['a slice with a negative end', '{[0:-4]}', numbers, [[0, 1]]],
  ['a slice with a step', '{[1:6:2]}', numbers, [[1, 3, 5]]],
  ['a slice with a large step', '{[0:6:9]}', numbers, [[0]]],
  ['nothing in a slice of no length', '{[0:0]}', numbers, [[]]],
  ['nothing in a slice of no length behind the end', '{[9:9]}', numbers, [[]]],
  ['nothing in a slice of no length before the start', '{[-9:-9]}', numbers, [[]]],
  ['every element', '{[*]}', numbers, [numbers]],
  ['no element of an empty list', '{[*]}', [], [[]]],
  ['every member, by name', '{.metadata.labels.*}', node, [['amd64', 'windows', 'b']]],
  ['every element by .*', '{.*}', numbers, [numbers]],
  ['no member of a text', '{.metadata.name.*}', node, [[]]],
  ['a field of every element', '{.status.addresses[*].type}', node, [['InternalIP', 'Hostname', 'InternalIP']]],
  ['a field only some elements have', '{[*].b}', [{ a: 1 }, { b: 2 }], [[2]]],
  ['a union of indices in the order asked', '{[3,0]}', numbers, [[3, 0]]],
  ['a union of slices', '{[0:2,5]}', numbers, [[0, 1, 5]]],
  ['a union of keys', "{.metadata['name','labels.zone']}", node, [['win-1', 'b']]],
  ['all names below', '{..type}', node.status, [['InternalIP', 'Hostname', 'InternalIP', 'Ready', 'DiskPressure']]],
  ['containers only when descending', '{..}', [1, [2], []], [[[1, [2], []], [2]]]],
  ['a match of a text', '{.status.addresses[?(@.type=="Hostname")].address}', node, [['win-1']]],
  ['several matches', "{.status.addresses[?(@.type=='InternalIP')].address}", node, [['10.0.0.4', '10.0.0.5']]],
  ['what is not equal', '{.status.addresses[?(@.type!="InternalIP")].address}', node, [['win-1']]],
  ['what is less', '{[?(@<2)]}', numbers, [[0, 1]]],
  ['what is at most', '{[?(@<=2)]}', numbers, [[0, 1, 2]]],
  ['what is greater', '{[?(@>4)]}', numbers, [[5]]],
  ['what is at least', '{[?(@>=4)]}', numbers, [[4, 5]]],
  ['what is less as a text', '{[?(@<"b")]}', ['a', 'b', 'B'], [['a', 'B']]],
  [
    'what is true',
    '{[?(@.ok==true)].n}',
    [
      { ok: true, n: 1 },
      { ok: false, n: 2 },
    ],
    [[1]],
  ],
  ['what has a field', '{[?(@.b)].n}', [{ n: 1 }, { b: 0, n: 2 }, { b: null, n: 3 }], [[2, 3]]],
  ['what has an element', '{[?(@[1])]}', [[1], [1, 2]], [[[1, 2]]]],
  [
    'what equals another field',
    '{[?(@.a==@.b)].a}',
    [
      { a: 1, b: 1 },
      { a: 1, b: 2 },
    ],
    [[1]],
  ],
  [
    'a match deep below',
    '{[?(@..ready==true)].n}',
    [
      { n: 1, s: { ready: true } },
      { n: 2, s: { ready: false } },
    ],
    [[1]],
  ],
  ['a literal', '{"a"}{3}{true}', node, [['a'], [3], [true]]],
  ['one list per segment', 'x{.metadata.name}y', node, [['x'], ['win-1'], ['y']]],
  ['a repeated part', '{range [0:2]}{@}-{end}.', numbers, [[0], ['-'], [1], ['-'], ['.']]],
  ['nothing in a range over nothing', '{range .items[*]}{.metadata.name}{end}', { items: [] }, []],
  [
    'a range inside a range',
    '{range .a[*]}{.n}{range .b[*]}{@}{end}{end}',
    {
      a: [
        { n: 'x', b: [1, 2] },
        { n: 'y', b: [] },
      ],
    },
    [['x'], [1], [2], ['y']],
  ],
  ['own members only', '{[?(@.toString)]}', [{}, { toString: 1 }], [[{ toString: 1 }]]],
];
for (const [name, template, data, want] of found)
  test(`finds ${name}`, () => expect(find(template, data)).toEqual(want));

const missing: [name: string, template: string, data: unknown, hint: string][] = [
  ['a missing field', '{.metadata.uid}', node, '"uid" is not found'],
  ['a missing field of every element', '{[*].b}', [{ a: 1 }], '"b" is not found'],
  ['a field of null', '{.spec.taints.key}', node, '"key" is not found'],
  ['a field of a text', '{.metadata.name.length}', node, '"length" is not found'],
  ['a field of a list', '{.status.addresses.type}', node, '"type" is not found'],
  ['an inherited member', '{.constructor}', node, '"constructor" is not found'],
  ['a filter on a missing field', '{[?(@.a==1)]}', [{}], '"a" is not found'],
];
for (const [name, template, data, hint] of missing) {
  test(`rejects ${name}, or skips it when asked to`, () => {
    expect(errorOf(() => find(template, data))).toMatchObject({
      code: 'JSONPATH_NO_VALUE',
      message: expect.stringContaining(hint),
    });
    expect(find(template, data, 'skip')).toEqual([[]]);
  });
}

const refused: [name: string, template: string, data: unknown, hint: string][] = [
  ['an index behind the end', '{[6]}', numbers, 'index 6 is outside of a list of length 6'],
  ['an index before the start', '{[-7]}', numbers, 'index -7'],
  ['an index of an object', '{.metadata[0]}', node, 'is not a list'],
  ['every element of an object', '{.metadata.labels[*]}', node, 'is not a list'],
  ['a filter on an object', '{.metadata[?(@.a)]}', node, 'is not a list'],
  ['a slice behind the end', '{[2:9]}', numbers, 'slice 2:9'],
  ['a slice that runs backwards', '{[3:1]}', numbers, 'slice 3:1'],
  ['a slice from the end to the start', '{[-1:0]}', numbers, 'slice -1:0'],
  ['a step of nothing', '{[0:6:0]}', numbers, 'step of a slice is 0'],
  ['a step backwards', '{[0:6:-1]}', numbers, 'step of a slice is -1'],
  ['a comparison of two kinds', '{[?(@.a=="1")]}', [{ a: 1 }], '1 cannot be compared with "1"'],
  ['a comparison with an object', '{[?(@=="1")]}', [{}], '{} cannot be compared'],
  ['a comparison of many values', '{[?(@.l[*]==1)]}', [{ l: [1, 2] }], 'more than one value'],
];
for (const [name, template, data, hint] of refused) {
  test.each<MissingKeys>(['refuse', 'skip'])(`refuses ${name} (missing keys: %s)`, missingKeys => {
    const error = errorOf(() => find(template, data, missingKeys));
    expect(error).toMatchObject({ code: 'JSONPATH_NO_VALUE', remedy: expect.stringContaining('kubectl') });
    expect(error?.message).toContain(hint);
    expect(error?.message).toContain(JSON.stringify(template));
  });
}

const printed: [name: string, template: string, data: unknown, want: string][] = [
  ['text', 'hello', null, 'hello'],
  ['values with blanks between', '{[*]}', ['a', 1, true], 'a 1 true'],
  ['objects and lists as JSON', '{.a} {.b}', { a: { x: 1 }, b: [1, 'y'] }, '{"x":1} [1,"y"]'],
  ['nothing for a missing field', 'before-{.hello}after', {}, 'before-after'],
  ['null', '{.a}', { a: null }, '<nil>'],
  ['a fraction', '{.status.capacity.memory}', node, '16.5'],
  ['a brace in quotes', '{"{"}{.metadata.name}{"}"}', node, '{win-1}'],
  [
    'lines of a range',
    '{range .status.addresses[*]}{.type}{"\\t"}{.address}{"\\n"}{end}',
    node,
    'InternalIP\t10.0.0.4\nHostname\twin-1\nInternalIP\t10.0.0.5\n',
  ],
  ['a range with a filter', '{range .status.conditions[?(.age>5)]}{.type}{end}', node, 'Ready'],
];
for (const [name, template, data, want] of printed) {
  test(`prints ${name}`, () => expect(jsonPathText(template, data)).toBe(want));
}

test.each([
  ['nested ranges', '{range ..}'.repeat(12) + '{end}'.repeat(12)],
  ['unions of everything', `{${"['','','','']".repeat(100)}}`],
  ['filters that always hold', `{..${'[?(@)]'.repeat(3)}}`],
])('stops %s before they take long', (_, template) => {
  const list = [numbers, [numbers, [numbers, [numbers, numbers]]], { a: numbers, b: { c: numbers } }];
  const wide = { a: list, b: list, c: list, d: [list, list, list] };
  const error = within(500, () => errorOf(() => find(template, wide, 'skip')));
  expect(error?.code).toBe('JSONPATH_NO_VALUE');
});

test('evaluates a list of fifty thousand', () => {
  expect(
    find(
      '{[-1]}',
      Array.from({ length: 50_000 }, (_, index) => index),
    ),
  ).toEqual([[49_999]]);
});

test('reads data nested ten thousand deep', () => {
  let deep: unknown = 'bottom';
  for (let depth = 0; depth < 10_000; depth += 1) deep = { a: deep };
  expect(find('{..a}', deep)[0]).toHaveLength(10_000);
});

test('leaves the data as they are', () => {
  const before = structuredClone(node);
  find('{..*}', node);
  expect(node).toEqual(before);
});

const key = fc.constantFrom('a', 'b', 'c.d', 'type');
const data = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(null, true, 0, 1, 'x', ''),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value;
const step = fc.constantFrom(
  ...`.a .b .c\\.d ['a'] ['a','b'] [0] [-1] [*] [0:2] [::2] .* .. ..a [0,1]`.split(' '),
  ...`[?(@.a)] [?(@.a==1)] [?(@.type!="x")] [?(@>0)] [?(@.a<@.b)]`.split(' '),
);
const template = fc
  .array(fc.array(step, { maxLength: 6 }), { maxLength: 4 })
  .map(actions => actions.map(steps => `{${steps.join('')}}`).join(' '));

test('never throws anything but an AppError on any data, and never takes long', () => {
  fc.assert(
    fc.property(template, data, (words, value) => {
      const error = within(50, () => errorOf(() => jsonPathText(words, value)));
      expect(['JSONPATH_INVALID', 'JSONPATH_NO_VALUE', undefined]).toContain(error?.code);
    }),
    { numRuns: 2000 },
  );
});

test('gives the same values for any order of members', () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([name, member]) => [name, reversed(member)]),
    );
  };
  fc.assert(
    fc.property(template, data, (words, value) => {
      const [one, other] = [value, reversed(value)].map(item => {
        let result: unknown;
        const error = errorOf(() => (result = evaluateJsonPath(parseJsonPath(words), item, 'skip')));
        return error?.code ?? result;
      });
      expect(one).toEqual(other);
    }),
    { numRuns: 500 },
  );
});
