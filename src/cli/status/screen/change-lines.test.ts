/* oxlint-disable no-control-regex -- escapes are what is looked for */
import { expect, test } from 'vitest';
import { hostIn, noonMs } from '../../../../test/kit/status-views.ts';
import { ChangeLines } from './change-lines.ts';
import type { HostView } from '../view/host-view.ts';

const seconds = (nowMs: number) => `${(nowMs - noonMs) / 1000} s`.padStart(5);

/** Lines by second. */
function printed(...moments: [second: number, hosts: HostView[]][]): string[] {
  const lines = new ChangeLines(seconds);
  return moments.flatMap(([second, hosts]) => lines.next(hosts, noonMs + second * 1000));
}
const busy = (step: string, over: Partial<HostView> = {}) =>
  hostIn('configuring', 'win-1', { step, progress: undefined, ...over });

test('prints the state of each host first', () => {
  expect(printed([0, [hostIn('fresh', 'win-1'), hostIn('ready', 'win-10'), hostIn('paused', 'x')]])).toEqual([
    '  0 s  win-1   Pending',
    '  0 s  win-10  Ready as Node win-1 after 12 s',
    '  0 s  x       Paused, spec.paused is true',
  ]);
});

test('prints no line twice', () => {
  const hosts = [busy('connect'), hostIn('ready', 'win-2'), hostIn('failed', 'win-3')];
  expect(printed([0, hosts], [5, hosts], [60, hosts], [3600, hosts])).toHaveLength(5);
});

test('merges quick steps into one line', () => {
  expect(
    printed(
      [0, [busy('connect')]],
      [0.5, [busy('prepare files')]],
      [1, [busy('inventory')]],
      [2.1, [busy('preflight')]],
    ),
  ).toEqual(['  0 s  win-1  connect', '2.1 s  win-1  preflight']);
});

test('prints the progress of a long upload only now and then', () => {
  const at = (bytes: number) => [busy('stage programs', { progress: { bytes, totalBytes: 100 } })];
  const moments = Array.from({ length: 61 }, (_, second): [number, HostView[]] => [second, at(second)]);
  expect(printed(...moments)).toEqual([
    '  0 s  win-1  stage programs: 0 of 100 B (0 %)',
    ' 15 s  win-1  stage programs: 15 of 100 B (15 %)',
    ' 30 s  win-1  stage programs: 30 of 100 B (30 %)',
    ' 45 s  win-1  stage programs: 45 of 100 B (45 %)',
    ' 60 s  win-1  stage programs: 60 of 100 B (60 %)',
  ]);
});

test('prints Ready and failures at once', () => {
  const lines = printed([0, [busy('connect')]], [0.1, [hostIn('failed', 'win-1')]], [0.2, [hostIn('ready', 'win-1')]]);
  expect(lines).toEqual([
    '  0 s  win-1  connect',
    '0.1 s  win-1  Failed at connect: HOST_REFUSED_KEY',
    '                the host does not let us in',
    '                -> Put the key there.',
    '0.2 s  win-1  Ready as Node win-1 after 12 s',
  ]);
});

test('does not repeat the failure of a retried host', () => {
  const again = (attempts: number) => [hostIn('failed', 'a', { attempts })];
  const retry = [hostIn('retrying', 'a')];
  expect(printed([0, again(1)], [5, retry], [6, again(2)], [20, retry], [21, again(3)])).toHaveLength(3);
});

test('does not print the steps of a retry that fails again', () => {
  const at = (step: string) => [hostIn('retrying', 'a', { step })];
  const failed = [hostIn('failed', 'a', { step: 'preflight' })];
  const lines = printed([0, failed], [5, at('connect')], [8, at('prepare files')], [11, at('preflight')], [12, failed]);
  expect(lines).toEqual([expect.stringContaining('Failed at preflight'), expect.any(String), expect.any(String)]);
});

test('prints a different failure', () => {
  const other = hostIn('failed', 'a', { problem: { code: 'HOST_KEY_CHANGED', message: 'other', remedy: '' } });
  expect(printed([0, [hostIn('failed', 'a')]], [1, [other]]).slice(3)).toEqual([
    '  1 s  a  Failed at connect: HOST_KEY_CHANGED',
    '            other',
  ]);
});

test('does not print a host that needs time as failed', () => {
  expect(printed([0, [hostIn('booting', 'm')]])).toEqual(['  0 s  m  connect: may need more time (HOST_UNREACHABLE)']);
});

test('cuts notes of agents, but not problems', () => {
  const long = 'x'.repeat(500);
  const [note] = printed([0, [busy('wait for agent', { note: long })]]);
  expect(note?.length).toBeLessThan(120);
  const problem = { code: 'X', message: long, remedy: long };
  expect(printed([0, [hostIn('failed', 'a', { problem })]]).join('')).toContain(`-> ${long}`);
});

test('prints that a Ready host is cordoned', () => {
  const cordoned = hostIn('ready', 'a', { note: 'cordoned by a user' });
  expect(printed([0, [hostIn('ready', 'a')]], [9, [cordoned]])[1]).toBe(
    '  9 s  a  Ready as Node win-1 after 12 s, cordoned by a user',
  );
});

test('prints once that a host is gone, and prints it again when it is back', () => {
  const host = [hostIn('ready', 'a')];
  expect(printed([0, host], [1, []], [2, []], [3, host])).toEqual([
    '  0 s  a  Ready as Node win-1 after 12 s',
    '  1 s  a  is gone',
    '  3 s  a  Ready as Node win-1 after 12 s',
  ]);
});

test('no line contains control characters', () => {
  const evil = '\u001b[2J\u0007';
  const host = hostIn('failed', `a${evil}`, { problem: { code: 'X', message: evil, remedy: evil } });
  expect(printed([0, [host]], [1, []]).join('')).not.toMatch(/[\u0000-\u001f]/);
});

test('prints a slow step once, with what it waits for and the remedy', () => {
  const slow = hostIn('slow', 'win-1');
  expect(printed([60, [slow]], [90, [slow]], [600, [slow]])).toEqual([
    ' 60 s  win-1  Slow at find node',
    '                the kubelet registers its Node, since 12:00:02 UTC (usually 30 s, limit 10 min)',
    '                -> Check the kubelet.',
  ]);
});
