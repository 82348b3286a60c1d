import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { configKeyProblems, labelKeyProblem, labelValueProblem, type NameRule, nameProblems } from './names.ts';

const good: [NameRule, string][] = [
  ['subdomain', 'a'],
  ['subdomain', 'a.b-c.1'],
  ['subdomain', '0'],
  ['subdomain', 'a'.repeat(253)],
  ['label', 'a-b'],
  ['label', '1a'],
  ['label', 'a'.repeat(63)],
  ['dns1035', 'a1'],
  ['dns1035', 'a-1'],
  ['path', 'system:node:a'],
  ['path', 'A B'],
  ['path', 'a.b'],
];
test.each(good)('%s takes the name %s', (rule, name) => expect(nameProblems(rule, name)).toEqual([]));

const bad: [NameRule, string, RegExp][] = [
  ['subdomain', '', /^a lowercase RFC 1123 subdomain must consist of/],
  ['subdomain', 'A', /^a lowercase RFC 1123 subdomain must consist of/],
  ['subdomain', 'a_b', /\(e\.g\. 'example\.com', regex used for validation is '/],
  ['subdomain', '-a', /must start and end with an alphanumeric character/],
  ['subdomain', 'a-', /must start and end with an alphanumeric character/],
  ['subdomain', 'a..b', /^a lowercase RFC 1123 subdomain/],
  ['subdomain', 'a\n', /^a lowercase RFC 1123 subdomain/],
  ['label', 'a.b', /^must not contain dots$/],
  ['label', 'A.b', /^a lowercase RFC 1123 label must consist of/],
  ['label', 'a b', /\(e\.g\. 'my-name',  or '123-abc', regex used for validation is '\[a-z0-9\]/],
  ['dns1035', '1a', /^a DNS-1035 label must consist of/],
  ['path', '.', /^may not be '\.'$/],
  ['path', '..', /^may not be '\.\.'$/],
  ['path', 'a/b', /^may not contain '\/'$/],
  ['path', 'a%b', /^may not contain '%'$/],
];
test.each(bad)('%s rejects the name %j', (rule, name, message) => {
  expect(nameProblems(rule, name)).toEqual([expect.stringMatching(message)]);
});

const tooLong: [NameRule, number][] = [
  ['subdomain', 253],
  ['label', 63],
  ['dns1035', 63],
];
test.each(tooLong)('%s rejects more than %i characters', (rule, most) => {
  expect(nameProblems(rule, 'a'.repeat(most))).toEqual([]);
  expect(nameProblems(rule, 'a'.repeat(most + 1))).toEqual([`must be no more than ${most} characters`]);
});

test('reports all problems of a path', () => {
  expect(nameProblems('path', 'a/b%c')).toEqual(["may not contain '/'", "may not contain '%'"]);
});

const prefixes: [NameRule, string, number][] = [
  ['subdomain', 'a-', 0],
  ['subdomain', 'a.', 1],
  ['subdomain', '-', 1],
  ['label', 'abc-', 0],
  ['dns1035', 'a-', 0],
  ['path', '.', 0],
];
test.each(prefixes)('%s finds %j as the beginning of a name to have %i problems', (rule, name, count) => {
  expect(nameProblems(rule, name, true)).toHaveLength(count);
});

const labelKeys: [string, RegExp | undefined][] = [
  ['a', undefined],
  ['A_b.c-d', undefined],
  ['example.com/a', undefined],
  ['a'.repeat(63), undefined],
  [`${'a'.repeat(253)}/b`, undefined],
  ['', /^name part must be non-empty; name part must consist of/],
  ['/a', /^prefix part must be non-empty$/],
  ['a/', /^name part must be non-empty/],
  ['-a', /^name part must consist of alphanumeric characters/],
  ['a b', /'MyName',  or 'my\.name',  or '123-abc'/],
  ['a'.repeat(64), /^name part must be no more than 63 characters$/],
  ['A.b/c', /^prefix part a lowercase RFC 1123 subdomain/],
  ['a/b/c', /^a qualified name must consist of .* with an optional DNS subdomain prefix and '\/'/],
];
test.each(labelKeys)('judges the label key %s', (key, problem) => {
  if (problem === undefined) expect(labelKeyProblem(key)).toBeUndefined();
  else expect(labelKeyProblem(key)).toMatch(problem);
});

const labelValues: [string, RegExp | undefined][] = [
  ['', undefined],
  ['a', undefined],
  ['A_b.c-d', undefined],
  ['a'.repeat(63), undefined],
  ['a'.repeat(64), /^must be no more than 63 characters$/],
  ['-a', /^a valid label must be an empty string or consist of/],
  ['a b', /'MyValue',  or 'my_value',  or '12345'/],
  ['a/b', /^a valid label/],
];
test.each(labelValues)('judges the label value %j', (value, problem) => {
  if (problem === undefined) expect(labelValueProblem(value)).toBeUndefined();
  else expect(labelValueProblem(value)).toMatch(problem);
});

const configKeys: [string, (string | RegExp)[]][] = [
  ['a', []],
  ['a.b_c-D', []],
  ['.a', []],
  ['a'.repeat(253), []],
  ['a'.repeat(254), ['must be no more than 253 characters']],
  ['', [/^a valid config key must consist of/]],
  ['a b', [/'key\.name',  or 'KEY_NAME',  or 'key-name'/]],
  ['.', ["must not be '.'"]],
  ['..', ["must not be '..'"]],
  ['..a', ["must not start with '..'"]],
];
test.each(configKeys)('judges the key %j of a ConfigMap', (key, problems) => {
  const wanted = problems.map(item => (typeof item === 'string' ? item : expect.stringMatching(item)));
  expect(configKeyProblems(key)).toEqual(wanted);
});

test('a label is also a subdomain, and neither ends in a line break', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9-]{1,63}$/), name => {
      if (nameProblems('label', name).length === 0) expect(nameProblems('subdomain', name)).toEqual([]);
      expect(nameProblems('label', `${name}\n`)).not.toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

test('is quick with a text that is very long', () => {
  const text = `${'a-'.repeat(1_000_000)}!`;
  expect(nameProblems('subdomain', text)).toContain('must be no more than 253 characters');
});
