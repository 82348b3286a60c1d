import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasFormat } from './formats.ts';

const formats: [string, string[], string[]][] = [
  [
    'date-time',
    [
      '2020-01-01T00:00:00Z',
      '2020-01-01T00:00:00+02:00',
      '2020-01-01T23:59:59.123456Z',
      '2020-02-29T00:00:00z',
      '2020-01-01t00:00:00Z',
    ],
    [
      'x',
      '',
      '2020-01-01',
      '2020-13-01T00:00:00Z',
      '2020-01-01T24:00:00Z',
      '2021-02-29T00:00:00Z',
      '2020-01-01 00:00:00Z',
    ],
  ],
  ['datetime', ['2020-01-01T00:00:00Z'], ['2020-01-01T00:00:00', '2020-01-01T00:60:00Z', '2020-01-01T00:00:60Z']],
  ['date', ['2020-01-01', '2020-02-29'], ['2020-1-1', '2020-02-30', '2020-00-01', 'x']],
  ['duration', ['5m', '1h30m', '0', '-5s', '1.5h', '5 minutes', '3 days', '2weeks'], ['x', '', '5', 'm', '5 parsecs']],
  ['ipv4', ['1.2.3.4', '255.255.255.255'], ['1', '1.2.3', '1.2.3.256', '::1', '01.2.3.4']],
  ['ipv6', ['::1', 'fe80::1', '2001:db8::8:800:200c:417a'], ['1.2.3.4', ':::', 'g::1', '']],
  [
    'cidr',
    ['1.2.3.4/8', '10.0.0.0/32', 'fe80::/10', '::/0'],
    ['1.2.3.4', '1.2.3.4/33', 'fe80::/129', '1.2.3.4/x', '1.2.3.4/8/8'],
  ],
  ['uri', ['http://x', 'https://a.b/c?d=e', '/x', 'mailto:a@b', 'urn:a:b'], ['x', '', 'a b', 'http://a b']],
  ['hostname', ['a', 'my-host', 'a.example', 'x.y.org'], ['-x', 'x-', 'a_b', 'a.b', '']],
  [
    'uuid',
    ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'],
    ['x', '123e4567-e89b-12d3-a456-42661417400'],
  ],
  ['byte', ['YQ==', 'YWI=', 'YWJj'], ['!', 'YQ', 'YQ=', '']],
  ['password', ['anything', ''], []],
  ['frobnicate', ['anything', ''], []],
  ['', ['anything'], []],
  ['int32', ['not checked'], []],
  ['toString', ['not inherited'], []],
];

for (const [format, good, bad] of formats) {
  test.each(good)(`${format} takes %j`, text => expect(hasFormat(format, text)).toBe(true));
  if (bad.length > 0) test.each(bad)(`${format} rejects %j`, text => expect(hasFormat(format, text)).toBe(false));
}

test('accepts format names with and without dashes', () => {
  expect([hasFormat('date-time', 'x'), hasFormat('datetime', 'x'), hasFormat('d-a-t-e', 'x')]).toEqual([
    false,
    false,
    false,
  ]);
});

test('accepts every time of the clock', () => {
  const times = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(times, time => {
      expect(hasFormat('date-time', time.toISOString())).toBe(true);
      expect(hasFormat('date', time.toISOString().slice(0, 10))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('decides about any text quickly', () => {
  const start = performance.now();
  for (const [format] of formats) hasFormat(format, '1 '.repeat(20_000));
  for (const [format] of formats) hasFormat(format, 'a-'.repeat(20_000));
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('decides about any text in any format', () => {
  fc.assert(
    fc.property(fc.constantFrom(...formats.map(([format]) => format)), fc.string(), (format, text) => {
      expect(typeof hasFormat(format, text)).toBe('boolean');
    }),
    { numRuns: 2000 },
  );
});
