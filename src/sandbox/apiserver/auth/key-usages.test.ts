import { expect, test } from 'vitest';
import { readKeyUsages } from './key-usages.ts';

test('separates bits and extended usages', () => {
  expect(readKeyUsages(['key encipherment', 'server auth'])).toEqual({
    bits: [2],
    extendedOids: ['1.3.6.1.5.5.7.3.1'],
    unknown: [],
  });
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
