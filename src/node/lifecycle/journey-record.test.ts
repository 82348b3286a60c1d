import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { JourneyName, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { MemoryApi } from '../../../test/kit/memory-api.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { JourneyRecord } from './journey-record.ts';

const reboot = { bootId: 'boot-1', because: 'the feature Containers' };
const timeline = [{ name: 'connect', started: '', finished: '', attempts: 1 }];
const on = (name: JourneyName) => ({ journey: { name, cause: '', started: '' } });

/** Of an attempt of `configure`, after one with this status. */
function recordAfter(status: WindowsInstanceStatus, generation = 1): JourneyRecord {
  const instance: WindowsInstance = {
    metadata: { name: 'win-5', generation },
    spec: { address: '10.0.0.5', username: 'Administrator' },
    status: { phase: 'Configuring', observedGeneration: 1, timeline, reboot, ...status },
  };
  const { log } = recordedLog();
  const journey = { name: 'configure', cause: '' } as const;
  const nodes = { get: () => undefined };
  return new JourneyRecord(instance, {
    client: new MemoryApi(),
    clock: systemClock,
    log,
    phase: 'Configuring',
    journey,
    nodes,
  });
}

const rows: [about: string, record: JourneyRecord, keepsReboot: boolean, keepsTimeline: boolean][] = [
  ['the same journey', recordAfter(on('configure')), true, true],
  ['the same journey after an edit of the spec', recordAfter(on('configure'), 2), true, false],
  ['the same journey after a pause', recordAfter({ ...on('configure'), phase: 'Paused' }, 3), true, false],
  ['another journey', recordAfter(on('adopt')), false, false],
  ['another journey after an edit of the spec', recordAfter(on('upgrade'), 2), false, false],
  ['a journey of an earlier version', recordAfter({}), true, true],
];
for (const [about, record, keepsReboot, keepsTimeline] of rows) {
  test(`${about}: ${keepsReboot ? 'its reboot counts' : 'no reboot counts'}`, () => {
    expect([record.reboot, record.hasFinished('connect')]).toEqual([keepsReboot ? reboot : undefined, keepsTimeline]);
  });
}
