import { expect, test } from 'vitest';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { at, condition, hostIn, instanceOf, nodeOf, noonMs, step, viewOf } from '../../../../test/kit/status-views.ts';
import { ChangeLines } from '../screen/change-lines.ts';
import { hostPage } from '../screen/host-page.ts';
import { countsLine, detailOf } from '../screen/host-table.ts';
import { problemBlocks } from '../screen/problems.ts';
import type { HostView } from './host-view.ts';
import { hostOfInstance } from './instance-host.ts';

const lastError = { code: 'SETTINGS_NOT_APPLIED', message: 'win-1 did not work with them', remedy: 'Correct them.' };
const unsettled = condition('SettingsApplied', 'False', lastError.code, `${lastError.message}. ${lastError.remedy}`);
const joined = condition('Configured', 'True', 'Joined');
const ready = (status: 'True' | 'False', reason: string) => condition('Ready', status, reason);
const timeline = [step('connect', 0, 1), step('restart services', 2, undefined, { attempts: 3, lastError })];
const failed = { phase: 'Restarting', step: 'restart services', nextAttempt: at(60), timeline } as const;
const running = {
  ...failed,
  step: 'connect',
  nextAttempt: undefined,
  activity: { since: at(9), usualSeconds: 5, limitSeconds: 60 },
};

function hostWith({ nextAttempt, ...status }: Record<string, unknown>, ...conditions: unknown[]): HostView {
  const all = { node: 'win-1', ...status, ...(nextAttempt !== undefined && { nextAttempt }), conditions };
  return hostOfInstance(
    instanceOf('win-1', structuredClone(all) as WindowsInstanceStatus),
    viewOf({ nodes: [nodeOf('win-1')] }),
  );
}

const inService = hostWith(failed, joined, ready('True', lastError.code), unsettled);
const retried = hostWith(running, joined, ready('True', 'Restarting'), unsettled);

const cases: [what: string, host: HostView, phase: string, count: string][] = [
  ['waits for the next attempt', inService, 'Restarting', '1 in service without new settings'],
  ['is retried', retried, 'Restarting', '1 in service without new settings'],
  [
    'failed to refresh its files',
    hostWith({ ...failed, phase: 'Refreshing' }, ready('True', lastError.code), unsettled),
    'Refreshing',
    '1 in service without new settings',
  ],
  [
    'broke with its settings',
    hostWith(failed, joined, ready('False', lastError.code), unsettled),
    'Failed',
    '1 with a problem',
  ],
  [
    'broke and is retried',
    hostWith(running, joined, ready('False', 'Restarting'), unsettled),
    'Retrying',
    '1 with a problem',
  ],
];
test.each(cases)('a host without its new settings that %s shows its failure', (_, host, phase, count) => {
  expect(host).toMatchObject({ phase, tone: 'bad', problem: lastError, attempts: 3 });
  expect(detailOf(host)).toBe('SETTINGS_NOT_APPLIED, 3 attempts');
  expect(countsLine([host, hostIn('ready')])).toBe(`2 hosts: 1 Ready, ${count}`);
  expect(problemBlocks([host], {}).flat()).toEqual([
    'win-1: SETTINGS_NOT_APPLIED',
    '  win-1 did not work with them',
    '  -> Correct them.',
  ]);
});

test('has the text of the condition when no step failed with it', () => {
  const host = hostWith({ ...failed, timeline: [step('connect', 0)] }, ready('True', lastError.code), unsettled);
  expect(host.problem).toEqual({ code: lastError.code, message: unsettled.message, remedy: '' });
});

test('the page says when it is retried, and how to retry now', () => {
  const text = hostPage(inService, { nowMs: noonMs }).join('\n');
  expect(text).toMatch(/^Problem: SETTINGS_NOT_APPLIED$/m);
  expect(text).toMatch(/Retried automatically by 12:01:00 UTC, within 1 min\.\n {2}To retry now:/);
});

test('prints the failure once, not for each step of a retry', () => {
  const changes = new ChangeLines(() => '');
  const lines = [inService, retried, { ...retried, step: 'restart services' }, inService].map(
    (host, index) => changes.next([host], noonMs + index * 60_000).length,
  );
  expect(lines).toEqual([3, 0, 0, 0]);
});

const harmless: [what: string, host: HostView, phase: string, tone: string][] = [
  ['gets them for the first time', hostWith(running, ready('True', 'Restarting')), 'Restarting', 'busy'],
  [
    'got them after a failure',
    hostWith(running, ready('True', 'Restarting'), condition('SettingsApplied', 'True', 'Applied')),
    'Restarting',
    'busy',
  ],
  [
    'is not to get them any more',
    hostWith({ phase: 'Ready' }, joined, ready('True', 'Joined'), unsettled),
    'Ready',
    'good',
  ],
];
test.each(harmless)('a host that %s has no problem', (_, host, phase, tone) => {
  expect(host).toMatchObject({ phase, tone, problem: undefined });
});

const first =
  'settings of its services have changed waits: win-4 is the first host with these settings, and is not done';
const waits: [what: string, reason: string, message: string, note: string][] = [
  ['another host', 'Waits', `Node win-1 runs version 11.1.0; ${first}`, first],
  ['the budget', 'WaitsForBudget', `Node win-1 runs version 11.1.0; ${first}`, first],
  ['something while its Node claims a version', 'Waits', `Node win-1 claims another version; ${first}`, first],
  ['something else', 'Waits', 'they failed on win-5; see there', 'they failed on win-5; see there'],
];
test.each(waits)('a Ready host that waits for %s says why', (_, reason, message, note) => {
  const host = hostWith({ phase: 'Ready' }, joined, condition('Ready', 'True', reason, message));
  expect(host).toMatchObject({ phase: 'Ready', tone: 'good', note });
  expect(detailOf(host)).toBe(note);
});
