import { expect, onTestFinished, test } from 'vitest';
import type { Condition } from '#base/condition.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName } from '#contract/names.ts';
import type { InstancePhase } from '#contract/windows-instance/resource.ts';
import { configMaps } from '#kube/resources.ts';
import { operatorConditions } from '#kube/resources-openshift.ts';
import { createRollout } from '#node/rollout/rollout.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { type ApiCall, refused } from '../../../test/kit/memory-api.ts';
import { benchNamespace as namespace, benchVersion, sourceBench } from '../../../test/kit/source-bench.ts';
import { conditionController } from './controller.ts';

const conditionName = 'windows-machine-config-operator.v11.0.0';
const safe = {
  type: 'Upgradeable',
  status: 'True',
  reason: 'upgradeIsSafe',
  message: 'The operator is safe for upgrade',
};
const unsafe = {
  type: 'Upgradeable',
  status: 'False',
  reason: 'upgradeIsNotSafe',
  message: 'The operator is currently processing sub-components. At least one controller is busy.',
};
const other: Condition = { type: 'Other', status: 'False', reason: 'x', message: 'y', lastTransitionTime: 'z' };
const minuteMs = 60_000;

function setUp(given: { conditions?: Condition[] | undefined; isMissing?: boolean } = {}) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { api, parts, clock } = bench;
  const metadata = { name: conditionName, namespace };
  const place = (conditions?: Condition[]) =>
    api.put(operatorConditions, { metadata, ...(conditions && { spec: { conditions, overrides: [] } }) });
  if (given.isMissing !== true) place(given.conditions);
  api.put(configMaps, { metadata: { name: configMapName.operatorStatus, namespace } });
  const object = () => api.peek(operatorConditions, conditionName, namespace);
  const conditions = () => object()?.spec?.conditions;
  const patches = () => api.calls.filter(({ verb }) => verb === 'patch');
  const put = async (phase: InstancePhase, steps: readonly string[], more: Partial<WindowsInstance['spec']> = {}) => {
    const now = new Date(clock.now()).toISOString();
    const timeline = steps.map(name => ({ name, started: now, finished: now, attempts: 1 }));
    const spec = { address: '10.0.0.1', username: 'Administrator', ...more };
    await bench.put(windowsInstances, { metadata: { name: 'win-1', namespace }, spec, status: { phase, timeline } });
  };
  return {
    ...bench,
    place,
    object,
    conditions,
    patches,
    instancePut: put,
    cordon: () => put('Upgrading', ['cordon']),
    uncordon: () => put('Upgrading', ['cordon', 'uncordon']),
    pauseHost: () => put('Upgrading', ['cordon'], { paused: true }),
    status: () => conditions()?.map(({ type, status }) => `${type}=${status}`),
    run: () => bench.start(conditionController({ ...parts, conditionName, rollout: createRollout(parts) })),
  };
}

test('UPG-05: says that an upgrade is safe, also when there are no hosts and no condition yet', async () => {
  for (const conditions of [undefined, []]) {
    const { run, conditions: now } = setUp({ conditions });
    await run();
    expect(now()).toEqual([{ ...safe, lastTransitionTime: expect.stringMatching(/^\d{4}-.*Z$/) as unknown }]);
  }
});

test('UPG-05: is False from cordon to uncordon, with one write for each change', async () => {
  const { run, status, conditions, cordon, uncordon, patches, clock } = setUp();
  await run();
  await cordon();
  expect(conditions()).toEqual([expect.objectContaining(unsafe)]);
  for (let minute = 0; minute < 30; minute += 1) await clock.advance(minuteMs);
  expect([status(), patches().length]).toEqual([['Upgradeable=False'], 2]);
  await uncordon();
  expect([conditions(), patches().length]).toEqual([[expect.objectContaining(safe)], 3]);
});

test('SEC-05: is False while a Machine that was replaced for a new private key joins, and True afterwards', async () => {
  const { run, instancePut: put, status } = setUp();
  await run();
  for (const [steps, want] of [
    [['connect', 'find node'], 'True'],
    [['connect', 'find node', 'mark node'], 'False'],
    [['connect', 'find node', 'mark node', 'wait for version', 'uncordon'], 'True'],
  ] as const) {
    await put('Configuring', steps);
    expect([steps.at(-1), status()]).toEqual([steps.at(-1), [`Upgradeable=${want}`]]);
  }
});

test('UPG-05: is True again after an hour, whatever the host does', async () => {
  const { run, status, cordon, clock } = setUp();
  await run();
  await cordon();
  await clock.advance(59 * minuteMs);
  expect(status()).toEqual(['Upgradeable=False']);
  await clock.advance(minuteMs);
  expect(status()).toEqual(['Upgradeable=True']);
});

const ends: [about: string, end: (bench: ReturnType<typeof setUp>) => unknown][] = [
  ['the instance is deleted', ({ api }) => api.remove(windowsInstances, 'win-1', namespace)],
  ['the instance is paused', ({ pauseHost }) => pauseHost()],
  [
    'the roll-out is stopped by another host',
    ({ api }) =>
      api.put(windowsInstances, {
        metadata: { name: 'win-2', namespace },
        spec: { address: '10.0.0.2', username: 'Administrator' },
        status: { upgrade: { from: 'v1', to: benchVersion, failed: { code: 'X', message: 'm', at: 't' } } },
      }),
  ],
  [
    'the roll-out is paused',
    ({ api }) =>
      api.put(configMaps, { metadata: { name: configMapName.rollout, namespace }, data: { paused: 'true' } }),
  ],
];
for (const [about, end] of ends) {
  test(`UPG-05: becomes True at once when ${about}`, async () => {
    const bench = setUp();
    await bench.run();
    await bench.cordon();
    expect(bench.status()).toEqual(['Upgradeable=False']);
    await end(bench);
    await settle();
    expect(bench.status()).toEqual(['Upgradeable=True']);
  });
}

test('UPG-05: a new leader decides by the records alone: no leftover, and no node is forgotten', async () => {
  const left = { ...unsafe, lastTransitionTime: 't' };
  const leftover = setUp({ conditions: [left] });
  await leftover.run();
  expect(leftover.status()).toEqual(['Upgradeable=True']);
  const busy = setUp({ conditions: [left] });
  await busy.cordon();
  await busy.run();
  expect([busy.conditions(), busy.patches()]).toEqual([[left], []]);
});

test('UPG-05: keeps conditions of others and overrides, also those that are written at the same time', async () => {
  const { run, api, place, object, conditions, log, events, clock } = setUp({ conditions: [other] });
  const second = { ...other, type: 'Second' };
  let isFirst = true;
  api.before = ({ verb }: ApiCall) => {
    if (verb === 'patch' && isFirst) place([other, second]);
    if (verb === 'patch') isFirst = false;
  };
  await run();
  await clock.advance(1000);
  expect(conditions()).toEqual([other, second, expect.objectContaining(safe)]);
  expect(object()?.spec?.['overrides']).toEqual([]);
  expect([events, log.messages('warn'), log.messages('error')]).toEqual([[], [], []]);
});

const tampered: [about: string, conditions: Condition[]][] = [
  ['another status', [{ ...unsafe, lastTransitionTime: 't' }]],
  ['an unknown status', [{ ...safe, status: 'Unknown' }]],
  ['another reason', [{ ...safe, reason: 'x' }]],
  ['no condition', []],
  ['two of them', [safe, { ...safe, status: 'False' }]],
];
for (const [about, conditions] of tampered) {
  test(`repairs ${about} within a minute`, async () => {
    const { run, place, conditions: now, clock } = setUp();
    await run();
    place(conditions);
    await clock.advance(minuteMs);
    expect(now()).toEqual([expect.objectContaining(safe)]);
  });
}

const failures: [about: string, verb: 'get' | 'patch', isUnsafe: boolean, want: string][] = [
  [
    'cannot be read',
    'get',
    false,
    'ConfigMap/windows-machine-config-operator-status OperatorConditionError Failed to get OperatorCondition CR: ',
  ],
  [
    'cannot be set to True',
    'patch',
    false,
    `OperatorCondition/${conditionName} OperatorConditionError Failed to patch OperatorCondition CR. Manual operator upgrades may be needed: `,
  ],
  [
    'cannot be set to False',
    'patch',
    true,
    `OperatorCondition/${conditionName} OperatorConditionError Failed to patch OperatorCondition CR. Be cautious of automatic operator upgrades: `,
  ],
];
for (const [about, verb, isUnsafe, want] of failures) {
  test(`reports once that the condition ${about}, and retries`, async () => {
    const { run, api, cordon, events, log, status, clock } = setUp();
    if (isUnsafe) await cordon();
    let isBroken = true;
    api.before = call => {
      if (isBroken && call.verb === verb && call.resource === operatorConditions.plural)
        throw refused(403, 'Forbidden');
    };
    await run();
    for (let minute = 0; minute < 10; minute += 1) await clock.advance(minuteMs);
    expect(events).toEqual([expect.stringContaining(want)]);
    expect([log.messages('warn').length, log.messages('error')]).toEqual([1, []]);
    isBroken = false;
    await clock.advance(minuteMs);
    expect(status()).toEqual([`Upgradeable=${isUnsafe ? 'False' : 'True'}`]);
  });
}

test('a missing OperatorCondition is reported on an object that exists, and found when it comes', async () => {
  const { run, api, place, events, status, clock, log } = setUp({ isMissing: true });
  api.remove(configMaps, configMapName.operatorStatus, namespace);
  await run();
  await clock.advance(5 * minuteMs);
  expect([events, log.messages('warn').length]).toEqual([[], 1]);
  api.put(configMaps, { metadata: { name: configMapName.operatorStatus, namespace } });
  await clock.advance(5 * minuteMs);
  expect(events).toEqual([
    expect.stringContaining('ConfigMap/windows-machine-config-operator-status OperatorConditionError Failed to get'),
  ]);
  place([other]);
  await clock.advance(minuteMs);
  expect(status()).toEqual(['Other=False', 'Upgradeable=True']);
});

test('reads the object once a minute, however often instances change', async () => {
  const { run, api, cordon, uncordon, clock } = setUp();
  await run();
  await cordon();
  for (let change = 0; change < 50; change += 1) await uncordon();
  const reads = api.calls.filter(({ verb }) => verb === 'get').length;
  expect(reads).toBe(3);
  await clock.advance(minuteMs);
  expect(api.calls.filter(({ verb }) => verb === 'get').length).toBe(reads + 1);
});
