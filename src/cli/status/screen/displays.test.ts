/* oxlint-disable no-control-regex -- escapes are what is looked for */
import { expect, test } from 'vitest';
import { safeLines } from '../../../../test/kit/safe-lines.ts';
import { hostIn, noonMs, recordedTerminal, type StateName } from '../../../../test/kit/status-views.ts';
import { displayOn, jsonDisplay, layoutFor, screenDisplay } from './displays.ts';

const stamp = () => '12:00:00';
const many = (count: number, state: StateName = 'ready') =>
  Array.from({ length: count }, (_, index) => hostIn(state, `win-${String(index + 1).padStart(3, '0')}`));

test('prints a line for each change without a terminal', () => {
  const terminal = recordedTerminal();
  const display = displayOn(terminal, stamp);
  display.show([hostIn('ready', 'a')]);
  display.show([hostIn('ready', 'a')]);
  display.close([]);
  expect(terminal.text()).toBe('12:00:00  a  Ready as Node win-1 after 12 s\n');
});

test('prints notes once without a terminal, until they change', () => {
  const terminal = recordedTerminal();
  const display = displayOn(terminal, stamp);
  for (const more of [['one'], ['one'], [], ['two', 'three']]) display.show([], safeLines(...more));
  expect(terminal.text()).toBe('one\ntwo\nthree\n');
});

test('redraws the table in place on a terminal and restores the cursor', () => {
  const terminal = recordedTerminal({ columns: 80, rows: 24 }, { NO_COLOR: '1' });
  const display = displayOn(terminal, stamp);
  display.show([hostIn('configuring', 'a')], safeLines('more'));
  display.show([hostIn('ready', 'a')], safeLines('more'));
  display.close(safeLines('end'));
  expect(terminal.text()).toContain('\u001b[5A');
  expect(terminal.text()).toContain('1 host: 1 Ready');
  expect(terminal.text().endsWith('\u001b[?25hend\n')).toBe(true);
});

test('redraws any frame in place', () => {
  const terminal = recordedTerminal({ columns: 80, rows: 24 });
  const display = screenDisplay(terminal, (hosts, more) => [...safeLines(`${hosts.length}`), ...more]);
  display.show(many(3), safeLines('x'));
  display.show(many(3));
  expect(terminal.text()).toContain('3\n');
});

test('ends with the lines that it is given, on a terminal in place of the last frame', () => {
  const [plain, screen] = [recordedTerminal(), recordedTerminal({ columns: 80, rows: 5 }, { NO_COLOR: '1' })];
  for (const terminal of [plain, screen]) {
    const display = displayOn(terminal, stamp);
    display.show(many(9));
    display.close(safeLines('1', '2', '3', '4', '5', '6', '7'));
  }
  expect(plain.text().endsWith('1\n2\n3\n4\n5\n6\n7\n')).toBe(true);
  expect(screen.text()).toMatch(/\r\u001b\[4A\u001b\[J\u001b\[\?25h1\n2\n3\n4\n5\n6\n7\n$/);
});

test('hosts with the same name are told apart', () => {
  const [plain, json] = [recordedTerminal(), recordedTerminal()];
  const rows = [hostIn('failed', 'a'), hostIn('ready', 'a', { source: { kind: 'Node', name: 'a' } })];
  const [lines, data] = [displayOn(plain, stamp), jsonDisplay(json)];
  for (const display of [lines, data]) for (let round = 0; round < 3; round += 1) display.show(rows);
  expect(json.text().trimEnd().split('\n')).toHaveLength(2);
  expect(plain.text().match(/^12:00:00/gm)).toHaveLength(2);
});

test('JSON lines contain a note when it appears', () => {
  const terminal = recordedTerminal();
  const display = jsonDisplay(terminal);
  for (const notes of [[], ['lost'], ['lost'], []]) display.show([], safeLines(...notes));
  expect(JSON.parse(terminal.text())).toMatchObject({ note: 'lost' });
});

test('prints JSON lines for changed hosts only', () => {
  const terminal = recordedTerminal();
  const display = jsonDisplay(terminal);
  display.show([hostIn('ready', 'a'), hostIn('failed', 'b')]);
  display.show([hostIn('ready', 'a'), hostIn('ready', 'b')]);
  display.show([hostIn('ready', 'b')]);
  const lines = terminal.text().trimEnd().split('\n');
  const read = lines.map(line => JSON.parse(line) as { time: string; name: string; phase: string });
  expect(read.map(({ name, phase }) => [name, phase])).toEqual([
    ['a', 'Ready'],
    ['b', 'Failed'],
    ['b', 'Ready'],
    ['a', 'Gone'],
  ]);
  expect(read.map(({ time }) => Date.parse(time))).toEqual([noonMs, noonMs, noonMs, noonMs]);
});

test('the layout has the current time and the size of the terminal', () => {
  expect(layoutFor(recordedTerminal({ columns: 33, rows: 5 }))).toMatchObject({ nowMs: noonMs, columns: 33 });
  expect(layoutFor(recordedTerminal())).not.toHaveProperty('columns');
});
