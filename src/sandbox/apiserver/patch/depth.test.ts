import { expect, test } from 'vitest';
import { isTooDeep } from './depth.ts';

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
}

const cases: [string, unknown, boolean][] = [
  ['a text', 'x', false],
  ['nothing', undefined, false],
  ['null', null, false],
  ['an empty object', {}, false],
  ['a wide list', Array.from({ length: 100_000 }, () => [1]), false],
  ['objects of five hundred levels', nested(500, a => ({ a })), false],
  ['lists of five hundred levels', nested(500, a => [a]), false],
  ['one level more', nested(501, a => ({ a })), true],
  ['lists of one level more', nested(501, a => [a]), true],
  ['a depth in one place only', { a: 1, b: [1, nested(600, a => ({ a }))] }, true],
  ['a million levels', nested(1_000_000, a => [a]), true],
];

test.each(cases)('judges %s', (_name, value, want) => {
  expect(isTooDeep(value)).toBe(want);
});
