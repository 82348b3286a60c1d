/* oxlint-disable no-control-regex -- escapes are what is looked for */
import { expect, test } from 'vitest';
import { printable } from '../../safe-text.ts';
import { paintFor, plain } from './paint.ts';

const terminal = () => ({ columns: 80, rows: 24 });
const file = () => undefined;
const cases: [string, () => { columns: number; rows: number } | undefined, Record<string, string>, boolean][] = [
  ['on a terminal', terminal, {}, true],
  ['on a terminal with an empty NO_COLOR', terminal, { NO_COLOR: '' }, true],
  ['not with NO_COLOR', terminal, { NO_COLOR: '1' }, false],
  ['not with NO_COLOR=0 either: that it is set counts', terminal, { NO_COLOR: '0' }, false],
  ['not on a dumb terminal', terminal, { TERM: 'dumb' }, false],
  ['not in a file', file, {}, false],
  ['not in a file, whatever the terminal', file, { TERM: 'xterm-256color' }, false],
];
for (const [name, size, environment, isColored] of cases) {
  test(`paints ${name}`, () => {
    const painted = paintFor({ size, environment })(printable('Ready'), 'good');
    expect(painted).toBe(isColored ? '\u001b[32mReady\u001b[0m' : 'Ready');
  });
}

test('every tone has a different color', () => {
  const paint = paintFor({ size: terminal, environment: {} });
  const looks = (['good', 'busy', 'bad', 'idle', 'title', 'faint'] as const).map(tone => paint(printable('x'), tone));
  expect(new Set(looks).size).toBe(6);
  for (const look of looks) expect(look).toMatch(/^\u001b\[\d+mx\u001b\[0m$/);
});

test('does not paint an empty text', () => {
  expect(paintFor({ size: terminal, environment: {} })(printable(''), 'bad')).toBe('');
  expect(plain(printable('x'), 'bad')).toBe('x');
});
