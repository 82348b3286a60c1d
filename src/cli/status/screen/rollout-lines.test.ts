import { expect, test } from 'vitest';
import { at, instanceOf, noonMs, viewOf } from '../../../../test/kit/status-views.ts';
import { type Rollback, rolloutOf, type RolloutView } from '../view/rollout.ts';
import { rolloutLines } from './rollout-lines.ts';

const empty = rolloutOf(viewOf({ operatorVersion: '11.1.0' })) as RolloutView;
const rollout = (over: Partial<RolloutView>, counts: Partial<RolloutView['counts']>): RolloutView => {
  const all = { ...empty.counts, ...counts };
  return {
    ...empty,
    counts: all,
    hosts: Object.values(all).reduce((sum, count) => sum + count, 0),
    firstLeft: 0,
    ...over,
  };
};
const back: Rollback = {
  host: 'win-3',
  from: '11.0.0',
  code: 'UPGRADE_UNHEALTHY',
  message: 'the Node was not Ready for 60 s',
  at: at(40),
  isBack: true,
  isStuck: false,
  isAccepted: false,
  isRetried: false,
  isPinned: false,
  otherAccepted: undefined,
};
const commands = (host: string, what: string) => [
  expect.stringMatching(new RegExp(`^ {4}to try ${what} again: +wmco rollout retry ${host}$`)) as string,
  '    to upgrade the others nevertheless:  wmco rollout continue',
  expect.stringMatching(new RegExp(`^ {4}to keep ${what} at its version: +wmco rollout pin ${host}$`)) as string,
];

const cases: [what: string, rollout: RolloutView, lines: string[]][] = [
  ['no hosts', empty, ['Roll-out of 11.1.0: no host is configured yet']],
  ['all upgraded', rollout({}, { upgraded: 40 }), ['Roll-out of 11.1.0: 40 of 40 upgraded']],
  [
    'a soak',
    rollout(
      { soaking: [{ host: 'a', until: '2026-03-01T12:04:00Z' }], firstLeft: 1 },
      { upgraded: 12, soaking: 1, staged: 25, waiting: 2 },
    ),
    [
      'Roll-out of 11.1.0: 12 of 40 upgraded, 1 soaking (until 12:04:00 UTC, 4 min left), 25 staged, 2 waiting',
      '  the others wait until 1 more host has soaked (first)',
    ],
  ],
  [
    'names of a wide fleet',
    rollout({ upgrading: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }, { upgrading: 7 }),
    ['Roll-out of 11.1.0: 0 of 7 upgraded, 7 upgrading', '  upgrading: a, b, c, d, e and 2 more'],
  ],
  [
    'a pause, failures and pins',
    rollout(
      { isPaused: true, failing: ['win-7'], pinned: [{ host: 'win-8', version: '11.0.0', runs: '11.0.0' }] },
      { failing: 1, pinned: 1 },
    ),
    [
      'Roll-out of 11.1.0: 0 of 2 upgraded, 1 failing, 1 pinned',
      '  failing, is retried: win-7',
      '  pinned: win-8 to 11.0.0',
      '  paused: no upgrade starts, and no node is taken out of service, until `wmco rollout resume`',
    ],
  ],
  [
    'a rollback',
    rollout({ isStopped: true, rollbacks: [back] }, { 'rolled back': 1, waiting: 3 }),
    [
      'Roll-out of 11.1.0: 0 of 4 upgraded, 3 waiting, 1 rolled back',
      '  stopped: win-3 went back to 11.0.0 (2026-03-01 12:00:40 UTC) UPGRADE_UNHEALTHY: the Node was not Ready for 60 s',
      ...commands('win-3', 'win-3'),
    ],
  ],
  [
    'two rollbacks, one of them accepted and one on its way',
    rollout(
      {
        isStopped: true,
        rollbacks: [
          { ...back, isAccepted: true },
          { ...back, host: 'win-4', isBack: false },
        ],
      },
      { 'rolled back': 1, 'rolling back': 1 },
    ),
    [
      'Roll-out of 11.1.0: 0 of 2 upgraded, 1 rolling back, 1 rolled back',
      expect.stringMatching(/^ {2}stopped: win-4 goes back to 11\.0\.0 \(/) as string,
      expect.stringMatching(/^ {2}accepted: win-3 went back to 11\.0\.0 \(/) as string,
    ],
  ],
  [
    'a rollback that fails',
    rollout({ isStopped: true, rollbacks: [{ ...back, isBack: false, isStuck: true }] }, { 'rolling back': 1 }),
    [
      'Roll-out of 11.1.0: 0 of 1 upgraded, 1 rolling back',
      expect.stringMatching(
        /stopped: win-3 cannot go back to 11\.0\.0, and still has the version that failed/,
      ) as string,
      '    to upgrade the others nevertheless:  wmco rollout continue',
    ],
  ],
  [
    'a rollback that is tried again after those that stop it',
    rollout({ isStopped: true, rollbacks: [{ ...back, host: 'win-2', isRetried: true }, back] }, { 'rolled back': 2 }),
    [
      'Roll-out of 11.1.0: 0 of 2 upgraded, 2 rolled back',
      expect.stringMatching(/^ {2}stopped: win-3 went back to 11\.0\.0 \(/) as string,
      expect.stringMatching(/^ {2}tried again: win-2 went back to 11\.0\.0 \(/) as string,
      ...commands('win-3', 'win-3'),
    ],
  ],
  [
    'that a host which cannot go back still has to be accepted when it is retried',
    rollout({ rollbacks: [{ ...back, isBack: false, isStuck: true, isRetried: true }] }, { 'rolling back': 1 }),
    [
      'Roll-out of 11.1.0: 0 of 1 upgraded, 1 rolling back',
      expect.stringMatching(/^ {2}tried again: win-3 cannot go back to 11\.0\.0/) as string,
      '    to upgrade the others nevertheless:  wmco rollout continue',
    ],
  ],
  [
    'several rollbacks',
    rollout(
      { isStopped: true, rollbacks: ['a', 'b', 'c', 'd', 'e', 'f'].map(host => ({ ...back, host })) },
      { 'rolled back': 6 },
    ),
    [
      'Roll-out of 11.1.0: 0 of 6 upgraded, 6 rolled back',
      ...['a', 'b', 'c', 'd', 'e'].map(host => expect.stringMatching(`stopped: ${host} went back`) as string),
      '  … and 1 more, see `wmco status`',
      ...commands('HOST', 'a host'),
    ],
  ],
];
for (const [what, value, lines] of cases) {
  test(`prints ${what}`, () => expect(rolloutLines(value, noonMs)).toEqual(lines));
}

test('a pinned host that went back is not advised to be pinned, and an ignored acceptance is named', () => {
  const pinned = { ...back, isPinned: true, otherAccepted: '9.9.9' };
  const [, stopped, ...advice] = rolloutLines(rollout({ rollbacks: [pinned] }, { 'rolled back': 1 }));
  expect(stopped).toMatch(/accepted-rollback is 9\.9\.9, not 11\.1\.0, and is ignored$/);
  expect(advice).toEqual([
    expect.stringMatching(/again: +wmco rollout unpin win-3 && wmco rollout retry win-3$/) as string,
    expect.stringMatching(/wmco rollout continue$/) as string,
  ]);
});

test('a long pin that the host does not run is shortened, and is a warning', () => {
  const version = `\u001b\u202e${'9'.repeat(13_000)}`;
  const lines = rolloutLines(rollout({ pinned: [{ host: 'win-8', version, runs: '11.0.0' }] }, { pinned: 1 }));
  expect(lines[1]).toMatch(/^ {2}pinned: win-8 to \\u001b\\u202e9{45}\.\.\., but it runs 11\.0\.0$/);
});

test('an invalid setting is named with its remedy, and nothing that depends on it is claimed', () => {
  const upgrade = { from: '11.0.0', to: '11.1.0', ready: at(1) };
  const instances = [
    instanceOf('a', { phase: 'Ready', version: '11.1.0', upgrade }),
    instanceOf('b', { phase: 'Ready', version: '11.0.0' }),
  ];
  const settings = { soak: '5 s', first: 'one', paused: 'True' };
  const view = viewOf({ operatorVersion: '11.1.0', instances, rollout: settings });
  const lines = rolloutLines(rolloutOf(view) as RolloutView, noonMs);
  expect(lines).toEqual([
    'Roll-out of 11.1.0: 0 of 2 upgraded, 1 soaking, 1 waiting',
    expect.stringMatching(/invalid: .*paused is "True", not true or false, and counts as true$/) as string,
    '    -> Set paused to true or false: `kubectl edit configmap windows-rollout -n ns`.',
    expect.stringMatching(/first is "one".*; the operator keeps the last valid value that it has read$/) as string,
    expect.stringMatching(/-> Set first to a number: `kubectl edit/) as string,
    expect.stringMatching(/soak is "5 s".*; the operator keeps the last valid value/) as string,
    expect.stringMatching(/-> Set soak to/) as string,
    expect.stringMatching(/^ {2}paused: /) as string,
  ]);
});

test('an unknown setting is named with its remedy', () => {
  const view = viewOf({ operatorVersion: '11.1.0', rollout: { maxunavailable: '4' } });
  expect(rolloutLines(rolloutOf(view) as RolloutView).slice(1)).toEqual([
    '  ignored: ConfigMap windows-rollout: unknown key "maxunavailable"',
    '    -> Remove the key or rename it to maxUnavailable: `kubectl edit configmap windows-rollout -n ns`.',
  ]);
});

test('without a time it prints only what does not change by itself', () => {
  const soaking = rollout({ soaking: [{ host: 'a', until: '2026-03-01T12:04:00Z' }] }, { soaking: 1 });
  expect(rolloutLines(soaking)).toEqual(['Roll-out of 11.1.0: 0 of 1 upgraded, 1 soaking (until 12:04:00 UTC)']);
});

test('a thousand hosts stay a few lines', () => {
  const upgrade = { from: '11.0.0', to: '11.1.0', staged: at(1) };
  const failing = {
    phase: 'Failed',
    version: '11.0.0',
    upgrade,
    journey: { name: 'upgrade', cause: '', started: at(0) },
  } as const;
  const instances = Array.from({ length: 1000 }, (_, index) => instanceOf(`win-${index}`, failing));
  const lines = rolloutLines(rolloutOf(viewOf({ operatorVersion: '11.1.0', instances })) as RolloutView, noonMs);
  expect(lines.length).toBeLessThan(5);
  expect(Math.max(...lines.map(line => line.length))).toBeLessThan(120);
});

test('a hostile message stays on its line', () => {
  const message = 'x\nRoll-out of 11.1.0: done\u001b[2J';
  const lines = rolloutLines(rollout({ rollbacks: [{ ...back, message }] }, { 'rolled back': 1 }));
  expect(lines[1]).toMatch(/x Roll-out of 11\.1\.0: done\\u001b\[2J$/);
});
