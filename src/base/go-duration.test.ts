import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseGoDuration } from './go-duration.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

const durations: [string, number][] = [
  ['0', 0],
  ['+0', 0],
  ['-0', 0],
  ['0s', 0],
  ['-0s', 0],
  ['5s', 5 * second],
  ['+5s', 5 * second],
  ['-5s', -5 * second],
  ['1h', hour],
  ['168h', 168 * hour],
  ['1h30m', hour + 30 * minute],
  ['1.5h', 90 * minute],
  ['.5s', 500],
  ['5.s', 5 * second],
  ['-.5s', -500],
  ['1h15m30.918s', hour + 15 * minute + 30_918],
  ['100ms', 100],
  ['250us', 0.25],
  ['250\u00b5s', 0.25],
  ['250\u03bcs', 0.25],
  ['1ns', 0.000001],
  ['1500000ns', 1.5],
  ['0.5ns', 0],
  ['1.9ns', 0.000001],
  ['1m1ms', minute + 1],
  ['1m1m', 2 * minute],
  ['1s1h', hour + second],
  ['0000000000000000000000005s', 5 * second],
  ['0.3333333333333333333h', 1_199_999.999999],
  ['2562047h47m16.854775807s', 2 ** 63 / 1e6],
  ['-2562047h47m16.854775808s', -(2 ** 63) / 1e6],
];
for (const [text, want] of durations) {
  test(`${text} is ${want} ms`, () => expect(parseGoDuration(text)).toBe(want));
}

const junk = [
  '',
  ' ',
  '+',
  '-',
  '.',
  's',
  '.s',
  '-.s',
  '+.s',
  '100',
  '00',
  '1.5',
  '10x',
  '1d',
  '1w',
  '1D',
  '1H',
  '1S',
  '1hs',
  '1mss',
  '1 s',
  ' 1s',
  '1s ',
  '1s\n',
  '--1s',
  '+-1s',
  '1s-1s',
  '1s+1s',
  '1h30',
  '1.2.3s',
  '1e3s',
  '0x1s',
  '1,5s',
  '1_000s',
  '١s',
  '1h extra',
  'never',
  '9223372036854775808ns',
  '-9223372036854775809ns',
  '2562047h47m16.854775808s',
  '3000000h',
  '999999999999999999999999h',
  `${'1'.repeat(300)}s`,
];
for (const text of junk) {
  test(`${JSON.stringify(text).slice(0, 40)} is no duration`, () => expect(parseGoDuration(text)).toBeUndefined());
}

test('counts whole numbers of every unit exactly', () => {
  const units: [string, number][] = [
    ['h', 3_600_000_000_000],
    ['m', 60_000_000_000],
    ['s', 1_000_000_000],
    ['ms', 1_000_000],
    ['us', 1000],
    ['ns', 1],
  ];
  const parts = fc.array(fc.tuple(fc.nat({ max: 999 }), fc.constantFrom(...units)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(parts, fc.boolean(), (list, isNegative) => {
      const text = `${isNegative ? '-' : ''}${list.map(([count, [unit]]) => `${count}${unit}`).join('')}`;
      const nanoseconds = list.reduce((sum, [count, [, size]]) => sum + count * size, 0);
      expect(Math.abs(parseGoDuration(text) ?? Number.NaN)).toBe(nanoseconds / 1e6);
      if (nanoseconds > 0) expect((parseGoDuration(text) ?? 0) < 0).toBe(isNegative);
    }),
    { numRuns: 2000 },
  );
});

test('returns a finite number or undefined, and never throws', () => {
  const pieces = fc.array(fc.constantFrom('1', '0', '.', '-', '+', 'h', 'm', 's', 'n', 'u', '99', ' '), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        pieces.map(list => list.join('')),
      ),
      text => {
        const value = parseGoDuration(text);
        expect(value === undefined || Number.isFinite(value)).toBe(true);
      },
    ),
    { numRuns: 2000 },
  );
});

test('a long hostile text costs no time', () => {
  const started = performance.now();
  for (const text of ['1'.repeat(200_000), '1h'.repeat(100_000), `${'1.'.repeat(100_000)}s`]) parseGoDuration(text);
  expect(performance.now() - started).toBeLessThan(10_000);
});
