import { expect, test } from 'vitest';
import { changed, expectedOn } from '../kit/parity-cases/changed.ts';
import { mismatch } from '../kit/parity-cases/match.ts';

const template = {
  code: changed(400, 404, { until: 30, from: 32 }),
  list: [changed(/old/, /new/, { until: 30, from: 32 })],
};
const older = { code: 400, list: ['old words'] };
const newer = { code: 404, list: ['new'] };
const other = { code: 500, list: ['new'] };

const cases: [minor: number, answer: object, isExpected: boolean][] = [
  [30, older, true],
  [30, newer, false],
  [31, older, true],
  [31, newer, true],
  [31, other, false],
  [32, older, false],
  [32, newer, true],
];
test.each(cases)('on a server of version 1.%i the answer %j is expected: %s', (minor, answer, isExpected) => {
  expect(mismatch(expectedOn(minor, template), answer) === undefined).toBe(isExpected);
});

test('between known versions a difference names both values', () => {
  expect(mismatch(expectedOn(31, template), other)).toBe('code is 500, not 400; code is 500, not 404');
});

test('without versions only the oldest and newest server are bound to one answer', () => {
  expect([20, 21, 35, 36].map(minor => mismatch(expectedOn(minor, changed('a', 'b')), 'a') === undefined)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
