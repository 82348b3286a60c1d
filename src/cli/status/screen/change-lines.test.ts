/* oxlint-disable no-control-regex -- escapes are what is looked for */
import { expect, test } from 'vitest';
import { hostIn, noonMs } from '../../../../test/kit/status-views.ts';
import { ChangeLines } from './change-lines.ts';
import type { HostView } from '../view/host-view.ts';

const seconds = (nowMs: number) => `${(nowMs - noonMs) / 1000} s`.padStart(5);

/** Lines by second. */
function told(...moments: [second: number, hosts: HostView[]][]): string[] {
  const lines = new ChangeLines(seconds);
  return moments.flatMap(([second, hosts]) => lines.next(hosts, noonMs + second * 1000));
}
const busy = (step: string, over: Partial<HostView> = {}) =>
  hostIn('configuring', 'win-1', { step, progress: undefined, ...over });

test('tells first how each host is', () => {
  expect(told([0, [hostIn('fresh', 'win-1'), hostIn('ready', 'win-10'), hostIn('paused', 'x')]])).toEqual([
    '  0 s  win-1   Pending',
    '  0 s  win-10  Ready as Node win-1 after 12 s',
    '  0 s  x       Paused',
  ]);
});

test('says nothing twice', () => {
  const hosts = [busy('connect'), hostIn('ready', 'win-2'), hostIn('failed', 'win-3')];
  expect(told([0, hosts], [5, hosts], [60, hosts], [3600, hosts])).toHaveLength(5);
});

test('steps that follow each other quickly become one line', () => {
  expect(
    told([0, [busy('connect')]], [0.5, [busy('prepare files')]], [1, [busy('inventory')]], [2.1, [busy('preflight')]]),
  ).toEqual(['  0 s  win-1  connect', '2.1 s  win-1  preflight']);
});

test('a long upload is told now and then, not all the time', () => {
  const at = (bytes: number) => [busy('stage programs', { progress: { bytes, totalBytes: 100 } })];
  const moments = Array.from({ length: 61 }, (_, second): [number, HostView[]] => [second, at(second)]);
  expect(told(...moments)).toEqual([
    '  0 s  win-1  stage programs: 0 of 100 B (0 %)',
    ' 15 s  win-1  stage programs: 15 of 100 B (15 %)',
    ' 30 s  win-1  stage programs: 30 of 100 B (30 %)',
    ' 45 s  win-1  stage programs: 45 of 100 B (45 %)',
    ' 60 s  win-1  stage programs: 60 of 100 B (60 %)',
  ]);
});

test('Ready and failures are told at once', () => {
  const lines = told([0, [busy('connect')]], [0.1, [hostIn('failed', 'win-1')]], [0.2, [hostIn('ready', 'win-1')]]);
  expect(lines).toEqual([
    '  0 s  win-1  connect',
    '0.1 s  win-1  Failed at connect: HOST_REFUSED_KEY',
    '                the host does not let us in',
    '                -> Put the key there.',
    '0.2 s  win-1  Ready as Node win-1 after 12 s',
  ]);
});

test('a host that is tried again and fails in the same way is no news', () => {
  const again = (attempts: number) => [hostIn('failed', 'a', { attempts })];
  const retry = [hostIn('retrying', 'a')];
  expect(told([0, again(1)], [5, retry], [6, again(2)], [20, retry], [21, again(3)])).toHaveLength(3);
});

test('nor are the steps on which it comes to the same failure again', () => {
  const at = (step: string) => [hostIn('retrying', 'a', { step })];
  const failed = [hostIn('failed', 'a', { step: 'preflight' })];
  const lines = told([0, failed], [5, at('connect')], [8, at('prepare files')], [11, at('preflight')], [12, failed]);
  expect(lines).toEqual([expect.stringContaining('Failed at preflight'), expect.any(String), expect.any(String)]);
});

test('another failure is news', () => {
  const other = hostIn('failed', 'a', { problem: { code: 'HOST_KEY_CHANGED', message: 'other', remedy: '' } });
  expect(told([0, [hostIn('failed', 'a')]], [1, [other]]).slice(3)).toEqual([
    '  1 s  a  Failed at connect: HOST_KEY_CHANGED',
    '            other',
  ]);
});

test('a host that needs time is not said to have failed', () => {
  expect(told([0, [hostIn('booting', 'm')]])).toEqual(['  0 s  m  connect: may need more time (HOST_UNREACHABLE)']);
});

test('notes of agents are cut, problems are not', () => {
  const long = 'x'.repeat(500);
  const [note] = told([0, [busy('wait for agent', { note: long })]]);
  expect(note?.length).toBeLessThan(120);
  const problem = { code: 'X', message: long, remedy: long };
  expect(told([0, [hostIn('failed', 'a', { problem })]]).join('')).toContain(`-> ${long}`);
});

test('a Ready host that is cordoned says so', () => {
  const cordoned = hostIn('ready', 'a', { note: 'cordoned by somebody' });
  expect(told([0, [hostIn('ready', 'a')]], [9, [cordoned]])[1]).toBe(
    '  9 s  a  Ready as Node win-1 after 12 s, cordoned by somebody',
  );
});

test('a host that is gone is told once, and is news when it comes back', () => {
  const host = [hostIn('ready', 'a')];
  expect(told([0, host], [1, []], [2, []], [3, host])).toEqual([
    '  0 s  a  Ready as Node win-1 after 12 s',
    '  1 s  a  is gone',
    '  3 s  a  Ready as Node win-1 after 12 s',
  ]);
});

test('no line steers a terminal', () => {
  const evil = '\u001b[2J\u0007';
  const host = hostIn('failed', `a${evil}`, { problem: { code: 'X', message: evil, remedy: evil } });
  expect(told([0, [host]], [1, []]).join('')).not.toMatch(/[\u0000-\u001f]/);
});
