import { expect, test } from 'vitest';
import { safeLines } from '../../../../test/kit/safe-lines.ts';
import { hostIn, noonMs, recordedTerminal, type StateName } from '../../../../test/kit/status-views.ts';
import { displayOn, frame, layoutFor, screenDisplay } from './displays.ts';

const stamp = () => '12:00:00';
const many = (count: number, state: StateName = 'ready') =>
  Array.from({ length: count }, (_, index) => hostIn(state, `win-${String(index + 1).padStart(3, '0')}`));

test('prints a line for each change without a terminal', () => {
  const terminal = recordedTerminal();
  const display = displayOn(terminal, stamp);
  display.show([hostIn('ready', 'a')]);
  display.show([hostIn('ready', 'a')]);
  display.close();
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
  display.close();
  expect(terminal.text()).toContain('\u001b[5A');
  expect(terminal.text()).toContain('1 host: 1 Ready');
  expect(terminal.text().endsWith('\u001b[?25h')).toBe(true);
});

test('redraws any frame in place', () => {
  const terminal = recordedTerminal({ columns: 80, rows: 24 });
  const display = screenDisplay(terminal, (hosts, more) => [...safeLines(`${hosts.length}`), ...more]);
  display.show(many(3), safeLines('x'));
  display.show(many(3));
  expect(terminal.text()).toContain('3\n');
});

test('a frame has the table, the counts, the problems and the notes', () => {
  const terminal = recordedTerminal({ columns: 80, rows: 40 });
  const lines = frame([hostIn('ready', 'a'), hostIn('failed', 'b')], safeLines('rest'), {
    ...terminal,
    environment: { NO_COLOR: '1' },
  });
  expect(lines.slice(3)).toEqual([
    '2 hosts: 1 Ready, 1 with a problem',
    '',
    'b: HOST_REFUSED_KEY',
    '  the host does not let us in',
    '  -> Put the key there.',
    '',
    'rest',
  ]);
});

test('shows the hosts with problems when there are too many', () => {
  const hosts = [...many(50), ...many(2, 'failed').map(host => ({ ...host, name: `x-${host.name}` }))];
  const lines = frame(hosts, [], recordedTerminal({ columns: 100, rows: 20 }, { NO_COLOR: '1' }));
  expect(lines.filter(line => line.includes('Failed'))).toHaveLength(2);
  expect(lines).toContain('… and 38 more');
  expect(lines).toContain('52 hosts: 50 Ready, 2 with a problem');
});

test('a frame is never higher than the terminal', () => {
  const hosts = [...many(30), ...many(9, 'failed'), ...many(9, 'configuring')];
  const more = safeLines('x'.repeat(300), 'y');
  for (const rows of [12, 16, 24, 60]) {
    for (const columns of [30, 80, 200]) {
      const lines = frame(hosts, more, recordedTerminal({ columns, rows }));
      expect(lines.length, `${columns}x${rows}`).toBeLessThan(rows);
    }
  }
});

test('mentions problems that do not fit', () => {
  const lines = frame(many(9, 'failed'), [], recordedTerminal({ columns: 80, rows: 24 }, { NO_COLOR: '1' }));
  expect(lines).toContain('… see `wmco status` for the rest');
});

test('the layout has the current time and the size of the terminal', () => {
  expect(layoutFor(recordedTerminal({ columns: 33, rows: 5 }))).toMatchObject({ nowMs: noonMs, columns: 33 });
  expect(layoutFor(recordedTerminal())).not.toHaveProperty('columns');
});
