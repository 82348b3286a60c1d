import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { closestWord } from './closest.ts';

const commands = ['render', 'check', 'operator', 'status', 'sandbox', 'version'];
const cases: [word: string, want: string | undefined][] = [
  ['stauts', 'status'],
  ['statsu', 'status'],
  ['satus', 'status'],
  ['sttatus', 'status'],
  ['STATUS', 'status'],
  ['stat', 'status'],
  ['sandbx', 'sandbox'],
  ['ver', 'version'],
  ['v', 'version'],
  ['chekc', 'check'],
  ['frobnicate', undefined],
  ['x', undefined],
  ['', undefined],
  ['__proto__', undefined],
  ['s'.repeat(100_000), undefined],
];
for (const [word, want] of cases) {
  test(`finds ${want ?? 'no word'} for ${word.slice(0, 20)}`, () => expect(closestWord(word, commands)).toBe(want));
}

test('finds VSphere for vsphere', () => expect(closestWord('vsphere', ['AWS', 'VSphere'])).toBe('VSphere'));

test('finds every word that has one letter too many', () => {
  fc.assert(
    fc.property(fc.constantFrom(...commands), fc.nat(5), fc.constantFrom('x', 'q'), (word, index, letter) => {
      expect(closestWord(word.slice(0, index) + letter + word.slice(index), commands)).toBe(word);
    }),
  );
});
