import { control, type SafeText, safe } from '../../safe-text.ts';
import type { LiveTerminal } from '../../terminal.ts';
import type { Tone } from '../view/host-view.ts';

/** State of a host, or importance of a text. */
export type PaintTone = Tone | 'title' | 'faint';

/** Colors a text; its width stays the same. */
export type Paint = (text: SafeText, tone: PaintTone) => SafeText;

export const plain: Paint = text => text;

const codes: Readonly<Record<PaintTone, number>> = {
  good: 32,
  busy: 36,
  slow: 33,
  bad: 31,
  idle: 35,
  title: 1,
  faint: 2,
};

const inColor: Paint = (text, tone) =>
  text === '' ? text : safe`${control(`${codes[tone]}m`)}${text}${control('0m')}`;

/** Colors only on terminals, and not with NO_COLOR or TERM=dumb. */
export function paintFor({ size, environment }: Pick<LiveTerminal, 'size' | 'environment'>): Paint {
  const isDisabled = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  return size() === undefined || isDisabled ? plain : inColor;
}
