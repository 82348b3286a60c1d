import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sentence, trimEndOf } from './trim-end.ts';

const cases: [text: string, characters: string, want: string][] = [
  ['', '/', ''],
  ['///', '/', ''],
  ['a/b//', '/', 'a/b'],
  ['/a', '/', '/a'],
  ['a.-.-', '.-', 'a'],
  ['a', '', 'a'],
];
for (const [text, characters, want] of cases) {
  test(`${JSON.stringify(text)} without ${JSON.stringify(characters)} at its end`, () =>
    expect(trimEndOf(text, characters)).toBe(want));
}

test('takes off what a pattern would', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '.', '-') }), text => {
      expect(trimEndOf(text, '.-')).toBe(text.replace(/[.-]+$/, ''));
    }),
  );
});

test('a sentence has one period', () => {
  expect([sentence('it failed'), sentence('it failed.'), sentence('')]).toEqual(['it failed.', 'it failed.', '.']);
});
