import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseHostsFile } from './hosts-file.ts';

const hosts = parseHostsFile(
  [
    '# static table',
    '127.0.0.1\tlocalhost',
    '::1 localhost ip6-localhost',
    '  10.0.0.1   Win1.example.com win1 win1',
    '10.0.0.2 win1 # a second address',
    '10.0.0.3#no name',
    '10.0.0.4',
    '10.0.0.256 broken',
    'not-an-address broken',
    '',
    '10.0.0.5 last\r',
  ].join('\n'),
);

const addressCases: [name: string, want: string[]][] = [
  ['localhost', ['127.0.0.1', '::1']],
  ['WIN1.example.com.', ['10.0.0.1']],
  ['win1', ['10.0.0.1', '10.0.0.2']],
  ['last', ['10.0.0.5']],
  ['broken', []],
  ['toString', []],
  ['', []],
];
for (const [name, want] of addressCases) {
  test(`${JSON.stringify(name)} has the addresses ${want.join(' ')}`, () =>
    expect(hosts.addressesOf(name)).toEqual(want));
}

test('reads any text without failing', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('1', '0', '.', ' ', '\t', '\n', '#', ':', 'a', 'A', '\r', '\0', 'é') }),
      fc.string(),
      (text, name) => {
        expect(Array.isArray(parseHostsFile(text).addressesOf(name))).toBe(true);
      },
    ),
    { numRuns: 2000 },
  );
});
