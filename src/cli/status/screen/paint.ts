import { control, type SafeText, safe } from '../../safe-text.ts';
import type { LiveTerminal } from '../../terminal.ts';

/** How a text is meant: well, on its way, wrong, left alone, a heading, or less important. */
export type Tone = 'good' | 'busy' | 'bad' | 'still' | 'title' | 'faint';

/** Gives a text the look of its meaning; the width stays the same. */
export type Paint = (text: SafeText, tone: Tone) => SafeText;

export const plain: Paint = text => text;

const codes: Readonly<Record<Tone, number>> = { good: 32, busy: 36, bad: 31, still: 33, title: 1, faint: 2 };

const inColour: Paint = (text, tone) =>
  text === '' ? text : safe`${control(`${codes[tone]}m`)}${text}${control('0m')}`;

/** Colours on terminals only, and not for whoever has said that he wants none. */
export function paintFor({ size, environment }: Pick<LiveTerminal, 'size' | 'environment'>): Paint {
  const isUnwanted = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  return size() === undefined || isUnwanted ? plain : inColour;
}
