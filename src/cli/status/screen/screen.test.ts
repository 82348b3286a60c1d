/* oxlint-disable no-control-regex -- escapes are what is looked for */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeLines } from '../../../../test/kit/safe-lines.ts';
import { printable } from '../../safe-text.ts';
import { seen } from '../../../../test/kit/seen-screen.ts';
import { recordedTerminal } from '../../../../test/kit/status-views.ts';
import { Screen } from './screen.ts';

const size = { columns: 40, rows: 10 };
const drawn = (...frames: string[][]) => {
  const terminal = recordedTerminal(size);
  const screen = new Screen(terminal);
  for (const frame of frames) screen.draw(safeLines(...frame));
  return { terminal, screen, lines: () => seen(terminal.text(), size.columns, size.rows) };
};

const stories: [string, string[][], string[]][] = [
  ['one picture', [['a', 'b']], ['a', 'b', '']],
  [
    'another in its place',
    [
      ['aaaa', 'bbbb'],
      ['c', 'd'],
    ],
    ['c', 'd', ''],
  ],
  ['a shorter one without what was below', [['a', 'b', 'c'], ['x']], ['x', '']],
  ['a longer one', [['a'], ['x', 'y', 'z']], ['x', 'y', 'z', '']],
  ['an empty one', [['a', 'b'], []], ['']],
  ['one after an empty one', [[], ['a']], ['a', '']],
  ['colors', [['\u001b[32mReady\u001b[0m'], ['\u001b[31mFailed\u001b[0m']], ['Failed', '']],
];
for (const [name, frames, want] of stories) test(`shows ${name}`, () => expect(drawn(...frames).lines()).toEqual(want));

test('keeps the previous content of the terminal', () => {
  const terminal = recordedTerminal(size);
  terminal.out(printable('before\n'));
  const screen = new Screen(terminal);
  for (const frame of [['a', 'b'], ['c']]) screen.draw(safeLines(...frame));
  screen.close(safeLines('end', 'more'));
  terminal.out(printable('after\n'));
  expect(seen(terminal.text(), 40, 10)).toEqual(['before', 'end', 'more', 'after', '']);
});

test('cuts a frame that is too high, so that it can be replaced', () => {
  const high = (letter: string) => Array.from({ length: 30 }, (_, index) => `${letter}${index}`);
  expect(drawn(high('a'), high('b')).lines()).toEqual([...high('b').slice(0, 9), '']);
});

test('cuts long lines and removes their colors', () => {
  const { lines, terminal } = drawn([`\u001b[31m${'x'.repeat(50)}\u001b[0m`, '東'.repeat(30)], ['a', 'b']);
  expect(terminal.text()).toContain(`\u001b[2K${'x'.repeat(39)}…\n`);
  expect(lines()).toEqual(['a', 'b', '']);
});

test('does not redraw an unchanged frame', () => {
  const { terminal, screen } = drawn(['a']);
  const before = terminal.text().length;
  screen.draw(safeLines('a'));
  expect(terminal.text()).toHaveLength(before);
});

test('replaces the whole frame on a terminal that became narrower', () => {
  const terminal = recordedTerminal(size);
  const screen = new Screen(terminal);
  screen.draw(safeLines('x'.repeat(35), 'y'));
  terminal.resize({ columns: 20, rows: 10 });
  screen.draw(safeLines('a', 'b'));
  expect(terminal.text()).toContain('\u001b[3A');
});

test('hides the cursor until it is closed', () => {
  const { terminal, screen } = drawn(['a'], ['b']);
  expect(terminal.text().match(/\u001b\[\?25l/g)).toHaveLength(1);
  screen.close([]);
  expect(terminal.text().endsWith('\u001b[?25h')).toBe(true);
  screen.close([]);
  expect(terminal.text().match(/\u001b\[\?25h/g)).toHaveLength(1);
});

test('writes nothing when closed before the first frame', () => {
  const terminal = recordedTerminal(size);
  new Screen(terminal).close([]);
  expect(terminal.text()).toBe('');
});

test('can draw again after it was closed', () => {
  const { screen, lines } = drawn(['a']);
  screen.close(safeLines('a'));
  screen.draw(safeLines('b'));
  expect(lines()).toEqual(['a', 'b', '']);
});

test('always shows the last frame', () => {
  const frame = fc.array(fc.stringMatching(/^[a-z ]{0,39}$/), { maxLength: 14 });
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1, maxLength: 6 }), frames => {
      const last = (frames.at(-1) ?? []).slice(0, 9).map(line => line.trimEnd());
      const lines = drawn(...frames)
        .lines()
        .map(line => line.trimEnd());
      expect(lines).toEqual([...last, '']);
    }),
    { numRuns: 500 },
  );
});
