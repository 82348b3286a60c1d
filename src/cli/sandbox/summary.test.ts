import { expect, test } from 'vitest';
import { hostIn, noonMs, type StateName, step, viewOf } from '../../../test/kit/status-views.ts';
import { hostViews } from '../status/view/cluster-hosts.ts';
import type { HostView } from '../status/view/host-view.ts';
import { widthOf } from '../status/screen/text-width.ts';
import type { SimulatedMachine } from './running.ts';
import { isSettled, outcomeLine, summaryLines } from './summary.ts';

const settled: [StateName, Partial<HostView>, boolean][] = [
  ['fresh', {}, false],
  ['configuring', {}, false],
  ['waiting', {}, false],
  ['booting', {}, false],
  ['ready', {}, true],
  ['paused', {}, true],
  ['refused', {}, true],
  ['failed', { attempts: 1 }, false],
  ['failed', { attempts: 2 }, true],
  ['retrying', { attempts: 1 }, false],
  ['retrying', { attempts: 3 }, true],
];
for (const [state, over, want] of settled) {
  test(`a host that is ${state} ${JSON.stringify(over)} is ${want ? '' : 'not '}settled`, () =>
    expect(isSettled(hostIn(state, 'a', over))).toBe(want));
}

test('an invalid entry is settled: the operator ignores it', () => {
  const [host] = hostViews(viewOf({ entries: { bad_name: 'username=x' } }));
  expect(isSettled(host as HostView)).toBe(true);
});

const outcomes: [StateName[], number, number, string][] = [
  [['ready', 'ready'], 13_000, 2, '2 of 2 hosts Ready in 13 s (26 s of sandbox time).'],
  [['ready'], 13_000, 1, '1 of 1 host Ready in 13 s.'],
  [['ready', 'failed', 'paused'], 90_000, 0.5, '1 of 3 hosts Ready in 1 min 30 s (45 s of sandbox time).'],
  [[], 0, 1, '0 of 0 hosts Ready in 0.0 s.'],
];
for (const [states, elapsedMs, speed, want] of outcomes) {
  test(`prints "${want}"`, () => {
    const hosts = states.map(state => hostIn(state));
    expect(outcomeLine(hosts, elapsedMs, speed)).toBe(want);
  });
}

const machine = (name: string, sshSessions: number, uploadedBytes: number): SimulatedMachine => ({
  name,
  faults: [],
  sshSessions,
  uploadedBytes,
  reboots: 0,
  installed: { services: [], networks: [] },
});
const look = { nowMs: noonMs + 20_000 };

test('the summary lists time, SSH sessions and bytes of each host', () => {
  const hosts = [hostIn('ready', 'win-1'), hostIn('failed', 'win-2'), hostIn('fresh', 'win-3')];
  expect(summaryLines(hosts, [machine('win-1', 7, 8_009_000), machine('win-2', 0, 0)], look)).toEqual([
    'HOST   NODE   PHASE    TIME  SSH SESSIONS  SENT    SLOWEST STEP',
    'win-1  win-1  Ready    12 s  7             8.0 MB  uncordon, 2.0 s',
    'win-2         Failed   20 s  0             0 B',
    'win-3         Pending        0             0 B',
  ]);
});

test('the summary shows the attempts of the slowest step', () => {
  const timeline = [step('connect', 0, 9, { attempts: 2 }), step('prepare files', 9, 10), step('reboot', 10)];
  const [, line] = summaryLines([hostIn('ready', 'a', { timeline })], [], look);
  expect(line).toMatch(/connect, 9\.0 s \(2 attempts\)$/);
});

test('fits the terminal', () => {
  for (const columns of [20, 40, 60, 120]) {
    const lines = summaryLines([hostIn('ready', 'windows-machine-with-a-long-name')], [], { ...look, columns });
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
  }
});
