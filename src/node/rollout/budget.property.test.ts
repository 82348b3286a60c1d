import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { configMapName } from '#contract/names.ts';
import { configMaps } from '#kube/resources.ts';
import { type BudgetBench, budgetBench } from '../../../test/kit/budget-bench.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';
import type { Rollout } from './rollout.ts';

const count = 40;
const minute = 60_000;

type Act =
  /** Both leaders are asked at once, for two hosts. */
  | { do: 'take'; hosts: readonly [number, number] }
  /** The operator crashes after it took a grant. */
  | { do: 'abandon'; host: number }
  | { do: 'finish' | 'flap' | 'cordon' | 'repair'; host: number }
  | { do: 'restart' | 'lose grants' }
  | { do: 'advance'; minutes: number };

/** A few of them, so that one is asked for, breaks and comes back. */
const someHost = fc.integer({ min: 1, max: 12 });
const someAct: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('take' as const), hosts: fc.tuple(someHost, someHost) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abandon' as const), host: someHost }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('finish', 'flap', 'cordon', 'repair'), host: someHost }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('restart', 'lose grants') }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('advance' as const), minutes: fc.integer({ min: 0, max: 30 }) }),
  },
);

/** Hosts on a journey, and two operators of which each believes to be the leader. */
class Fleet {
  readonly bench: BudgetBench;
  readonly running = new Set<number>();
  leaders: [Rollout, Rollout];

  constructor(settings: Record<string, string>) {
    this.bench = budgetBench(count);
    this.bench.settings(settings);
    this.leaders = [this.bench.leader(), this.bench.leader()];
  }

  async act(act: Act): Promise<void> {
    const { bench } = this;
    switch (act.do) {
      case 'take':
        await Promise.all(act.hosts.map((host, at) => this.take(host, this.leaders[at === 0 ? 0 : 1])));
        return;
      case 'abandon':
        await bench.take(this.leaders[0].grants, act.host);
        return this.act({ do: 'restart' });
      case 'finish':
        return this.running.has(act.host) ? this.finish(act.host) : undefined;
      case 'flap':
        return bench.putNode(act.host, { isReady: false, isCordoned: this.running.has(act.host) });
      case 'cordon':
        return bench.putNode(act.host, { isCordoned: true });
      case 'repair':
        return bench.putNode(act.host, { isCordoned: this.running.has(act.host) });
      case 'restart':
        this.leaders = [bench.leader(), this.leaders[0]];
        return;
      case 'lose grants':
        return bench.api.remove(configMaps, configMapName.rolloutGrants, namespace);
      case 'advance':
        return bench.clock.advance(act.minutes * minute);
      default:
        return act satisfies never;
    }
  }

  async take(host: number, { grants }: Rollout): Promise<boolean> {
    const { isGranted } = await this.bench.take(grants, host);
    if (!isGranted) return false;
    this.running.add(host);
    this.bench.begin(host);
    return true;
  }

  async finish(host: number): Promise<void> {
    this.running.delete(host);
    await this.bench.finish(this.leaders[0].grants, host);
  }

  /** Everything works again, and every host asks until it has had its grant; returns how many asked at most. */
  async serveAll(): Promise<number> {
    for (const host of this.running) await this.finish(host);
    for (let host = 1; host <= count; host += 1) this.bench.putNode(host);
    await this.bench.clock.advance(10 * minute);
    const [leader] = this.leaders;
    const waiting = new Set(Array.from({ length: count }, (_, index) => index + 1));
    for (let round = 1; round <= count; round += 1) {
      for (const host of waiting) if (await this.take(host, leader)) waiting.delete(host);
      for (const host of this.running) await this.finish(host);
      if (waiting.size === 0) return round;
    }
    return Number.POSITIVE_INFINITY;
  }
}

for (const [maxUnavailable, most] of [
  ['10%', 4],
  ['1', 1],
] as const) {
  test(`with ${maxUnavailable} of ${count} nodes never more than ${most} are granted, and everyone gets a grant`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someAct, { minLength: 40, maxLength: 80 }), async acts => {
        const fleet = new Fleet({ maxUnavailable });
        for (const act of acts) {
          await fleet.act(act);
          expect(fleet.running.size).toBeLessThanOrEqual(most);
          expect(new Set(fleet.bench.granted()).size).toBeLessThanOrEqual(most);
        }
        expect(await fleet.serveAll()).toBeLessThanOrEqual(count / most);
      }),
      { numRuns: 25 },
    );
  });
}

test('one node that lies keeps the others waiting for an hour in 24 at most, however it flaps', async () => {
  const someFlaps = fc.array(
    fc.record({ down: fc.integer({ min: 1, max: 90 }), up: fc.integer({ min: 1, max: 30 }) }),
    {
      minLength: 1,
      maxLength: 20,
    },
  );
  await fc.assert(
    fc.asyncProperty(someFlaps, async flaps => {
      const fleet = new Fleet({});
      const lies = flaps.flatMap(({ down, up }) => [
        ...Array<boolean>(down).fill(true),
        ...Array<boolean>(up).fill(false),
      ]);
      const { clock } = fleet.bench;
      let [blockedMinutes, turn] = [0, 0];
      // Every other host in turn needs a minute, all day long.
      for (let passed = 0; passed < 24 * 60; passed += 1) {
        fleet.bench.putNode(1, { isReady: lies[passed % lies.length] === false });
        const isGranted = await fleet.take(2 + (turn % (count - 1)), fleet.leaders[0]);
        if (isGranted) turn += 1;
        else blockedMinutes += 1;
        await clock.advance(minute);
        for (const host of fleet.running) await fleet.finish(host);
      }
      expect(blockedMinutes).toBeLessThanOrEqual(61);
    }),
    { numRuns: 5 },
  );
});

test('a host that waits is woken and served within an hour, though a node is down all day', async () => {
  const { bench, leaders } = new Fleet({});
  const [{ grants, watchTurns }] = leaders;
  let servedMs: number | undefined;
  const ask = async () => {
    const { isGranted } = await bench.take(grants, 2);
    if (isGranted) servedMs ??= bench.clock.monotonicMs();
  };
  const end = watchTurns(() => [{ namespace, name: 'i02' }]).start(() => void ask(), bench.parts.log);
  bench.putNode(1, { isReady: false });
  await ask();
  await bench.clock.advance(59 * minute);
  expect(servedMs).toBeUndefined();
  await bench.clock.advance(2 * minute);
  expect(servedMs).toBeLessThanOrEqual(61 * minute);
  end();
});
