import { widthOf } from './status/screen/text-width.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** True if the locale is C or POSIX, or names a character set other than UTF-8; without a locale UTF-8 is assumed. */
export function needsAscii({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  const [, charset] = /\.([\w-]+)/.exec(locale) ?? [];
  if (charset !== undefined) return !/^utf-?8$/i.test(charset);
  return locale === 'C' || locale === 'POSIX';
}

/** Each takes as many columns as the character that it replaces, so that tables stay aligned. */
const replacements: Readonly<Record<string, string>> = {
  '…': '~',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '«': '"',
  '»': '"',
  '–': '-',
  '—': '-',
  '−': '-',
  '─': '-',
  '━': '-',
  '│': '|',
  '┃': '|',
  '•': '*',
  '·': '*',
  '→': '>',
  '←': '<',
  '×': 'x',
  '✓': '+',
  '✗': 'x',
  '█': '#',
  '░': '.',
  µ: 'u',
  μ: 'u',
};

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Prints `?` for what has no similar ASCII character. */
export function asciiText(text: string): string {
  // An ellipsis of its own in a sentence is not a cut text, and its width does not matter.
  const spelled = text.replaceAll(/(?<=^ *|\S )…(?= \S)/gm, '...');
  // An accent on an ASCII letter takes no column.
  return spelled
    .replaceAll(/(?<=[\0-\x7f])\p{M}+/gu, '')
    .replaceAll(/[^\0-\x7f]+/g, run =>
      Array.from(graphemes.segment(run), ({ segment }) => replacements[segment] ?? substituteFor(segment)).join(''),
    );
}

function substituteFor(segment: string): string {
  return /^[\u2500-\u257f]/.test(segment) ? '+' : '?'.repeat(widthOf(segment));
}
