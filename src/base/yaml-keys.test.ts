import { expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { hasCollectionKeys } from './yaml-keys.ts';

const check = (text: string) => hasCollectionKeys(parseDocument(text, { prettyErrors: false, uniqueKeys: false }));

const cases: [string, string, boolean][] = [
  ['nothing', '', false],
  ['a scalar', 'text', false],
  ['an ordinary object', 'apiVersion: v1\nmetadata: {name: a, labels: {b: c}}\nlist: [1, {d: e}]', false],
  ['numbers and null as keys', '1: a\nnull: b\n~: c\n: d', false],
  ['an explicit key that is a scalar', '? a\n: b', false],
  ['a question mark in a text', 'a: what ? no', false],
  ['an alias as value', 'a: &x [1]\nb: *x', false],
  ['a merge key', 'a: &x {b: c}\nd:\n  <<: *x', false],
  ['a list as key', '[a, b]: c', true],
  ['a map as key', '{a: b}: c', true],
  ['an explicit key that is a list', '? - a\n: b', true],
  ['a set inside a set', '? ? a', true],
  ['a map as key deep inside', 'a:\n- b:\n  - {{c: d}: e}', true],
  ['an alias as key', 'a: &x [1]\n*x : b', true],
];
for (const [name, text, want] of cases) {
  test(`${name}: ${want ? 'has' : 'has no'} such keys`, () => expect(check(text)).toBe(want));
}

test('finds them in good time, however deep they are', () => {
  const started = performance.now();
  expect(check('? '.repeat(1000))).toBe(true);
  expect(check(`${'{'.repeat(500)}a${': b}'.repeat(500)}`)).toBe(true);
  expect(performance.now() - started).toBeLessThan(10_000);
});
