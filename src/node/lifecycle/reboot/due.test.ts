import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { timestamp } from '#base/clock.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { rebootCause, rebootLimit, withReboot } from './due.ts';

const hourMs = 3_600_000;
const nowMs = Date.parse('2026-03-01T12:00:00Z');
const ago = (...hours: number[]) => hours.map(count => timestamp(nowMs - count * hourMs));
const instanceWith = (status: WindowsInstanceStatus, request?: string): WindowsInstance => ({
  metadata: { name: 'win-5', ...(request !== undefined && { annotations: { [instanceAnnotation.reboot]: request } }) },
  spec: { address: '10.0.0.5', username: 'Administrator' },
  status,
});
const node = (annotations: Record<string, string> = {}) => ({ name: 'win-5', annotations }) as unknown as NodeView;
const asking = node({ [nodeAnnotation.rebootRequired]: '' });
const journey = { name: 'reboot', cause: '', started: '' } as const;
const reboot = { bootId: '1', because: 'x' };

const causes: [about: string, WindowsInstance, NodeView | undefined, want: string | undefined][] = [
  ['nothing', instanceWith({}), node(), undefined],
  ['a request of the agent', instanceWith({}), asking, 'its agent requires a reboot'],
  ['a request without a Node', instanceWith({}, 'a'), undefined, undefined],
  ['a new request', instanceWith({}, 'a'), node(), `the annotation ${instanceAnnotation.reboot} has a new value`],
  ['an empty request', instanceWith({}, ''), node(), undefined],
  ['a request that was carried out', instanceWith({ rebootRequest: 'a' }, 'a'), node(), undefined],
  ['a request that was withdrawn', instanceWith({ rebootRequest: 'a' }), node(), undefined],
  ['an interrupted reboot', instanceWith({ journey, phase: 'Rebooting' }), node(), 'its reboot is not finished'],
  [
    'a host that does not come back',
    instanceWith({ journey, phase: 'Failed', reboot }),
    node(),
    'its reboot is not finished',
  ],
  ['a failed attempt', instanceWith({ journey, phase: 'Failed' }), node(), undefined],
];
test.each(causes)('knows whether %s is a cause', (_, instance, seen, want) => {
  expect(rebootCause(instance, seen)).toBe(want);
});

const limits: [about: string, WindowsInstanceStatus, endsInHours: number | undefined][] = [
  ['no reboot', {}, undefined],
  ['two today', { reboots: ago(5, 1) }, undefined],
  ['three today', { reboots: ago(20, 5, 1) }, 4],
  ['one of three yesterday', { reboots: ago(24, 5, 1) }, undefined],
  ['more than three today', { reboots: ago(20, 6, 5, 1) }, 18],
  ['a time of a wrong clock', { reboots: ['9999-01-01T00:00:00Z', ...ago(2, 1)] }, undefined],
  ['times that cannot be read', { reboots: ['x', ...ago(2, 1)] }, undefined],
  ['a third one that is not finished', { reboots: ago(20, 5, 1), journey, phase: 'Rebooting' }, undefined],
];
test.each(limits)('limits reboots after %s', (_, status, hours) => {
  const limit = rebootLimit(instanceWith(status), nowMs);
  expect(limit && (limit.endsMs - nowMs) / hourMs).toBe(hours);
  if (limit !== undefined) expect(limit.problem.code).toBe('REBOOT_LIMIT');
});

test('never more than three reboots in any 24 hours, and one again at the end of the limit', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 600 }), { maxLength: 60 }), pauses => {
      const done: number[] = [];
      let [status, atMs]: [WindowsInstanceStatus, number] = [{}, nowMs];
      for (const minutes of pauses) {
        atMs += minutes * 60_000;
        const limit = rebootLimit(instanceWith(status), atMs);
        if (limit !== undefined) {
          expect(limit.endsMs).toBeGreaterThan(atMs);
          expect(rebootLimit(instanceWith(status), limit.endsMs)).toBeUndefined();
          continue;
        }
        done.push(atMs);
        status = { reboots: withReboot(status.reboots, atMs) };
        expect(done.filter(time => time > atMs - 24 * hourMs).length).toBeLessThanOrEqual(3);
      }
    }),
  );
});
