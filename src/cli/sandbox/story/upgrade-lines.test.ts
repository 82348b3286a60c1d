import { expect, test } from 'vitest';
import { nodeLabel } from '#contract/names.ts';
import type { InstanceUpgrade } from '#contract/windows-instance/resource.ts';
import { instanceOf, nodeOf } from '../../../../test/kit/status-views.ts';
import { UpgradeLines } from './upgrade-lines.ts';

const versions = { from: '11.0.0', to: '11.0.1' };
const times = { staged: '1', activated: '2', ready: '3', soaked: '4' };
const failed = { code: 'UPGRADE_UNHEALTHY', message: 'the kubelet crashes', at: '4' };

const instances = (upgrade?: InstanceUpgrade) => [instanceOf('win-1', upgrade === undefined ? {} : { upgrade })];
const told: [what: string, upgrade: InstanceUpgrade | undefined, texts: string[]][] = [
  ['nothing without an upgrade', undefined, []],
  ['nothing before files are staged', versions, []],
  ['that files are staged', { ...versions, staged: '1' }, ['has the files of 11.0.1; its Node is still in service']],
  [
    'all milestones that it missed',
    { ...versions, ...times },
    [
      'has the files of 11.0.1; its Node is still in service',
      'swaps the files of 11.0.0 for those of 11.0.1',
      'has soaked: 11.0.1 works here',
    ],
  ],
  [
    'a failure and its end',
    { ...versions, activated: '2', failed, rolledBack: '5' },
    [
      'swaps the files of 11.0.0 for those of 11.0.1',
      'failed: UPGRADE_UNHEALTHY: the kubelet crashes',
      'runs 11.0.0 again',
    ],
  ],
];
for (const [what, upgrade, texts] of told) {
  test(`tells ${what}, once`, () => {
    const lines = new UpgradeLines();
    const seen = { instances: instances(upgrade), nodes: [] };
    expect(lines.next(seen, 0).map(({ text }) => text)).toEqual(texts);
    expect(lines.next(seen, 1)).toEqual([]);
  });
}

test('tells in the order in which it happens, also what it sees at once', () => {
  const upgrade = { ...versions, staged: '1', activated: '2' };
  const seen = { instances: instances(upgrade), nodes: [nodeOf('win-1', { unschedulable: true })] };
  expect(new UpgradeLines().next(seen, 0).map(({ text }) => text.slice(0, 20))).toEqual([
    'has the files of 11.',
    'is out of service: c',
    'swaps the files of 1',
  ]);
});

test('tells a milestone again when it is reached again', () => {
  const lines = new UpgradeLines();
  for (const activated of ['2', '7']) {
    const seen = { instances: instances({ ...versions, activated }), nodes: [] };
    expect(lines.next(seen, 0)).toHaveLength(1);
  }
});

test('measures how long each Node is out of service, and how many are at once', () => {
  const lines = new UpgradeLines();
  const labels = { [nodeLabel.upgrading]: 'true' };
  const next = (one: boolean, two: boolean, nowMs: number) =>
    lines
      .next(
        {
          instances: [],
          nodes: [nodeOf('win-1', { unschedulable: one, labels }), nodeOf('win-2', { unschedulable: two })],
        },
        nowMs,
      )
      .map(({ host, text }) => `${host} ${text}`);
  expect(next(false, false, 0)).toEqual([]);
  expect(next(true, false, 1000)).toEqual([
    'win-1 is out of service: cordoned, label windowsmachineconfig.openshift.io/upgrading=true',
  ]);
  expect(next(true, true, 2000)).toEqual(['win-2 is out of service: cordoned']);
  expect(next(false, true, 9000)).toEqual(['win-1 is in service again after 8.0 s']);
  expect(next(true, true, 10_000)).toHaveLength(1);
  expect(next(false, false, 11_000)).toHaveLength(2);
  expect([...lines.outMs]).toEqual([
    ['win-1', 9000],
    ['win-2', 9000],
  ]);
  expect(lines.mostOut).toBe(2);
});
