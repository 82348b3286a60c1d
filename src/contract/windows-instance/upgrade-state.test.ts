import { expect, test } from 'vitest';
import { instanceAnnotation } from '../names.ts';
import type { InstanceUpgrade } from './resource.ts';
import { stoppedVersion } from './upgrade-state.ts';

const { retry, pinnedVersion, acceptedRollback } = instanceAnnotation;
const at = '2026-03-01T12:00:00Z';
const failed = { code: 'UPGRADE_UNHEALTHY', message: 'Node win-5 is not ready', at };
const back: InstanceUpgrade = { from: 'v1', to: 'v2', activated: at, failed, rolledBack: at, retry: 'one' };

const stops: [
  about: string,
  upgrade: InstanceUpgrade,
  annotations: Record<string, string>,
  want: string | undefined,
][] = [
  ['a host that went back', back, {}, 'v2'],
  ['one whose rollback was accepted', back, { [acceptedRollback]: 'v2' }, undefined],
  ['one that could not be set up again with its own version', { ...back, from: 'v2' }, {}, undefined],
  ['one that is retried', back, { [retry]: 'two' }, undefined],
  ['one that was retried before it failed', back, { [retry]: 'one' }, 'v2'],
  ['one that is retried, but pinned to its version', back, { [retry]: 'two', [pinnedVersion]: 'v1' }, 'v2'],
  ['one that is retried, and pinned to the new version', back, { [retry]: 'two', [pinnedVersion]: 'v2' }, undefined],
];
for (const [about, upgrade, annotations, want] of stops) {
  test(`${about} ${want === undefined ? 'does not stop' : 'stops'} the roll-out`, () => {
    expect(stoppedVersion({ metadata: { annotations }, status: { upgrade } })).toBe(want);
  });
}
