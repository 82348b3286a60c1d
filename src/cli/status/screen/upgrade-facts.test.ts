import { expect, test } from 'vitest';
import { instanceAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { at, instanceOf, noonMs, nodeOf, statuses, viewOf } from '../../../../test/kit/status-views.ts';
import { hostOfInstance } from '../view/instance-host.ts';
import { hostPage } from './host-page.ts';

const [from, to] = ['11.0.0', '11.1.0'];
const failed = { code: 'UPGRADE_UNHEALTHY', message: 'not Ready', at: at(40) };
const back = { from, to, staged: at(1), activated: at(5), failed, rolledBack: at(60) };
const { acceptedRollback, pinnedVersion, reboot, retry } = instanceAnnotation;
const journey = { name: 'upgrade', cause: 'upgrade 11.0.0 -> 11.1.0', started: at(0) } as const;
const activity = { since: at(0), waitsFor: 'the agent reports', usualSeconds: 30, limitSeconds: 300 };

const facts: [what: string, status: WindowsInstanceStatus, annotations: Record<string, string>, want: string[]][] = [
  [
    'the times of an upgrade',
    { upgrade: { from, to, staged: at(1), activated: at(5), ready: at(9), soaked: at(99) } },
    {},
    [
      'Upgrade     11.0.0 -> 11.1.0: staged 2026-03-01 12:00:01 UTC, activated 2026-03-01 12:00:05 UTC, ' +
        'in service again 2026-03-01 12:00:09 UTC, soaked 2026-03-01 12:01:39 UTC',
    ],
  ],
  [
    'a soaking host',
    { upgrade: { from, to, ready: at(9) } },
    {},
    ['Upgrade     11.0.0 -> 11.1.0: in service again 2026-03-01 12:00:09 UTC, soaking'],
  ],
  [
    'cause, step and its times',
    { phase: 'Upgrading', step: 'wait for agent', journey, activity },
    {},
    [
      'Cause       upgrade 11.0.0 -> 11.1.0',
      'Step        wait for agent: the agent reports (0.0 s, usually 30 s, limit 5 min)',
    ],
  ],
  [
    'a rollback with its cause',
    { upgrade: back },
    {},
    ['Rolled back to 11.0.0, 2026-03-01 12:01:00 UTC, because of UPGRADE_UNHEALTHY: not Ready'],
  ],
  [
    'an accepted rollback',
    { upgrade: back },
    { [acceptedRollback]: to },
    [expect.stringMatching(/^Rolled back .*; accepted: other hosts are upgraded$/) as string],
  ],
  [
    'a rollback that runs, and is tried again',
    { upgrade: { from, to, failed } },
    { [retry]: 'x' },
    [expect.stringMatching(/^Rolled back not yet at 11\.0\.0, because of .*; it is tried again$/) as string],
  ],
  [
    'a pin',
    {},
    { [pinnedVersion]: from },
    ['Pinned      to 11.0.0; to upgrade it with the others: `wmco rollout unpin win-1`'],
  ],
  [
    'reboots up to the limit and a request',
    { reboots: [at(-7200), at(-3600), at(0)] },
    { [reboot]: at(5) },
    [
      'Reboots     3 of at most 3 in 24 h, requested 2026-03-01 12:00:05 UTC, the next one after 2026-03-02 10:00:00 UTC',
    ],
  ],
];
for (const [what, status, annotations, want] of facts) {
  test(`the page of a host shows ${what}`, () => {
    const instance = instanceOf('win-1', { ...structuredClone(statuses.ready), version: from, ...status });
    const metadata = { ...instance.metadata, annotations };
    const host = hostOfInstance({ ...instance, metadata }, viewOf({ nodes: [nodeOf('win-1')] }));
    const lines = hostPage(host, { nowMs: noonMs }).map(line => line.trim());
    expect(lines).toEqual(expect.arrayContaining(want));
  });
}
