import { expect, test } from 'vitest';
import { timestamp } from '#base/clock.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation } from '#contract/names.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { budgetBench } from '../../../test/kit/budget-bench.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';

const waits = { isGranted: false };
const isGranted = { isGranted: true };
const minute = 60_000;

test('takes one grant after another, and stores who has it', async () => {
  const { leader, take, begin, finish, stored, host } = budgetBench(3);
  const { grants } = leader();
  expect(await take(grants, 1)).toEqual(isGranted);
  begin(1);
  expect(await take(grants, 2)).toMatchObject({ why: expect.stringContaining('n01 (reboot)') as string });
  expect(await take(grants, 1)).toEqual(isGranted);
  expect(stored().grants).toMatchObject([
    { instance: 'i01', uid: host(1).metadata.uid, node: 'n01', journey: 'reboot' },
  ]);
  await finish(grants, 1);
  expect(await take(grants, 2)).toEqual(isGranted);
});

test('a host without a Node needs no grant', async () => {
  const { leader, putHost, map } = budgetBench(0);
  const instance = putHost(1, { host: { name: '', addresses: [] }, version: 'v' });
  const bare = { ...instance, status: {} };
  expect(await leader().grants.take(bare, 'remove', new AbortController().signal)).toEqual(isGranted);
  expect(map()).toBeUndefined();
});

test('the end of a journey without a grant costs no call', async () => {
  const { leader, host, api } = budgetBench(3);
  await leader().grants.end(host(1), new AbortController().signal);
  expect(api.calls).toEqual([]);
});

test('a restart keeps the grants, and their hosts get them again', async () => {
  const { leader, take, begin, granted } = budgetBench(3);
  await take(leader().grants, 2);
  begin(2);
  const { grants } = leader();
  expect(await take(grants, 1)).toMatchObject(waits);
  expect(await take(grants, 2)).toEqual(isGranted);
  expect(granted()).toEqual(['n02']);
});

test('grants that were deleted or destroyed are rebuilt from the journeys before a new one is given', async () => {
  const { leader, take, begin, granted, api, map } = budgetBench(3);
  await take(leader().grants, 2);
  begin(2);
  api.remove(configMaps, configMapName.rolloutGrants, namespace);
  expect(await take(leader().grants, 1)).toMatchObject(waits);
  expect(granted()).toEqual(['n02']);
  api.put(configMaps, { metadata: map()?.metadata ?? {}, data: { i02: 'x' } });
  expect(await take(leader().grants, 1)).toMatchObject(waits);
  expect(granted()).toEqual(['n02']);
});

test('a grant of this process survives the deletion of the ConfigMap, though its journey has not started', async () => {
  const { leader, take, granted, api } = budgetBench(3);
  const { grants } = leader();
  await take(grants, 2);
  api.remove(configMaps, configMapName.rolloutGrants, namespace);
  expect(await take(grants, 1)).toMatchObject(waits);
  expect(granted()).toEqual(['n02']);
});

test('of two leaders at once only one grants', async () => {
  const { leader, take, granted } = budgetBench(3);
  const [one, other] = [leader().grants, leader().grants];
  const answers = await Promise.all([take(one, 1), take(other, 2)]);
  expect(answers.filter(answer => answer.isGranted)).toHaveLength(1);
  expect(granted()).toHaveLength(1);
  const later = await Promise.all([take(one, 1), take(other, 2)]);
  expect(later.map(answer => answer.isGranted)).toEqual(answers.map(answer => answer.isGranted));
});

test('a grant whose journey never started ends after a while', async () => {
  const { leader, take, granted, clock } = budgetBench(3);
  await take(leader().grants, 1);
  const { grants } = leader();
  await clock.advance(4 * minute);
  expect(await take(grants, 2)).toMatchObject(waits);
  await clock.advance(minute);
  expect(await take(grants, 2)).toEqual(isGranted);
  expect(granted()).toEqual(['n02']);
});

test('a Direct instance created again for its removal takes the grant of its Node over', async () => {
  const { leader, take, begin, granted, stored, api, putHost, host } = budgetBench(3);
  const { grants } = leader();
  await take(grants, 1, 'upgrade');
  begin(1, 'upgrade');
  const { metadata } = host(1);
  api.remove(windowsInstances, 'i01', namespace);
  api.put(windowsInstances, { ...putHost(1), metadata: { ...metadata, uid: 'again' } });
  expect(await take(grants, 1, 'remove')).toEqual(isGranted);
  expect(granted()).toEqual(['n01']);
  expect(stored().grants).toMatchObject([{ uid: 'again', journey: 'remove' }]);
});

test('an instance created again for another host does not inherit the grant', async () => {
  const { leader, take, begin, api, granted, putHost, putNode, host } = budgetBench(3);
  const { grants } = leader();
  await take(grants, 1);
  begin(1);
  const { metadata } = host(1);
  api.remove(windowsInstances, 'i01', namespace);
  const again = putHost(1, { host: { name: 'other', addresses: [] } });
  api.put(windowsInstances, { ...again, metadata: { ...metadata, uid: 'again' } });
  api.put(nodes, { metadata: { name: 'other' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  expect(await take(grants, 1)).toMatchObject({ why: expect.stringContaining('n01 (reboot)') as string });
  putNode(1, { isReady: false });
  expect(granted()).toEqual(['n01']);
});

test('a removed host ends its grant with its Node', async () => {
  const { leader, take, begin, api } = budgetBench(3);
  const { grants } = leader();
  await take(grants, 1, 'remove');
  begin(1, 'remove');
  api.remove(nodes, 'n01');
  expect(await take(grants, 2)).toMatchObject(waits);
  api.remove(windowsInstances, 'i01', namespace);
  expect(await take(leader().grants, 2)).toEqual(isGranted);
});

test('reads the settings, keeps the last valid ones, and stops when paused', async () => {
  const { leader, take, begin, settings } = budgetBench(4);
  const { grants } = leader();
  settings({ maxUnavailable: '2' });
  for (const at of [1, 2]) {
    expect(await take(grants, at)).toEqual(isGranted);
    begin(at);
  }
  settings({ maxUnavailable: '3', paused: 'true' });
  expect(await take(grants, 3)).toMatchObject({ why: expect.stringContaining('paused') as string });
  settings({ maxUnavailable: '3' });
  expect(await take(grants, 3)).toEqual(isGranted);
  begin(3);
  settings({ maxUnavailable: 'x' });
  expect(grants.maxUnavailable()).toBe(3);
  expect(await take(grants, 4)).toMatchObject(waits);
});

test('a node that is down keeps others waiting for an hour, also over restarts, and is reported once', async () => {
  const { leader, take, putNode, clock, events } = budgetBench(3);
  putNode(3, { isReady: false });
  for (let half = 0; half < 2; half += 1) {
    const { grants } = leader();
    expect(await take(grants, 1)).toMatchObject({ why: expect.stringContaining('n03 (not ready)') as string });
    for (let passed = 0; passed < 30 - half; passed += 1) {
      await clock.advance(minute);
      expect(await take(grants, 1)).toMatchObject(waits);
    }
    expect(events).toEqual([]);
    if (half === 0) continue;
    await clock.advance(minute);
    expect(await take(grants, 1)).toEqual(isGranted);
    await take(grants, 1);
  }
  expect(events).toEqual([expect.stringMatching(/^WindowsInstance\/i03 NodeNotCounted Node n03 is out of service/)]);
});

test('a rollback that fails again and again keeps others waiting for an hour once it is accepted, also during attempts', async () => {
  const { leader, take, putHost, putNode, clock, granted } = budgetBench(3);
  const { grants } = leader();
  const at = timestamp(clock.now());
  const upgrade = { from: 'v', to: 'w', activated: at, failed: { code: 'ACTIVATION_FAILED', message: '', at } };
  const lastError = { code: 'HOST_UNREACHABLE', message: '', remedy: '' };
  const attempt = {
    phase: 'RollingBack' as const,
    upgrade,
    journey: { name: 'rollback' as const, cause: 'x', started: at },
    timeline: [{ name: 'connect', started: at, attempts: 2, lastError }],
  };
  putHost(1, attempt);
  putNode(1, { isReady: false, isCordoned: true });
  expect(await take(grants, 1, 'rollback')).toEqual(isGranted);
  await clock.advance(2 * 60 * minute);
  expect(await take(grants, 2)).toMatchObject({ why: expect.stringContaining('n01 (rollback)') as string });
  putHost(1, attempt, {}, { [instanceAnnotation.acceptedRollback]: 'w' });
  for (let passed = 0; passed < 60; passed += 1) {
    expect(await take(grants, 2)).toMatchObject(waits);
    await clock.advance(minute);
  }
  expect(await take(grants, 2)).toEqual(isGranted);
  expect(granted()).toEqual(['n02']);
});

test('time without anyone waiting is free', async () => {
  const { leader, take, putNode, clock, finish, settings } = budgetBench(3);
  const { grants } = leader();
  settings({ maxUnavailable: '2' });
  putNode(3, { isReady: false });
  await take(grants, 1);
  await clock.advance(5 * 60 * minute);
  await finish(grants, 1);
  settings({});
  expect(await take(grants, 1)).toMatchObject(waits);
});

test('an API server that cannot be read gives no grant', async () => {
  const { leader, take, api } = budgetBench(3);
  api.before = ({ resource }) => {
    if (resource === 'configmaps') throw new Error('no answer');
  };
  await expect(take(leader().grants, 1)).rejects.toThrow('no answer');
});

const inSet = { machineSet: 'set', nodes: [], missing: 0 };
const never = new AbortController().signal;

/** The Machine of host 1 is replaced: its host is removed, and its instance and Node are gone. */
async function replaceFirst(bench: ReturnType<typeof budgetBench>, grants: ReturnType<typeof bench.leader>['grants']) {
  const { host, api, begin, take } = bench;
  const replaced = host(1);
  expect(await grants.take(replaced, 'replace', never, inSet)).toEqual(isGranted);
  expect(await take(grants, 1, 'remove')).toEqual(isGranted);
  begin(1, 'remove');
  await grants.end(host(1), never);
  api.remove(windowsInstances, 'i01', namespace);
  api.remove(nodes, 'n01');
  return replaced.metadata;
}

test('the grant of a replaced Machine survives the removal of its host, restarts, and hours in which nobody waits', async () => {
  const bench = budgetBench(3);
  const { leader, stored, take, clock } = bench;
  const { grants } = leader();
  const { uid } = await replaceFirst(bench, grants);
  expect(stored().grants).toMatchObject([{ uid, node: 'n01', journey: 'replace', machineSet: 'set' }]);
  await clock.advance(300 * minute);
  const { grants: others } = leader();
  expect(await take(others, 2)).toMatchObject({ why: expect.stringContaining('n01 (replace)') as string });
  expect(await others.take(bench.host(3), 'replace', never, { ...inSet, machineSet: 'other' })).toMatchObject(waits);
  expect(others.replaced().map(({ machineSet }) => machineSet)).toEqual(['set']);
});

test('it ends when the MachineSet is complete again, for each process', async () => {
  const bench = budgetBench(3);
  const { leader, take, stored } = bench;
  for (const isSame of [true, false]) {
    const { grants } = leader();
    const ending = isSame ? grants : leader().grants;
    bench.putHost(1);
    bench.putNode(1);
    const { uid = '' } = await replaceFirst(bench, grants);
    expect(await take(ending, 2)).toMatchObject(waits);
    await ending.endReplacement({ name: 'i01', uid }, never);
    expect([stored().grants, await take(ending, 2)]).toEqual([[], isGranted]);
    await ending.end(bench.host(2), never);
  }
});

test('a new process knows it before it was asked for anything', async () => {
  const bench = budgetBench(3);
  await replaceFirst(bench, bench.leader().grants);
  expect(bench.leader().grants.replaced()).toMatchObject([{ node: 'n01', journey: 'replace', machineSet: 'set' }]);
});

test('at the latest it ends after it has kept others waiting for an hour', async () => {
  const bench = budgetBench(3);
  const { leader, take, clock } = bench;
  const { grants } = leader();
  await replaceFirst(bench, grants);
  let waited = 0;
  for (; !(await take(grants, 2)).isGranted && waited < 200; waited += 1) await clock.advance(minute);
  expect([waited >= 60, waited <= 66]).toEqual([true, true]);
});

test('the end of another journey does not end it, and its end ends no other', async () => {
  const bench = budgetBench(3);
  const { leader, host, stored, take, settings } = bench;
  settings({ maxUnavailable: '2' });
  const { grants } = leader();
  const { uid = '' } = await replaceFirst(bench, grants);
  await take(grants, 2);
  await grants.endReplacement({ name: 'i02', uid: host(2).metadata.uid ?? '' }, never);
  expect(stored().grants.map(({ node }) => node)).toEqual(['n01', 'n02']);
  await grants.end({ metadata: { name: 'i01', uid }, spec: { address: 'a', username: 'b' } }, never);
  expect(stored().grants.map(({ node }) => node)).toEqual(['n01', 'n02']);
});

test('a deleted ConfigMap does not end it as long as the process runs', async () => {
  const bench = budgetBench(3);
  const { leader, take, api } = bench;
  const { grants } = leader();
  await replaceFirst(bench, grants);
  api.remove(configMaps, configMapName.rolloutGrants, namespace);
  expect(await take(grants, 2)).toMatchObject(waits);
});
