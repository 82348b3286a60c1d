import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutTo, padTo, widthOf, wrapTo } from './text-width.ts';

const widths: [what: string, text: string, want: number][] = [
  ['nothing', '', 0],
  ['plain letters', 'win-1', 5],
  ['umlauts', 'Würfel', 6],
  ['an accent of its own', 'Wu\u0308rfel', 6],
  ['French', 'Accès refusé', 12],
  ['Japanese', '東京', 4],
  ['Korean', '한국', 4],
  ['full-width letters', 'ＡＢ', 4],
  ['an emoji', '🙂', 2],
  ['a family of one picture', '👨‍👩‍👧', 2],
  ['colors', '\u001b[31mFailed\u001b[0m', 6],
  ['Cyrillic', 'Доступ', 6],
];
for (const [what, text, want] of widths) test(`knows the width of ${what}`, () => expect(widthOf(text)).toBe(want));

const cuts: [what: string, text: string, width: number, want: string][] = [
  ['what fits', 'win-1', 5, 'win-1'],
  ['what is too long', 'windows', 5, 'wind…'],
  ['to one', 'windows', 1, '…'],
  ['to nothing', 'windows', 0, ''],
  ['to less than nothing', 'windows', -3, ''],
  ['never half a sign', '東京都', 4, '東…'],
  ['an accent with its letter', 'Wu\u0308rfel', 3, 'Wu\u0308…'],
];
for (const [what, text, width, want] of cuts) test(`cuts ${what}`, () => expect(cutTo(text, width)).toBe(want));

test('pads by visible width', () => {
  expect(padTo('東', 4)).toBe('東  ');
  expect(padTo('\u001b[31mx\u001b[0m', 3)).toBe('\u001b[31mx\u001b[0m  ');
  expect(padTo('long enough', 3)).toBe('long enough');
});

test('cuts to at most the width, and pads to at least the width', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string(), fc.stringMatching(/^[äöüéß東한a-z ]*$/));
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 40 }), (some, width) => {
      const bare = some.replaceAll(/\p{C}/gu, '');
      expect(widthOf(cutTo(bare, width))).toBeLessThanOrEqual(width);
      expect(widthOf(padTo(bare, width))).toBeGreaterThanOrEqual(width);
    }),
    { numRuns: 1000 },
  );
});

const wraps: [what: string, text: string, width: number, want: string[]][] = [
  ['nothing', '', 10, []],
  ['only blanks', '  \n ', 10, []],
  ['a line that fits', 'one two', 7, ['one two']],
  ['a line that does not', 'one two three', 8, ['one two', 'three']],
  ['a word that is too long for itself', 'a C:\\ProgramData\\ssh\\x b', 10, ['a', 'C:\\ProgramData\\ssh\\x', 'b']],
  ['line ends of others', 'one\r\ntwo', 20, ['one two']],
  ['by what is seen', '東京 東京 東京', 9, ['東京 東京', '東京']],
];
for (const [what, text, width, want] of wraps) test(`wraps ${what}`, () => expect(wrapTo(text, width)).toEqual(want));

test('wraps without losing a word', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-zé東]{1,12}$/)), fc.integer({ min: 1, max: 30 }), (words, width) => {
      expect(wrapTo(words.join(' '), width).join(' ')).toBe(words.join(' '));
    }),
    { numRuns: 500 },
  );
});

test('keeps commands in one piece when they are to be copied', () => {
  const text = 'Run `kubectl get nodes -o wide` now, or `x y`.';
  expect(wrapTo(text, 12, 'whole')).toEqual(['Run', '`kubectl get nodes -o wide`', 'now, or', '`x y`.']);
  expect(wrapTo('an ` open one', 5, 'whole')).toEqual(['an `', 'open', 'one']);
});
