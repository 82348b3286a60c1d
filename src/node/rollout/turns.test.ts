import { onTestFinished, expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { budgetBench } from '../../../test/kit/budget-bench.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';

/** Two hosts wait for the first, and the keys that are woken are listed. */
async function waitingBench() {
  const bench = budgetBench(3);
  const { grants, watchTurns } = bench.leader();
  const woken: string[] = [];
  const end = watchTurns(({ instance }) => [{ namespace, name: instance }]).start(
    ({ name }) => void woken.push(name),
    bench.parts.log,
  );
  onTestFinished(end);
  for (const at of [1, 2, 3]) {
    await bench.take(grants, at);
    if (at === 1) bench.begin(1);
    await bench.clock.advance(1000);
  }
  expect(woken).toEqual([]);
  return { ...bench, grants, woken };
}

test('the end of a grant wakes the one that waits longest, and no other', async () => {
  const { finish, grants, woken } = await waitingBench();
  await finish(grants, 1);
  expect(new Set(woken)).toEqual(new Set(['i02']));
});

test('a change of the settings wakes as many as there is room for', async () => {
  const { settings, woken } = await waitingBench();
  settings({ maxUnavailable: '2' });
  expect(new Set(woken)).toEqual(new Set(['i02']));
  settings({ maxUnavailable: '3' });
  expect(new Set(woken)).toEqual(new Set(['i02', 'i03']));
});

test('heartbeats, Linux nodes and other ConfigMaps wake no one', async () => {
  const bench = await waitingBench();
  const { putNode, woken, grants, begin } = bench;
  begin(1);
  putNode(3);
  await bench.put(nodes, { metadata: { name: 'linux' }, status: { conditions: [{ type: 'Ready', status: 'False' }] } });
  await bench.put(configMaps, { metadata: { name: 'other', namespace }, data: { maxUnavailable: '9' } });
  expect([woken, grants.line.size]).toEqual([[], 2]);
});

test('the first in line asks every half minute, and the others go on waiting', async () => {
  const { clock, woken, take, grants } = await waitingBench();
  await clock.advance(30_000);
  expect(woken).toEqual(['i02']);
  await take(grants, 2);
  await clock.advance(30_000);
  expect(woken).toEqual(['i02', 'i02']);
});

test('hosts that wait for another node now are woken once to say so, however often it changes in half a minute', async () => {
  const bench = budgetBench(202);
  const { grants, watchTurns } = bench.leader();
  const woken: string[] = [];
  onTestFinished(
    watchTurns(({ instance }) => [{ namespace, name: instance }]).start(
      ({ name }) => void woken.push(name),
      bench.parts.log,
    ),
  );
  const others = Array.from({ length: 200 }, (_, index) => index + 3);
  await bench.take(grants, 1);
  bench.begin(1);
  for (const at of [2, ...others]) {
    await bench.take(grants, at);
    await bench.clock.advance(1);
  }
  await bench.clock.advance(30_000);
  expect(woken.filter(name => name !== 'i02')).toEqual([]);
  await bench.finish(grants, 1);
  await bench.take(grants, 2);
  bench.begin(2);
  bench.putNode(150, { isReady: false });
  bench.putNode(150);
  woken.length = 0;
  await bench.clock.advance(30_000);
  // The first in line asks anyway.
  expect(woken).toEqual(['i03', ...others.map(at => bench.host(at).metadata.name)]);
  for (const at of others) await bench.take(grants, at);
  woken.length = 0;
  await bench.clock.advance(120_000);
  expect(new Set(woken)).toEqual(new Set(['i03']));
});

test('a host that does not ask when it is woken loses its turn', async () => {
  const { finish, clock, grants, woken, take } = await waitingBench();
  await finish(grants, 1);
  expect(await take(grants, 3)).toMatchObject({ why: expect.stringContaining('ahead: n02') as string });
  await clock.advance(150_000);
  expect(woken).toContain('i03');
  expect(await take(grants, 3)).toEqual({ isGranted: true });
});

test('a host that is deleted or paused keeps no others waiting', async () => {
  const { finish, grants, woken, api, host, putHost } = await waitingBench();
  api.remove(windowsInstances, 'i02', namespace);
  await settle();
  await finish(grants, 1);
  expect(woken).toContain('i03');
  woken.length = 0;
  putHost(3, {}, { paused: true });
  expect([woken, grants.line.size, host(3).spec.paused]).toEqual([[], 0, true]);
});

test('no timer is left when no one waits, or when it is stopped', async () => {
  const { finish, grants, take, clock } = await waitingBench();
  for (const at of [1, 2, 3]) {
    await take(grants, at);
    await finish(grants, at);
  }
  await clock.advance(30_000);
  expect(clock.sleepers()).toBe(0);
});
