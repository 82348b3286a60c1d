import { expect, test } from 'vitest';
import { safeLines } from '../../../../test/kit/safe-lines.ts';
import { hostIn, noonMs, type StateName } from '../../../../test/kit/status-views.ts';
import { frame } from './frame.ts';

const many = (count: number, state: StateName = 'ready', prefix = 'win') =>
  Array.from({ length: count }, (_, index) => hostIn(state, `${prefix}-${String(index + 1).padStart(3, '0')}`));
const size = (columns: number, rows: number) => ({ nowMs: noonMs, columns, rows, command: 'wmco' });

test('a frame has the table, the counts, the problems and further lines', () => {
  const lines = frame([hostIn('ready', 'a'), hostIn('failed', 'b')], safeLines('rest'), size(80, 40));
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

test('lines above the table come first and leave room for it', () => {
  const above = safeLines(...Array.from({ length: 40 }, (_, index) => `line ${index}`));
  const lines = frame(many(2), [], { ...size(80, 24), above });
  expect([lines[0], lines[7], lines[8]?.slice(0, 4)]).toEqual(['line 0', 'line 7', 'HOST']);
  expect(lines.at(-1)).toBe('2 hosts: 2 Ready');
});

test('13 hosts on 80 x 24 show the remedy of the one that fails', () => {
  const problem = { code: 'HOST_REFUSED_KEY', message: 'word '.repeat(40), remedy: 'long '.repeat(60) };
  const hosts = [...many(12), hostIn('failed', 'x-13', { problem })];
  const lines = frame(hosts, safeLines('export KUBECONFIG=x', 'wmco status x-13'), size(80, 24));
  expect(lines.length).toBeLessThan(24);
  expect(lines.find(line => line.startsWith('x-13 '))).toContain('Failed');
  expect(lines.join(' ').match(/\bword\b/g)).toHaveLength(40);
  expect(lines.join(' ').match(/\blong\b/g)).toHaveLength(60);
  expect(lines.join('\n')).toMatch(/… and \d+ more/);
});

test('shows the hosts with problems when there are too many', () => {
  const hosts = [...many(50), ...many(2, 'failed', 'x')];
  const lines = frame(hosts, [], size(100, 20));
  expect(lines.filter(line => line.includes('Failed'))).toHaveLength(2);
  expect(lines.join('\n')).toMatch(/… and 4\d more/);
  expect(lines).toContain('52 hosts: 50 Ready, 2 with a problem');
  expect(lines.filter(line => line.includes('-> Put the key there.')).length).toBeGreaterThan(0);
});

test('a frame is never higher than the terminal', () => {
  const hosts = [...many(30), ...many(9, 'failed'), ...many(9, 'configuring'), ...many(3, 'slow')];
  const more = safeLines('x'.repeat(300), 'y');
  for (let rows = 9; rows <= 80; rows += 1) {
    for (const columns of [30, 80, 200]) {
      for (const shown of [hosts, hosts.slice(0, 3), many(1, 'failed'), []])
        for (const above of [[], safeLines(...Array.from({ length: 40 }, () => 'z'))])
          expect(frame(shown, more, { ...size(columns, rows), above }).length, `${columns}x${rows}`).toBeLessThan(rows);
    }
  }
});

test('says how many problems do not fit', () => {
  const lines = frame(many(9, 'failed'), [], size(80, 24));
  expect(lines.at(-1)).toMatch(/^… \d more: `wmco status` prints them$/);
});

test('a host that is slow has its remedy, after those that failed', () => {
  const text = frame([hostIn('slow', 'a'), hostIn('failed', 'b')], [], size(120, 40)).join('\n');
  expect(text).toMatch(/b: HOST_REFUSED_KEY\n(.*\n)+?a: SlowStep\n/);
  expect(text).toContain('the kubelet registers its Node, since 12:00:02 UTC (usually 30 s, limit 10 min)');
  expect(text).toContain('-> Check the kubelet.');
});
