import { expect, test } from 'vitest';
import { readKeyUsages } from './key-usages.ts';

const bitCases: [string, number][] = [
  ['signing', 0],
  ['digital signature', 0],
  ['content commitment', 1],
  ['key encipherment', 2],
  ['data encipherment', 3],
  ['key agreement', 4],
  ['cert sign', 5],
  ['crl sign', 6],
  ['encipher only', 7],
  ['decipher only', 8],
];
test.each(bitCases)('%s is bit %i', (name, bit) => {
  expect(readKeyUsages([name])).toEqual({ bits: [bit], extendedOids: [], unknown: [] });
});

const extendedCases: [string, string][] = [
  ['any', '2.5.29.37.0'],
  ['server auth', '1.3.6.1.5.5.7.3.1'],
  ['client auth', '1.3.6.1.5.5.7.3.2'],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
];
test.each(extendedCases)('%s is %s', (name, oid) => {
  expect(readKeyUsages([name])).toEqual({ bits: [], extendedOids: [oid], unknown: [] });
});

test('extended usages are in table order without duplicates', () => {
  const { extendedOids } = readKeyUsages(['s/mime', 'client auth', 'email protection', 'server auth', 'client auth']);
  expect(extendedOids).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.4']);
});

test('unknown names are reported', () => {
  expect(readKeyUsages(['client auth', 'Client Auth', 'toString', '']).unknown).toEqual([
    'Client Auth',
    'toString',
    '',
  ]);
});
