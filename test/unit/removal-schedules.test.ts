import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FleetLab, nodeOf, startFleet } from '../kit/lifecycle/fleet-lab.ts';

type Act =
  | { do: 'unlist' | 'list'; hosts: readonly number[] }
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
      do: fc.constantFrom('unlist' as const, 'unlist' as const, 'list' as const),
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
    minLength: 20,
    maxLength: 30,
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

test('of 40 nodes never more than 4 are out of service, whatever happens to hosts and operators', async () => {
  const fleet = await startFleet(count, { maxUnavailable: '10%', limit: 4 });
  const property = fc.asyncProperty(someSchedule, schedule => play(schedule, fleet));
  await fc.assert(property, { numRuns: 5, endOnFailure: true });
  // Otherwise the schedules have tested nothing.
  expect(fleet.watch.most).toBe(4);
});

void nodeOf;
