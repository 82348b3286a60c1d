import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { at, instanceOf, statuses, viewOf } from '../../../../test/kit/status-views.ts';
import { isRolloutOpen, type RolloutGroup, rolloutOf } from './rollout.ts';

const [from, to] = ['11.0.0', '11.1.0'];
const failed = { code: 'UPGRADE_UNHEALTHY', message: 'not Ready for 60 s', at: at(40) };
const journey = { name: 'upgrade', cause: `upgrade ${from} -> ${to}`, started: at(0) } as const;

function member(
  name: string,
  status: WindowsInstanceStatus,
  annotations: Record<string, string> = {},
  spec: Partial<WindowsInstance['spec']> = {},
): WindowsInstance {
  const instance = instanceOf(name, { ...structuredClone(statuses.ready), version: from, ...status }, spec);
  return { ...instance, metadata: { ...instance.metadata, annotations } };
}

const pin = { [instanceAnnotation.pinnedVersion]: from };
const pinNew = { [instanceAnnotation.pinnedVersion]: to };
const again = { [instanceAnnotation.retry]: 'now' };
const accept = { [instanceAnnotation.acceptedRollback]: to };
const rolledBack = { from, to, staged: at(1), activated: at(5), failed, rolledBack: at(60) };

const groups: [what: string, group: RolloutGroup | undefined, instance: WindowsInstance][] = [
  ['a host of the version', 'upgraded', member('a', { version: to })],
  [
    'a host that has soaked',
    'upgraded',
    member('a', { version: to, upgrade: { from, to, ready: at(9), soaked: at(99) } }),
  ],
  ['a host that soaks', 'soaking', member('a', { version: to, upgrade: { from, to, ready: at(9) } })],
  ['a host that swaps its files', 'upgrading', member('a', { upgrade: { from, to, staged: at(1), activated: at(5) } })],
  ['a host with a grant', 'upgrading', member('granted', { journey, upgrade: { from, to, staged: at(1) } })],
  ['a host that gets its files', 'staging', member('a', { phase: 'Upgrading', journey })],
  ['a host with its files', 'staged', member('a', { upgrade: { from, to, staged: at(1) } })],
  ['a host of the former version', 'waiting', member('a', {})],
  ['a host with the upgrade to another version', 'waiting', member('a', { upgrade: { ...rolledBack, to: '10.9.0' } })],
  ['a host whose upgrade fails before the swap', 'failing', member('a', { phase: 'Failed', journey })],
  ['a host that goes back', 'rolling back', member('a', { upgrade: { from, to, activated: at(5), failed } })],
  ['a host that went back', 'rolled back', member('a', { upgrade: rolledBack })],
  [
    'a host that could not be set up again with its version',
    'upgraded',
    member('a', { version: to, upgrade: { from: to, to, staged: at(1), activated: at(5), failed } }),
  ],
  ['a pinned host that went back', 'rolled back', member('a', { upgrade: rolledBack }, pin)],
  ['a pinned host', 'pinned', member('a', {}, pin)],
  [
    'a pinned host that is upgraded meanwhile',
    'upgrading',
    member('a', { upgrade: { from, to, activated: at(5) } }, pin),
  ],
  ['a host pinned to the new version', 'waiting', member('a', {}, { [instanceAnnotation.pinnedVersion]: to })],
  ['a paused host', 'paused', member('a', { phase: 'Paused' }, {}, { paused: true })],
  ['a host that is being removed', undefined, member('a', {}, { [instanceAnnotation.removal]: at(0) })],
  ['a host that joins', undefined, instanceOf('a', structuredClone(statuses.configuring))],
];
const grants = [{ instance: 'granted', node: 'n', journey: 'upgrade', sinceMs: 0 } as const];
const view = (instances: WindowsInstance[], over = {}) => viewOf({ operatorVersion: to, instances, grants, ...over });
for (const [what, group, instance] of groups) {
  test(`${what} is ${group ?? 'no part of the roll-out'}`, () => {
    const rollout = rolloutOf(view([instance]));
    const counted = Object.entries(rollout?.counts ?? {}).filter(([, count]) => count > 0);
    expect(counted).toEqual(group === undefined ? [] : [[group, 1]]);
    expect(rollout?.hosts).toBe(group === undefined ? 0 : 1);
  });
}

test('each host is counted once, whatever its state', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...groups.map(([, , instance]) => instance)), { maxLength: 20 }),
      instances => {
        const { counts, hosts } = rolloutOf(view(instances)) ?? { counts: {}, hosts: -1 };
        expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(hosts);
      },
    ),
  );
});

const stops: [what: string, annotations: Record<string, string>, isStopped: boolean][] = [
  ['stops it', {}, true],
  ['that is accepted does not stop it', accept, false],
  ['of which another version is accepted stops it', { [instanceAnnotation.acceptedRollback]: '10.9.0' }, true],
  ['of a pinned host stops it', pin, true],
  ['that is retried does not stop it', again, false],
  ['that is retried, but pinned, stops it', { ...pin, ...again }, true],
  ['that is retried, and pinned to the new version, does not stop it', { ...pinNew, ...again }, false],
];
for (const [what, annotations, isStopped] of stops) {
  test(`a rollback ${what}`, () => {
    expect(rolloutOf(view([member('a', { upgrade: rolledBack }, annotations)]))?.isStopped).toBe(isStopped);
  });
}

const soaking = member('a', { version: to, upgrade: { from, to, ready: at(0) } });
const soaked = member('b', { version: to, upgrade: { from, to, ready: at(0), soaked: at(60) } });
const soaks: [what: string, instances: WindowsInstance[], rollout: Record<string, string>, until: string][] = [
  ['10 min for the first host', [soaking], {}, at(600)],
  ['2 min for others', [soaking, soaked], {}, at(120)],
  ['10 min for the second of two first hosts', [soaking, soaked], { first: '2' }, at(600)],
  ['as long as the setting says', [soaking], { soak: '30s' }, at(30)],
  ['an unknown time with a setting that is none', [soaking], { soak: '99h' }, ''],
  ['an unknown time if it is not known whether it is one of the first', [soaking], { first: 'x' }, ''],
];
for (const [what, instances, rollout, until] of soaks) {
  test(`the soak takes ${what}`, () => {
    const [first] = rolloutOf(view(instances, { rollout }))?.soaking ?? [];
    expect(first).toEqual({ host: 'a', until: until.replace('.000Z', 'Z') });
  });
}

test('lists every pinned host, with the version that it runs', () => {
  const instances = [member('a', { version: to }, pin), member('b', {}, pin), member('c', {})];
  expect(rolloutOf(view(instances))?.pinned).toEqual([
    { host: 'a', version: from, runs: to },
    { host: 'b', version: from, runs: from },
  ]);
});

test('without a version of the operator, the last upgrade has it', () => {
  const older = member('a', { upgrade: { from, to: '12.0.0', staged: at(0) } });
  const newer = member('b', { upgrade: { from, to, staged: at(50) } });
  expect(rolloutOf(view([older, newer], { operatorVersion: '' }))?.version).toBe(to);
  expect(rolloutOf(view([member('a', {})], { operatorVersion: '' }))).toBeUndefined();
});

const opens: [what: string, instances: WindowsInstance[], rollout: Record<string, string>, isOpen: boolean][] = [
  [
    'with all hosts upgraded, pinned or paused is over',
    groups.flatMap(([, group, each]) =>
      group === 'upgraded' || group === 'pinned' || group === 'paused' ? [each] : [],
    ),
    {},
    false,
  ],
  ['that is paused is open', [member('a', { version: to })], { paused: 'true' }, true],
  ['with an invalid pause is open, because it counts as paused', [], { paused: 'yes' }, true],
  ['with a soaking host is open', [soaking], {}, true],
  ['with an accepted rollback is open', [member('a', { upgrade: rolledBack }, accept)], {}, true],
];
for (const [what, instances, rollout, isOpen] of opens) {
  test(`a roll-out ${what}`, () => {
    const found = rolloutOf(view(instances, { rollout }));
    expect(found && isRolloutOpen(found)).toBe(isOpen);
  });
}
