import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePattern } from './pattern.ts';

const matches: [string, string, boolean][] = [
  ['^[a-z]+$', 'abc', true],
  ['^[a-z]+$', 'ABC', false],
  ['b', 'abc', true],
  ['^$', '', true],
  ['^\\d+%$', '15%', true],
  ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'my-name', true],
  ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', '-name', false],
  ['(?i)^abc$', 'AbC', true],
  ['(?s)^a.b$', 'a\nb', true],
  ['^a.b$', 'a\nb', false],
  ['(?m)^b$', 'a\nb', true],
  ['(?is)^A.B$', 'a\nb', true],
  ['^[[:alpha:]]+$', 'aZ', true],
  ['^[[:alpha:]]+$', 'a1', false],
  ['^[[:digit:][:upper:]]+$', 'A1', true],
  ['^[^[:space:]]+$', 'a b', false],
  ['^[[:punct:]]$', '!', true],
  ['^[[:xdigit:]]+$', 'fF09', true],
  ['\\Aabc\\z', 'abc', true],
  ['\\Aabc\\z', 'xabc', false],
  ['^\\\\A$', '\\A', true],
  ['(?P<year>\\d{4})', '2026', true],
  ['^\\p{Greek}+$', 'αβ', true],
  ['^\\pL+$', 'aä', true],
  ['^.$', '😀', true],
  ['^[\\w\\-]+$', 'a-b', true],
  ['^\\-\\_$', '-_', true],
  ['^https?:\\/\\/', 'https://x', true],
];

test.each(matches)('%s against %j: %j', (pattern, text, want) => {
  expect(compilePattern(pattern)?.test(text)).toBe(want);
});

test.each([
  ['an open group', '('],
  ['an open class', '[a'],
  ['nothing to repeat', '*'],
  ['looking ahead', '(?=a)'],
  ['not looking ahead', 'a(?!b)'],
  ['looking behind', '(?<=a)b'],
  ['not looking behind', '(?<!a)b'],
  ['a back reference', '(a)\\1'],
])('does not know %s', (_name, pattern) => {
  expect(compilePattern(pattern)).toBeUndefined();
});

test('takes an escaped backslash before a number for what it is', () => {
  expect(compilePattern('^\\\\1$')?.test('\\1')).toBe(true);
});

test('has no state between two texts', () => {
  const pattern = compilePattern('a');
  expect([pattern?.test('a'), pattern?.test('a')]).toEqual([true, true]);
});

test('compiles any text or none', () => {
  fc.assert(
    fc.property(fc.string(), text => {
      compilePattern(text)?.test('x');
    }),
    { numRuns: 2000 },
  );
});
