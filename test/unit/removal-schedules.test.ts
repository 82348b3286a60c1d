import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FleetLab, startFleet } from '../kit/lifecycle/fleet-lab.ts';

type Act =
  | { do: 'unlist' | 'list' | 'unlist in outage'; hosts: readonly number[] }
  /** `stop` ends the operator in good order. Without `next` changes happen while no operator runs. */
  | { do: 'kill' | 'stop' | 'kill without next' }
  | { do: 'fail commands'; host: number; count: number }
  | { do: 'break' | 'block drain' | 'flap' | 'repair'; host: number };

interface Schedule {
  /** How many changes are seen before the next act. */
  acts: readonly { act: Act; changes: number }[];
  /** Hosts that stay broken. */
  dead: number;
  blocked: number;
}

const count = 40;
const someHost = fc.integer({ min: 1, max: count });
const someAct: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('unlist', 'unlist', 'list', 'unlist in outage'),
      hosts: fc.uniqueArray(someHost, { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('kill', 'stop', 'kill without next') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fail commands' as const),
      host: someHost,
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('break', 'block drain', 'flap', 'repair'), host: someHost }),
  },
);
const someSchedule: fc.Arbitrary<Schedule> = fc.record({
  acts: fc.array(fc.record({ act: someAct, changes: fc.integer({ min: 0, max: 40 }) }), {
    minLength: 12,
    maxLength: 20,
  }),
  dead: someHost,
  blocked: someHost,
});

async function perform(act: Act, fleet: FleetLab): Promise<void> {
  switch (act.do) {
    case 'unlist':
      return fleet.unlist(act.hosts);
    case 'list':
      return fleet.list(act.hosts);
    case 'unlist in outage':
      return unlistInOutage(act.hosts, fleet);
    case 'kill':
    case 'stop':
      return fleet.lead(act.do);
    case 'kill without next':
      return fleet.killOperator();
    case 'fail commands':
      return fleet.failCommands(act.host, act.count);
    case 'break':
      return fleet.breakHost(act.host);
    case 'block drain':
      return fleet.blockDrain(act.host);
    case 'flap':
      await fleet.reportReady(act.host, false);
      await fleet.progress(3);
      return fleet.reportReady(act.host, true);
    case 'repair':
      return fleet.repair(act.host);
    default:
      return act satisfies never;
  }
}

/** The Nodes are not ready when their removal is decided, and ready soon after. */
async function unlistInOutage(hosts: readonly number[], fleet: FleetLab): Promise<void> {
  for (const host of hosts) await fleet.reportReady(host, false);
  await fleet.unlist(hosts);
  await fleet.progress(hosts.length * 3);
  for (const host of hosts) await fleet.reportReady(host, true);
}

/** All hosts but two are repaired, and each comes to its end; then all join again. */
async function play({ acts, dead, blocked }: Schedule, fleet: FleetLab): Promise<void> {
  for (const { act, changes } of acts) {
    await perform(act, fleet);
    await fleet.progress(changes);
  }
  for (const host of fleet.all()) fleet.repair(host);
  fleet.breakHost(dead);
  await fleet.blockDrain(blocked);
  await fleet.lead();
  await fleet.until(() => fleet.all().every(host => fleet.state(host) !== 'busy'));
  for (const host of [dead, blocked]) fleet.repair(host);
  await fleet.list(fleet.all());
  await fleet.until(() => fleet.all().every(host => fleet.state(host) === 'Ready'));
  expect(fleet.watch.problems).toEqual([]);
}

// The limit in time is only for a machine that is busy with other work.
test('of 40 nodes never more than 4 are out of service, whatever happens to hosts and operators', {
  timeout: 600_000,
}, async () => {
  const fleet = await startFleet(count, { maxUnavailable: '10%', limit: 4 });
  const property = fc.asyncProperty(someSchedule, schedule => play(schedule, fleet));
  await fc.assert(property, { numRuns: 3, endOnFailure: true });
  // Otherwise the schedules have tested nothing.
  expect(fleet.watch.most).toBeGreaterThan(1);
});

test('with maxUnavailable 1 nodes leave strictly one after another, whichever operator leads', async () => {
  const fleet = await startFleet(8, { maxUnavailable: '1', limit: 1 });
  await fleet.unlist(fleet.all());
  for (const changes of [5, 30, 11, 23]) {
    await fleet.progress(changes);
    await fleet.lead();
  }
  await fleet.until(() => fleet.all().every(host => fleet.state(host) === 'removed'));
  expect(fleet.watch.problems).toEqual([]);
  expect(fleet.watch.most).toBe(1);
});

const [minute, hour] = [60_000, 3_600_000];
const liar = 1;
const lies: [about: string, lie: (fleet: FleetLab) => Promise<void>, round: (fleet: FleetLab) => Promise<void>][] = [
  ['is never ready', fleet => fleet.reportReady(liar, false), async () => undefined],
  ['flaps', async () => undefined, flap],
  [
    'is ready, but does not answer when it is removed',
    async fleet => {
      fleet.breakHost(liar);
      await fleet.unlist([liar]);
      await fleet.until(() => fleet.state(liar) === 'stopped');
    },
    async () => undefined,
  ],
];

async function flap(fleet: FleetLab): Promise<void> {
  for (const isReady of [false, true]) {
    await fleet.reportReady(liar, isReady);
    await fleet.progress(Number.POSITIVE_INFINITY);
  }
}

test.each(lies)('a node that %s delays others by an hour at most', async (_about, lie, round) => {
  const fleet = await startFleet(4, { maxUnavailable: '1', limit: 1 });
  await lie(fleet);
  const startMs = fleet.clock.monotonicMs();
  const others = fleet.all().filter(host => host !== liar);
  await fleet.unlist(others);
  await fleet.until(
    () => others.every(host => fleet.state(host) === 'removed'),
    () => round(fleet),
  );
  // The removals themselves take a while, too.
  expect(fleet.clock.monotonicMs() - startMs).toBeLessThan(hour + 20 * minute);
  expect(fleet.watch.problems).toEqual([]);
});
