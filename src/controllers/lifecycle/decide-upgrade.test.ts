import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation, nodeAnnotation, nodeLabel } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import {
  type InstanceUpgrade,
  type JourneyName,
  journeyNames,
  type WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import { type Decision, decide } from './decide.ts';
import { type ChangeFacts, changeGates, type RolloutView } from './decide-upgrade.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const at = (minutes: number) => new Date(nowMs + minutes * 60_000).toISOString();
const { version, desiredVersion, cordoned, rebootRequired } = nodeAnnotation;
const node = (annotations: Record<string, string>, over: Partial<NodeView> = {}): NodeView => ({
  name: 'win-5',
  uid: 'u',
  labels: {},
  annotations,
  addresses: [],
  ready: true,
  unschedulable: false,
  ...over,
});
const base: WindowsInstanceStatus = {
  host: { name: 'win-5', addresses: ['10.0.0.5'] },
  node: 'win-5',
  nodeUID: 'u',
  version: 'v1',
  agent: { keyHash: 'a', installed: at(-60), certificateEnds: at(60) },
};
const upToDate = { ...base, version: 'v2' };
const upgrade = (over: Partial<InstanceUpgrade>): WindowsInstanceStatus => ({
  ...base,
  upgrade: { from: 'v1', to: 'v2', ...over },
});
const failed = { code: 'UPGRADE_UNHEALTHY', message: 'Node win-5 is not ready', at: at(-1) };
const swapping = { staged: at(-3), activated: at(-2) };
const rolledBack = { ...swapping, failed, rolledBack: at(-1), retry: 'one' };
const onJourney = (name: JourneyName) => ({ journey: { name, cause: 'x', started: at(-1) } });

interface Given {
  status?: WindowsInstanceStatus;
  node?: NodeView;
  annotations?: Record<string, string>;
  isPaused?: boolean;
  removal?: string;
  view?: Partial<RolloutView>;
}

function decided({ status = base, node: of = node({ [version]: 'v1' }), annotations = {}, ...given }: Given) {
  const { isPaused, removal, view } = given;
  const instance: WindowsInstance = {
    metadata: { name: 'win-5', namespace: 'wmco', annotations },
    spec: { address: '10.0.0.5', username: 'Administrator', ...(isPaused && { paused: true }) },
    status,
  };
  const facts: ChangeFacts = { instance, node: of, version: 'v2', nowMs };
  const gates = changeGates(facts, { settings: { isPaused: false }, stoppedBy: [], ...view });
  return decide({ ...facts, gates, problem: undefined, journeys: new Set(journeyNames), ...(removal && { removal }) });
}

const paused = { settings: { isPaused: true } };
const pinned = { [instanceAnnotation.pinnedVersion]: 'v1' };
const of = (name: string, isPinned = false) => ({ stoppedBy: [{ name, from: 'v1', isPinned }] });
const expired = { agent: { keyHash: 'a', installed: at(-60), certificateEnds: at(-1) } };

const again = { from: 'v2', ...swapping, failed };
const ended = { staged: at(-6), activated: at(-5), ready: at(-4), soaked: at(-4) };
const repeatedAt = (minutes: number) => ({
  status: { ...upgrade({ from: 'v2', ...ended, repeated: at(minutes), retry: 'one' }), version: 'v2' },
  node: node({ [version]: 'v1' }),
});
const due: [about: string, given: Given, want: Decision['do'], cause?: string][] = [
  ['upgrades a Node of another version (UPG-01)', {}, 'upgrade', 'upgrade v1 -> v2'],
  ['downgrades one of a later version', { status: { ...base, version: 'v3' } }, 'upgrade', 'upgrade v3 -> v2'],
  [
    'upgrades a Node whose version a user set (NODE-16)',
    { status: { ...base, version: 'v2' }, node: node({ [version]: 'invalidVersion' }) },
    'upgrade',
    'upgrade v2 -> v2',
  ],
  [
    'does not repeat what a Node claims',
    { status: { ...base, version: '' }, node: node({ [version]: 'a b`c' }) },
    'upgrade',
    'upgrade of an unknown version -> v2',
  ],
  ['sets up a Node again once when it claims another version', repeatedAt(-24 * 60), 'upgrade'],
  ['leaves one that claims it again in the same day', repeatedAt(-23 * 60), 'report'],
  [
    'sets it up again when an administrator retries it',
    { ...repeatedAt(-23 * 60), annotations: { [instanceAnnotation.retry]: 'two' } },
    'upgrade',
  ],
  [
    'leaves it when the retry was before',
    { ...repeatedAt(-23 * 60), annotations: { [instanceAnnotation.retry]: 'one' } },
    'report',
  ],
  ['leaves a Node of this version', { status: upToDate, node: node({ [version]: 'v2' }) }, 'report'],
  ['upgrades a Node that only claims this version', { node: node({ [version]: 'v2' }) }, 'upgrade', 'upgrade v1 -> v2'],
  [
    'sets up no Node again in the hour after its soak',
    { status: { ...upgrade(ended), version: 'v2' }, node: node({ [version]: 'v1' }) },
    'report',
  ],
  ['first renews credentials that have expired', { status: { ...base, ...expired } }, 'reconnect'],
  [
    'configures a Node without version (UPG-03)',
    { status: { host: { name: 'win-5', addresses: [] } }, node: node({ [desiredVersion]: 'v2' }) },
    'configure',
  ],
  ['goes on with staging', { status: upgrade({}), node: node({}) }, 'upgrade', 'upgrade v1 -> v2'],
  ['goes on with swapped files', { status: upgrade(swapping), node: node({}) }, 'upgrade', 'upgrade v1 -> v2'],
  ['goes on after the version was reported', { status: upgrade(swapping), node: node({ [version]: 'v2' }) }, 'upgrade'],
  ['goes on before it renews credentials', { status: { ...upgrade(swapping), ...expired }, node: node({}) }, 'upgrade'],
  ['goes on while the roll-out is paused', { status: upgrade(swapping), node: node({}), view: paused }, 'upgrade'],
  ['goes on while its instance is paused', { status: upgrade(swapping), node: node({}), isPaused: true }, 'upgrade'],
  ['goes on while it is pinned', { status: upgrade(swapping), node: node({}), annotations: pinned }, 'upgrade'],
  ['goes on while others stop the roll-out', { status: upgrade(swapping), node: node({}), view: of('a') }, 'upgrade'],
  [
    'goes on with a drained node while paused',
    {
      status: { ...upgrade({}), ...onJourney('upgrade') },
      node: node({ [version]: 'v1', [cordoned]: '' }),
      view: paused,
    },
    'upgrade',
  ],
  [
    'configures a Node that registered again',
    { status: { ...upgrade(swapping), nodeUID: 'former' }, node: node({ [desiredVersion]: 'v1' }) },
    'configure',
  ],
  [
    'reports a node that soaks',
    { status: upgrade({ ...swapping, ready: at(0) }), node: node({ [version]: 'v2' }) },
    'report',
  ],
  [
    'rolls back after a failure',
    { status: upgrade({ ...swapping, failed }), node: node({}) },
    'rollback',
    'rollback v2 -> v1: UPGRADE_UNHEALTHY',
  ],
  [
    'rolls back a node that soaks',
    { status: upgrade({ ...swapping, ready: at(0), failed }), node: node({ [version]: 'v2' }) },
    'rollback',
  ],
  [
    'starts no rollback while its instance is paused',
    { status: upgrade({ ...swapping, failed }), isPaused: true },
    'pause',
  ],
  [
    'finishes a rollback while its instance is paused',
    {
      status: { ...upgrade({ ...swapping, failed }), ...onJourney('rollback') },
      node: node({ [cordoned]: '' }),
      isPaused: true,
    },
    'rollback',
  ],
  ['sets a host up again that has nothing to go back to', { status: upgrade(again), node: node({}) }, 'upgrade'],
  ['does so whatever its Node reports', { status: upgrade(again), node: node({ [version]: 'v2' }) }, 'upgrade'],
  [
    'upgrades a host again whose former files are gone, when it is retried',
    { status: upgrade({ ...swapping, failed, retry: '' }), annotations: { [instanceAnnotation.retry]: 'two' } },
    'upgrade',
  ],
  [
    'rolls back one that is retried, whose former files are there',
    { status: upgrade({ ...swapping, fromAgent: 'ab', failed }), annotations: { [instanceAnnotation.retry]: 'two' } },
    'rollback',
  ],
  [
    'upgrades to a fixed version instead of a rollback',
    { status: upgrade({ ...swapping, to: 'bad', failed }), node: node({}) },
    'upgrade',
    'upgrade v1 -> v2',
  ],
  [
    'rolls back before it upgrades to a fixed version, if the former files are there',
    { status: upgrade({ ...swapping, fromAgent: 'ab', to: 'bad', failed }), node: node({ [cordoned]: '' }) },
    'rollback',
    'rollback bad -> v1: UPGRADE_UNHEALTHY',
  ],
  [
    'rolls back although the host is pinned and the roll-out is paused',
    {
      status: upgrade({ ...swapping, fromAgent: 'ab', to: 'bad', failed }),
      node: node({ [cordoned]: '' }),
      annotations: pinned,
      view: paused,
    },
    'rollback',
  ],
  [
    'upgrades to a fixed version when it is retried, because the rollback fails',
    {
      status: upgrade({ ...swapping, fromAgent: 'ab', to: 'bad', failed }),
      annotations: { [instanceAnnotation.retry]: 'two' },
    },
    'upgrade',
  ],
  [
    'does not release a failed host half-way',
    { status: upgrade({ ...swapping, to: 'bad', failed }), node: node({ [cordoned]: '' }), annotations: pinned },
    'report',
  ],
  [
    'rolls back a node that its failed upgrade left out of service, although its instance is paused',
    {
      status: { ...upgrade({ ...swapping, fromAgent: 'ab', failed }), ...onJourney('upgrade') },
      node: node({ [cordoned]: '' }),
      isPaused: true,
    },
    'rollback',
  ],
  [
    'does not upgrade a host again that was rolled back',
    { status: upgrade(rolledBack), annotations: { [instanceAnnotation.retry]: 'one' } },
    'report',
  ],
  ['does not upgrade it again when `retry` is removed', { status: upgrade(rolledBack) }, 'report'],
  [
    'upgrades it again when it is retried',
    { status: upgrade(rolledBack), annotations: { [instanceAnnotation.retry]: 'two' } },
    'upgrade',
  ],
  ['upgrades it to the next version', { status: upgrade({ ...rolledBack, to: 'bad' }) }, 'upgrade'],
  ['does not upgrade a pinned host', { annotations: pinned }, 'report'],
  [
    'upgrades a host that is pinned to this version',
    { annotations: { [instanceAnnotation.pinnedVersion]: 'v2' } },
    'upgrade',
  ],
  ['upgrades a host whose pin is empty', { annotations: { [instanceAnnotation.pinnedVersion]: '' } }, 'upgrade'],
  ['starts no upgrade while the roll-out is paused', { view: paused }, 'report'],
  ['starts no upgrade while it is stopped', { view: of('win-1') }, 'report'],
  [
    'reboots on request of the agent',
    { status: upToDate, node: node({ [version]: 'v2', [rebootRequired]: '' }) },
    'reboot',
  ],
  [
    'reboots on request of an administrator',
    { status: upToDate, node: node({ [version]: 'v2' }), annotations: { [instanceAnnotation.reboot]: '1' } },
    'reboot',
  ],
  [
    'carries out such a request once',
    {
      status: { ...upToDate, rebootRequest: '1' },
      node: node({ [version]: 'v2' }),
      annotations: { [instanceAnnotation.reboot]: '1' },
    },
    'report',
  ],
  [
    'reboots at most three times in a day',
    {
      status: { ...upToDate, reboots: [at(-600), at(-300), at(-100)] },
      node: node({ [version]: 'v2', [rebootRequired]: '' }),
    },
    'report',
  ],
  [
    'releases a node whose agent requires one more reboot after that',
    {
      status: { ...upToDate, ...onJourney('reboot'), phase: 'Failed', reboots: [at(-600), at(-300), at(-100)] },
      node: node({ [version]: 'v2', [rebootRequired]: '', [cordoned]: '' }),
    },
    'release',
  ],
  [
    'reboots such a node again before, also while paused',
    {
      status: { ...upToDate, ...onJourney('reboot'), phase: 'Failed', reboots: [at(-300), at(-100)] },
      node: node({ [version]: 'v2', [rebootRequired]: '', [cordoned]: '' }),
      view: paused,
    },
    'reboot',
  ],
  [
    'reboots nothing while paused',
    { status: upToDate, node: node({ [version]: 'v2', [rebootRequired]: '' }), view: paused },
    'report',
  ],
  ['upgrades before a reboot', { node: node({ [version]: 'v1', [rebootRequired]: '' }) }, 'upgrade'],
];
for (const [about, given, want, cause] of due) {
  test(about, () => {
    const decision = decided(given);
    expect(decision.do).toBe(want);
    if (cause !== undefined) expect(decision).toMatchObject({ cause });
  });
}

const inDrain = node({ [version]: 'v1', [cordoned]: '' });
const drained = { name: 'drain', started: at(-2), finished: at(-1), attempts: 1 };
const stops: [about: string, given: Given, want: string, isHeld: boolean][] = [
  ['an upgrade', { status: { ...upgrade({}), ...onJourney('upgrade') }, node: inDrain }, 'pause', true],
  [
    'an upgrade of a Node that a user cordoned',
    {
      status: { ...upgrade({}), ...onJourney('upgrade') },
      node: node({ [version]: 'v1' }, { labels: { [nodeLabel.upgrading]: 'true' }, unschedulable: true }),
    },
    'pause',
    true,
  ],
  [
    'a reboot',
    {
      status: { ...upToDate, ...onJourney('reboot') },
      node: node({ [version]: 'v2', [cordoned]: '', [rebootRequired]: '' }),
    },
    'pause',
    true,
  ],
  [
    'a reboot that was ordered',
    {
      status: { ...upToDate, ...onJourney('reboot'), reboot: { bootId: '1', because: 'x' } },
      node: node({ [version]: 'v2', [cordoned]: '', [rebootRequired]: '' }),
    },
    'reboot',
    false,
  ],
  ['a removal', { status: { ...upToDate, ...onJourney('remove') }, node: inDrain, removal: 'x' }, 'pause', true],
  [
    'a removal that is past its drain',
    { status: { ...upToDate, ...onJourney('remove'), timeline: [drained] }, node: inDrain, removal: 'x' },
    'pause',
    false,
  ],
  ['a host in service', {}, 'pause', false],
];
for (const [about, given, want, isHeld] of stops) {
  test(`pausing ${about}: ${want}, ${isHeld ? 'and the Node is' : 'no Node is'} put back into service`, () => {
    const decision = decided({ ...given, isPaused: true });
    expect([decision.do, 'held' in decision && decision.do === 'pause']).toEqual([want, isHeld]);
  });
}

const waits: [about: string, given: Given, why: RegExp][] = [
  [
    'a pinned host',
    { annotations: pinned },
    /pinned to its version; .*kubectl annotate windowsinstance win-5 -n wmco .*pinned-version-`/,
  ],
  [
    'a host pinned to a version that it does not have',
    { annotations: { [instanceAnnotation.pinnedVersion]: '9.9.9' } },
    /pinned to 9\.9\.9; to upgrade it, run `kubectl annotate /,
  ],
  [
    'a host that was rolled back',
    { status: upgrade({ ...rolledBack, retry: '' }) },
    /failed \(UPGRADE_UNHEALTHY: Node win-5 is not ready\)\. .*\/retry=/,
  ],
  [
    'a Node that claims another version again',
    repeatedAt(-60),
    /claims version v1, but the host was set up again with v2 at .*T11:00.*, next at .*03-02T11:00.*\/retry=/,
  ],
  ['a pause', { view: paused }, /paused is true in ConfigMap windows-rollout/],
  [
    'a stopped roll-out, with host and commands',
    { view: of('win-1') },
    /roll-out of v2 is stopped, because it failed on win-1.*\/retry=.*accepted-rollback=v2.*pinned-version=v1/,
  ],
  [
    'a roll-out that a pinned host stops, without the advice to pin it',
    { view: of('win-1', true) },
    /To try it again, without its pin, run `[^`]*\/retry=\$\(date \+%s\) [^`]*\/pinned-version-`\. To upgrade the other hosts nevertheless, run `[^`]*accepted-rollback=v2`\.$/,
  ],
  [
    'the limit of reboots',
    {
      status: { ...upToDate, reboots: [at(-3), at(-2), at(-1)] },
      node: node({ [version]: 'v2', [rebootRequired]: '' }),
    },
    /^REBOOT_LIMIT: /,
  ],
];
for (const [about, given, why] of waits) {
  test(`says what it waits for: ${about}`, () => {
    expect(decided(given)).toMatchObject({ do: 'report', waits: [{ why: expect.stringMatching(why) as string }] });
  });
}
