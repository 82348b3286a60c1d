import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortLine, printable, printableJson } from './printable.ts';

const texts: [about: string, text: string, want: string][] = [
  ['plain text', 'Win-1: über … 日本 🙂', 'Win-1: über … 日本 🙂'],
  ['line ends and tabs', 'a\n\tb\r\nc', 'a\n\tb\r\nc'],
  ['a carriage return alone', 'good\rbad', 'good\\u000dbad'],
  ['an escape', '\u001b[31mred', '\\u001b[31mred'],
  ['a C1 escape', '\u009b31mred', '\\u009b31mred'],
  ['backspaces, bells and zeros', '\b\u0007\0', '\\u0008\\u0007\\u0000'],
  ['DEL', '\u007f', '\\u007f'],
  ['a text that runs backwards', 'a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
  ['zero-width characters', 'a\u200bb\u200dc\ufeffd\u00ade', 'a\\u200bb\\u200dc\\ufeffd\\u00ade'],
  ['a filler that takes no room', 'a\u3164b\u115fc', 'a\\u3164b\\u115fc'],
  ['other line ends', 'a\u2028b\u2029c\u0085d', 'a\\u2028b\\u2029c\\u0085d'],
  ['half a character', 'a\ud800b', 'a\\ud800b'],
  ['invisible tags', 'a\u{e0041}b', 'a\\udb40\\udc41b'],
];
for (const [about, text, want] of texts) test(`shows ${about}`, () => expect(printable(text)).toBe(want));

const lines: [about: string, text: string, want: string][] = [
  ['plain text', 'win-1 über', 'win-1 über'],
  ['several lines', 'a\r\nb\n\n\tc\rd', 'a b c d'],
  ['an escape', '\u001b[31mred\u202e', '\\u001b[31mred\\u202e'],
  ['a long text', 'x'.repeat(1_000_000), 'x'.repeat(1024)],
  ['a text that gets long', '\u001b'.repeat(1024), `${'\\u001b'.repeat(170)}\\...`],
];
for (const [about, text, want] of lines) test(`puts ${about} on one line`, () => expect(shortLine(text)).toBe(want));

const any = fc.string({ unit: 'binary' });

test('printable escapes all characters that control a terminal and no others', () => {
  fc.assert(
    fc.property(any, text => {
      const shown = printable(text);
      expect(shown.replaceAll('\r\n', '')).not.toMatch(/[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(printable(shown)).toBe(shown);
      if (/^[ -~]*$/.test(text)) expect(shown).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test('JSON stays the same data', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), data => {
      const json = printableJson(JSON.stringify(data, undefined, 2));
      expect(json).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(data)));
    }),
  );
});
