import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { InstanceUpgrade, TimelineStep, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { configureSteps } from '#node/lifecycle/configure/steps.ts';
import { rebootSteps } from '#node/lifecycle/reboot/steps.ts';
import { removeSteps } from '#node/lifecycle/remove/steps.ts';
import { rollbackSteps, upgradeSteps } from '#node/lifecycle/upgrade/steps.ts';
import { cordonSteps, decide, endSteps, longestMs } from './decide.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const at = (minutes: number) => new Date(nowMs + minutes * 60_000).toISOString();
const version = 'v2';

/** A step that began and ended so many minutes from now. */
const step = (name: string, started: number, finished?: number, more: Partial<TimelineStep> = {}): TimelineStep => ({
  name,
  started: at(started),
  ...(finished !== undefined && { finished: at(finished) }),
  attempts: 1,
  ...more,
});
const lastError = { code: 'DRAIN_BLOCKED', message: 'm', remedy: 'r' };
const cordoned = [step('connect', -6, -6), step('cordon', -5, -5)];

interface Given {
  phase?: WindowsInstanceStatus['phase'];
  timeline?: TimelineStep[];
  upgrade?: Partial<InstanceUpgrade>;
  metadata?: WindowsInstance['metadata'];
  isHostPaused?: boolean;
}

const hostOf = ({ phase = 'Upgrading', timeline = cordoned, upgrade, metadata, isHostPaused }: Given) => ({
  metadata: { name: 'win-1', ...metadata },
  spec: { address: '10.0.0.1', username: 'Administrator', ...(isHostPaused && { paused: true }) },
  status: { phase, timeline, ...(upgrade && { upgrade: { from: 'v1', to: version, ...upgrade } }) },
});
const safe = (given: Given, isPaused = false) =>
  decide({ instances: [hostOf(given)], isPaused, version, nowMs }).isSafe;

const outOfService: [about: string, given: Given][] = [
  ['after the cordon of an upgrade', {}],
  ['after the cordon of a reboot', { phase: 'Rebooting' }],
  ['after the cordon of a removal', { phase: 'Removing' }],
  ['after the cordon of a rollback that an administrator retries', { phase: 'RollingBack' }],
  ['after the cordon of a first join', { phase: 'Configuring', timeline: [step('mark node', -5, -5)] }],
  ['during its drain', { timeline: [...cordoned, step('drain', -5)] }],
  ['during its uncordon', { timeline: [...cordoned, step('uncordon', -1)] }],
  [
    'when it is cordoned again after an earlier attempt put it back',
    { timeline: [step('cordon', -2, -1), step('uncordon', -9, -8)] },
  ],
  [
    'when an attempt after a restart repeats the cordon',
    { timeline: [step('cordon', 0, undefined, { attempts: 2, firstStarted: at(-20) })] },
  ],
  ['when the clock of the former leader was a little ahead', { timeline: [step('cordon', 0.5, 0.5)] }],
];
for (const [about, given] of outOfService)
  test(`UPG-05: is not safe while a node is out of service: ${about}`, () => expect(safe(given)).toBe(false));

const inService: [about: string, given: Given][] = [
  ['before the cordon', { timeline: [step('connect', -6)] }],
  ['while the first cordon is only begun', { timeline: [step('cordon', 0)] }],
  ['after the uncordon', { timeline: [...cordoned, step('uncordon', -1, -1)] }],
  ['after the uncordon of a join that goes on', { timeline: [step('mark node', -5, -5), step('uncordon', -1, -1)] }],
  ['after its Node was deleted', { phase: 'Removing', timeline: [...cordoned, step('delete node', -1, -1)] }],
  ['at rest', { phase: 'Ready', timeline: cordoned }],
  ['after a failure', { phase: 'Failed' }],
  ['in another attempt at what failed', { timeline: [...cordoned, step('drain', 0, undefined, { lastError })] }],
  ['when it is paused', { isHostPaused: true }],
  ['when it shows that it is paused', { phase: 'Paused' }],
  ['when it is being deleted', { metadata: { deletionTimestamp: at(-1) } }],
  ['an hour after its cordon', { timeline: [step('cordon', -60, -60), step('drain', -60)] }],
  [
    'an hour after the first cordon of several attempts',
    { timeline: [step('cordon', -1, -1, { attempts: 3, firstStarted: at(-61) })] },
  ],
  ['when the clock was set back far', { timeline: [step('cordon', 30, 30)] }],
  ['with a time that cannot be read', { timeline: [{ ...step('cordon', 0, 0), started: 'x' }] }],
  ['while settings are applied', { phase: 'Restarting', timeline: [step('wait for agent', -1)] }],
  ['without a timeline', { phase: 'Configuring', timeline: [] }],
];
for (const [about, given] of inService)
  test(`UPG-05: is safe with a host ${about}`, () => expect(safe(given)).toBe(true));

const failed = { code: 'UPGRADE_UNHEALTHY', message: 'm', at: at(-9) };
const { acceptedRollback } = instanceAnnotation;
const stopped: [
  about: string,
  upgrade: Partial<InstanceUpgrade>,
  metadata: WindowsInstance['metadata'],
  want: boolean,
][] = [
  ['failed', { failed }, {}, true],
  ['was rolled back', { failed, rolledBack: at(-8) }, {}, true],
  ['failed for another version', { to: 'v1', failed }, {}, false],
  ['failed, and an administrator goes on', { failed }, { annotations: { [acceptedRollback]: version } }, false],
];
for (const [about, upgrade, metadata, want] of stopped)
  test(`UPG-05: is ${want ? 'safe, because the roll-out is stopped,' : 'not safe'} when an upgrade ${about}`, () => {
    const instances = [hostOf({}), hostOf({ phase: 'Ready', upgrade, metadata })];
    expect(decide({ instances, isPaused: false, version, nowMs }).isSafe).toBe(want);
  });

test('UPG-05: is safe while the roll-out is paused', () => expect(safe({}, true)).toBe(true));

test('UPG-05: is safe without hosts, and with hosts of which nothing is known', () => {
  const unknown: WindowsInstance = { metadata: {}, spec: { address: '10.0.0.1', username: 'a' } };
  for (const instances of [[], [unknown]])
    expect(decide({ instances, isPaused: false, version, nowMs })).toEqual({ isSafe: true });
});

test('UPG-05: tells when the hour of the last host is over', () => {
  const instances = [hostOf({}), hostOf({ timeline: [step('cordon', -20, -19)] })];
  expect(decide({ instances, isPaused: false, version, nowMs })).toEqual({ isSafe: false, againMs: 55 * 60_000 });
  expect(decide({ instances, isPaused: false, version, nowMs: nowMs + longestMs })).toEqual({ isSafe: true });
});

const journeys = { configureSteps, upgradeSteps, rollbackSteps, rebootSteps, removeSteps };
for (const [about, steps] of Object.entries(journeys))
  test(`${about} cordon a Node once and end its time out of service once`, () => {
    const names = steps.map(({ name }) => name);
    const ends = names.filter(name => endSteps.includes(name));
    expect([names.filter(name => cordonSteps.includes(name)).length, ends.length]).toEqual([1, 1]);
    expect(names.findIndex(name => cordonSteps.includes(name))).toBeLessThan(names.indexOf(ends[0] ?? ''));
  });
