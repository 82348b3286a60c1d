import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseQuantity, type Quantity, unitsRoundedUp } from './quantity.ts';

const mega = 1_000_000n;
const invalid: Quantity = { numerator: -999n, denominator: 1n };
const parse = (text: string) => parseQuantity(text) ?? invalid;
const isSame = (one: Quantity, other: Quantity) =>
  one.numerator * other.denominator === other.numerator * one.denominator;

const values: [string, bigint, bigint][] = [
  ['0', 0n, 1n],
  ['100', 100n, 1n],
  ['007', 7n, 1n],
  ['+5', 5n, 1n],
  ['-5', -5n, 1n],
  ['1.5', 3n, 2n],
  ['.5', 1n, 2n],
  ['5.', 5n, 1n],
  ['-.25', -1n, 4n],
  ['100n', 1n, 10_000_000n],
  ['100u', 1n, 10_000n],
  ['100m', 1n, 10n],
  ['1k', 1000n, 1n],
  ['1M', mega, 1n],
  ['1G', 1_000_000_000n, 1n],
  ['1T', 10n ** 12n, 1n],
  ['1P', 10n ** 15n, 1n],
  ['1E', 10n ** 18n, 1n],
  ['1Ki', 1024n, 1n],
  ['1Mi', 1024n ** 2n, 1n],
  ['1.5Gi', 1_610_612_736n, 1n],
  ['1Ti', 1024n ** 4n, 1n],
  ['1Pi', 1024n ** 5n, 1n],
  ['1Ei', 1024n ** 6n, 1n],
  ['2e3', 2000n, 1n],
  ['2E3', 2000n, 1n],
  ['2e+3', 2000n, 1n],
  ['2e-3', 1n, 500n],
  ['1.5e1', 15n, 1n],
  ['2e003', 2000n, 1n],
  ['1e100', 10n ** 100n, 1n],
  ['9007199254740993', 9_007_199_254_740_993n, 1n],
  ['0.000000001', 1n, 10n ** 9n],
];
for (const [text, numerator, denominator] of values) {
  test(`${text} is ${numerator}/${denominator}`, () => {
    expect(isSame(parse(text), { numerator, denominator })).toBe(true);
  });
}

const junk = [
  '',
  ' ',
  '.',
  '+',
  '-',
  '+.',
  'k',
  'Ki',
  'e3',
  'abc',
  'notaquantity',
  '1 M',
  ' 1',
  '1 ',
  '1\n',
  '1K',
  '1KI',
  '1ki',
  '1mi',
  '1g',
  '1Zi',
  '1MB',
  '1MiB',
  '1.5.5',
  '1,5',
  '--1',
  '+-1',
  '0x10',
  '1_000',
  '1e',
  '1e+',
  '1e1.5',
  '1E3k',
  '1e1000',
  '١',
  'Infinity',
  'NaN',
  '1'.repeat(65),
];
for (const text of junk) {
  test(`${JSON.stringify(text)} is no quantity`, () => expect(parseQuantity(text)).toBeUndefined());
}

/** Decimal megabytes rounded up, as the agent's log flag wants them. */
const megabytes: [string, bigint][] = [
  ['1M', 1n],
  ['100M', 100n],
  ['100Mi', 105n],
  ['1G', 1000n],
  ['1Gi', 1074n],
  ['0', 0n],
  ['500', 1n],
  ['500k', 1n],
  ['2000k', 2n],
  ['1000000', 1n],
  ['1000001', 2n],
  ['999999999m', 1n],
  ['1000000001m', 2n],
  ['1n', 1n],
  ['1E', 1_000_000_000_000n],
  ['-1M', -1n],
  ['-1', 0n],
  ['-1500k', -1n],
];
for (const [text, want] of megabytes) {
  test(`${text} is ${want} megabytes`, () => expect(unitsRoundedUp(parse(text), mega)).toBe(want));
}

const suffixes: [string, bigint, bigint][] = [
  ['', 1n, 1n],
  ['n', 1n, 10n ** 9n],
  ['u', 1n, 10n ** 6n],
  ['m', 1n, 10n ** 3n],
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((name, at): [string, bigint, bigint] => [name, 1000n ** BigInt(at + 1), 1n]),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((name, at): [string, bigint, bigint] => [
    name,
    1024n ** BigInt(at + 1),
    1n,
  ]),
  ['e5', 10n ** 5n, 1n],
  ['E-7', 1n, 10n ** 7n],
];

test('every number with every suffix is exact', () => {
  const number = fc.record({
    whole: fc.bigInt({ min: 0n, max: 10n ** 20n }),
    digits: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 12 }),
    sign: fc.constantFrom('', '+', '-'),
  });
  fc.assert(
    fc.property(number, fc.constantFrom(...suffixes), ({ whole, digits, sign }, [suffix, times, over]) => {
      const text = `${sign}${whole}${digits.length > 0 ? '.' : ''}${digits.join('')}${suffix}`;
      const fraction = digits.reduce((sum, digit, at) => sum + BigInt(digit) * 10n ** BigInt(12 - at - 1), 0n);
      const trillionths = (whole * 10n ** 12n + fraction) * (sign === '-' ? -1n : 1n);
      const want = { numerator: trillionths * times, denominator: 10n ** 12n * over };
      expect(isSame(parse(text), want)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('the units rounded up hold the quantity, and one unit fewer does not', () => {
  fc.assert(
    fc.property(
      fc.bigInt(-(10n ** 15n), 10n ** 15n),
      fc.bigInt(1n, 10n ** 6n),
      fc.bigInt(1n, 10n ** 6n),
      (n, d, unit) => {
        const units = unitsRoundedUp({ numerator: n, denominator: d }, unit);
        expect(units * unit * d >= n).toBe(true);
        expect((units - 1n) * unit * d < n).toBe(true);
      },
    ),
    { numRuns: 2000 },
  );
});

test('never throws', () => {
  const pieces = fc.array(fc.constantFrom('1', '.', '-', '+', 'e', 'E', 'K', 'i', 'm', '99', ' '), { maxLength: 12 });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        pieces.map(list => list.join('')),
      ),
      text => {
        expect(() => parseQuantity(text)).not.toThrow();
      },
    ),
    { numRuns: 2000 },
  );
});
