import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf, within } from '../../../test/kit/outcome.ts';
import { filterOperators, parseJsonPath, type Segment, type Step } from './parse.ts';

const field = (name: string): Step => ({ is: 'field', name });
const path = (...steps: Step[]): Segment => ({ is: 'path', steps });
const text = (words: string): Segment => ({ is: 'text', text: words });
const literal = (value: string | number | boolean): Step => ({ is: 'literal', value });
const slice = (from: number, to: number | undefined, step = 1): Step => ({ is: 'slice', from, to, step });

const accepted: [name: string, template: string, want: Segment[]][] = [
  ['nothing', '', []],
  ['text without braces', 'C:\\k\\kubeconfig', [text('C:\\k\\kubeconfig')]],
  ['text with a closing brace only', 'a}b', [text('a}b')]],
  ['a field', '{.metadata}', [path(field('metadata'))]],
  ['fields in a row', '{.metadata.name}', [path(field('metadata'), field('name'))]],
  ['blanks and tabs around a path', '{ \t.metadata .name }', [path(field('metadata'), field('name'))]],
  ['keys with slash and dash', '{.labels.web/k8s-app}', [path(field('labels'), field('web/k8s-app'))]],
  ['an escaped dot', '{.a.k8s\\.ovn\\.org/x}', [path(field('a'), field('k8s.ovn.org/x'))]],
  ['an escaped bracket, brace and backslash', '{.a\\[b\\}\\\\c}', [path(field('a[b}\\c'))]],
  ['the root by $', '{$.a}', [path(field('a'))]],
  ['the root by @', '{@.a}', [path(field('a'))]],
  ['the root alone', '{$}', [path()]],
  ['an empty action', '{}', [path()]],
  ['a single dot', '{.}', [path()]],
  ['a dot before brackets', '{.[0]}', [path({ is: 'index', index: 0 })]],
  ['a quoted key', "{['a']}", [path(field('a'))]],
  ['a key in double quotes', '{["a"]}', [path(field('a'))]],
  ['a quoted key with an escaped dot', "{.x['a\\.b/c']}", [path(field('x'), field('a.b/c'))]],
  ['a quoted key with a dot as two fields', "{['a.b']}", [path(field('a'), field('b'))]],
  ['a quoted key with a comma and a bracket', "{['a,b]']}", [path(field('a,b]'))]],
  ['a quoted star', "{['*']}", [path({ is: 'every' })]],
  ['an index', '{[0]}', [path({ is: 'index', index: 0 })]],
  ['a negative index', '{.a[-12]}', [path(field('a'), { is: 'index', index: -12 })]],
  ['blanks inside brackets', '{[ 3 ]}', [path({ is: 'index', index: 3 })]],
  ['a slice with all three', '{[1:7:2]}', [path(slice(1, 7, 2))]],
  ['a slice without a start', '{[:2]}', [path(slice(0, 2))]],
  ['a slice without an end', '{[-2:]}', [path(slice(-2, undefined))]],
  ['a slice with only a step', '{[::3]}', [path(slice(0, undefined, 3))]],
  ['a slice with an empty step', '{[0:6:]}', [path(slice(0, 6))]],
  ['every element', '{[*]}', [path(slice(0, undefined))]],
  ['every member', '{.*}', [path({ is: 'every' })]],
  ['a descent', '{..name}', [path({ is: 'descend' }, field('name'))]],
  ['a descent alone', '{..}', [path({ is: 'descend' })]],
  ['a descent with three dots', '{...name}', [path({ is: 'descend' }, field('name'))]],
  ['two descents apart', '{..a..b}', [path({ is: 'descend' }, field('a'), { is: 'descend' }, field('b'))]],
  [
    'a union of indices',
    '{[0,2]}',
    [
      path({
        is: 'union',
        branches: [[{ is: 'index', index: 0 }], [{ is: 'index', index: 2 }]],
      }),
    ],
  ],
  [
    'a union of keys, one of them a path',
    "{['a.b', 'c']}",
    [path({ is: 'union', branches: [[field('a'), field('b')], [field('c')]] })],
  ],
  ['text in double quotes', '{"a{}b"}', [path(literal('a{}b'))]],
  ['text in single quotes', "{'x'}", [path(literal('x'))]],
  [
    'escapes in a quoted text',
    '{"\\n\\t\\r\\\\\\"\\\'\\u00e9\\x41"}',
    [path({ is: 'literal', value: '\n\t\r\\"\'éA' })],
  ],
  ['a number', '{-1.5}', [path(literal(-1.5))]],
  ['a signed number', '{+3}', [path(literal(3))]],
  ['true and false', '{true}{false}', [path(literal(true)), path(literal(false))]],
  ['text between paths', 'a {.b}, {.c}.', [text('a '), path(field('b')), text(', '), path(field('c')), text('.')]],
  [
    'a filter on equality',
    '{.a[?(@.type=="InternalIP")].address}',
    [
      path(
        field('a'),
        { is: 'filter', left: [field('type')], operator: '==', right: [literal('InternalIP')] },
        field('address'),
      ),
    ],
  ],
  [
    'a filter with blanks and without @',
    '{[?( .x >= 3 )]}',
    [path({ is: 'filter', left: [field('x')], operator: '>=', right: [literal(3)] })],
  ],
  [
    'a filter on the element itself',
    '{[?(@<5)]}',
    [path({ is: 'filter', left: [], operator: '<', right: [literal(5)] })],
  ],
  [
    'a filter whose text holds a parenthesis and a bracket',
    '{[?(@.a==")]")]}',
    [path({ is: 'filter', left: [field('a')], operator: '==', right: [literal(')]')] })],
  ],
  [
    'a filter that compares two fields',
    '{[?(@.a!=@.b)]}',
    [path({ is: 'filter', left: [field('a')], operator: '!=', right: [field('b')] })],
  ],
  ['a filter on existence', '{[?(@.z)].id}', [path({ is: 'exists', path: [field('z')] }, field('id'))]],
  [
    'a filter inside a filter',
    '{[?(@.l[?(@.x)])]}',
    [path({ is: 'exists', path: [field('l'), { is: 'exists', path: [field('x')] }] })],
  ],
  [
    'a range',
    '{range .items[*]}{.name}, {end}x',
    [
      {
        is: 'range',
        over: [field('items'), slice(0, undefined)],
        body: [path(field('name')), text(', ')],
      },
      text('x'),
    ],
  ],
  [
    'a range inside a range',
    '{range .a}{range .b}{end}y{ end }',
    [{ is: 'range', over: [field('a')], body: [{ is: 'range', over: [field('b')], body: [] }, text('y')] }],
  ],
];
for (const [name, template, want] of accepted) {
  test(`parses ${name}`, () => expect(parseJsonPath(template)).toEqual({ template, segments: want }));
}

test.each(filterOperators)('knows the filter operator %s', operator => {
  expect(parseJsonPath(`{[?(@.a${operator}1)]}`).segments).toEqual([
    path({ is: 'filter', left: [field('a')], operator, right: [literal(1)] }),
  ]);
});

const refused: [name: string, template: string, hint: string][] = [
  ['an action that is not closed', '{.a', 'lacks "}"'],
  ['an action with a line break', '{.a\n}', 'lacks "}"'],
  ['an opening brace in an action', '{.a{', 'lacks "}"'],
  ['a word that is none', '{hello}', 'unknown word "hello"'],
  ['a word that only begins like one', '{ranges .a}{end}', 'unknown word "ranges"'],
  ['two descents in a row', '{....a}', 'twice in a row'],
  ['a bracket that is not closed', '{.a[0}', 'lacks "]"'],
  ['an empty bracket', '{.a[]}', 'invalid index ""'],
  ['a name without quotes in brackets', '{.a[b]}', 'invalid index ""'],
  ['an index with a plus', '{[+1]}', 'invalid index "+1"'],
  ['an index of ten digits', '{[1234567890]}', 'invalid index "1234567890"'],
  ['a slice of four', '{[1:2:3:4]}', 'invalid index'],
  ['a half union', '{[0,]}', 'invalid index ""'],
  ['a quote that is not closed', '{"abc}', 'quote that is not closed'],
  ['a key that is not closed', "{['abc]}", 'quote that is not closed'],
  ['an unknown escape', '{"\\q"}', 'unknown escape'],
  ['a filter that is not closed', '{[?(@.a==1}', 'at the end of the filter'],
  ['a filter without its bracket', '{[?(@.a==1)}', 'at the end of the filter'],
  ['an unknown operator', '{[?(@.a<>1)]}', 'unknown filter operator "<>"'],
  ['a regular expression', "{[?(@.a=~'x')]}", 'filter'],
  ['an assignment', '{[?(@.a=1)]}', 'unknown filter operator "="'],
  ['an end without a range', 'x{end}', '{end} without {range}'],
  ['an end with more', '{range .a}{end .b}', '"}" after end'],
  ['a range without an end', '{range .a}{.b}', '{range} without {end}'],
  ['a comma outside of brackets', '{.a,.b}', 'lacks "}"'],
  ['a template of 4097 characters', 'x'.repeat(4097), 'longer than 4096'],
  ['filters nested too deep', `{${'[?(@'.repeat(17)}`, 'nests filters'],
  ['ranges nested too deep', '{range .a}'.repeat(16), 'nests {range}'],
];
for (const [name, template, hint] of refused) {
  test(`rejects ${name}`, () => {
    const error = errorOf(() => parseJsonPath(template));
    expect(error).toMatchObject({ code: 'JSONPATH_INVALID', remedy: expect.stringContaining('kubectl') });
    expect(error?.message).toContain(hint);
    expect(error?.message).toContain(JSON.stringify(template).slice(0, 20));
  });
}

test('takes a template of exactly 4096 characters', () => {
  expect(parseJsonPath('x'.repeat(4096)).segments).toHaveLength(1);
});

test('takes filters nested sixteen deep', () => {
  const template = `{${'[?(@'.repeat(16)}.a${')]'.repeat(16)}}`;
  expect(parseJsonPath(template).segments).toHaveLength(1);
});

test('reports the position of a syntax error', () => {
  expect(errorOf(() => parseJsonPath('{.metadata.name'))?.message).toContain('at character 16');
});

test('reads any text without an opening brace as itself', () => {
  const plain = fc.string().filter(words => words !== '' && !words.includes('{'));
  fc.assert(
    fc.property(plain, words => {
      expect(parseJsonPath(words).segments).toEqual([text(words)]);
    }),
    { numRuns: 2000 },
  );
});

test('finds every key again that was escaped', () => {
  const escaped = (key: string) => key.replaceAll(/[^A-Za-z0-9]/g, '\\$&');
  const key = fc.string({ minLength: 1 });
  fc.assert(
    fc.property(key, name => {
      expect(parseJsonPath(`{.${escaped(name)}}`).segments).toEqual([path(field(name))]);
    }),
    { numRuns: 2000 },
  );
});

/** Pieces from which nearly valid templates are made: far more telling than random characters. */
const piece = fc.constantFrom(
  ...'{ } [ ] [?( )] . .. * @ $ , : -1 0 \'a\' "b" \\ == < != true range end .a .b\\.c {.a} {end} {range text \' "'.split(
    ' ',
  ),
  ' ',
  '\n',
  '{range .a[*]}',
);

test('never throws anything but an AppError, and never takes long', () => {
  const template = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 40 }).map(parts => parts.join('')),
  );
  fc.assert(
    fc.property(template, words => {
      const error = within(50, () => errorOf(() => parseJsonPath(words)));
      if (error !== undefined) expect(error.code).toBe('JSONPATH_INVALID');
    }),
    { numRuns: 2000 },
  );
});

test.each([['{'], ['['], ['[?('], ['..'], ['"'], ['\\'], ['{range .a}'], ["['a',"], ['{[0,'], [' '], ['@']])(
  'is quick with a long row of %j',
  part => {
    const template = `{${part.repeat(4095 / part.length)}`;
    within(50, () => errorOf(() => parseJsonPath(template)));
  },
);
