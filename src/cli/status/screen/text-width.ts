import { stripVTControlCharacters } from 'node:util';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** East Asian characters and emoji take two columns. */
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Emoji_Presentation}/u;

/** Columns of a terminal; color sequences take none. */
export function widthOf(text: string): number {
  const bare = stripVTControlCharacters(text);
  if (/^[ -~]*$/.test(bare)) return bare.length;
  let width = 0;
  for (const { segment } of graphemes.segment(bare)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Generic here and below, so that SafeText stays SafeText. */
export function padTo<T extends string>(text: T, width: number): T {
  return `${text}${' '.repeat(Math.max(0, width - widthOf(text)))}` as T;
}

/** Cuts a text without colors; `…` marks the cut. */
export function cutTo<T extends string>(text: T, width: number): T {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return '' as T;
  let [kept, taken] = ['', 0];
  for (const { segment } of graphemes.segment(text)) {
    taken += widthOf(segment);
    if (taken > width - 1) break;
    kept += segment;
  }
  return `${kept}…` as T;
}

/** Wraps at blanks; a wider word gets its own line. A command in backticks can count as one word, so that it can be copied. */
export function wrapTo<T extends string>(text: T, width: number, commands: 'whole' | 'wrapped' = 'wrapped'): T[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.match(commands === 'whole' ? /`[^`]*`\S*|\S+/g : /\S+/g) ?? []) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return (line === '' ? lines : [...lines, line]) as T[];
}
