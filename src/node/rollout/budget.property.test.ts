import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { timestamp } from '#base/clock.ts';
import { configMapName, instanceAnnotation } from '#contract/names.ts';
import type { JourneyName, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { stoppedVersion, upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import { configMaps } from '#kube/resources.ts';
import { type BudgetBench, budgetBench } from '../../../test/kit/budget-bench.ts';
import { benchNamespace as namespace, benchVersion as version } from '../../../test/kit/source-bench.ts';
import type { Rollout } from './rollout.ts';

const count = 40;
const minute = 60_000;
const never = new AbortController().signal;

type Act =
  /** Both leaders are asked at once, for two hosts. */
  | { do: 'take'; journey: 'upgrade' | 'reboot'; hosts: readonly [number, number] }
  /** The operator crashes after it took a grant. */
  | { do: 'abandon'; host: number }
  | { do: 'go on' | 'fail' | 'flap' | 'cordon' | 'repair' | 'accept' | 'retry'; host: number }
  | { do: 'restart' | 'lose grants' }
  | { do: 'advance'; minutes: number };

/** A few of them, so that one is asked for, breaks and comes back. */
const someHost = fc.integer({ min: 1, max: 12 });
const someAct: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      journey: fc.constantFrom('upgrade', 'upgrade', 'reboot'),
      hosts: fc.tuple(someHost, someHost),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abandon' as const), host: someHost }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('go on' as const), host: someHost }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('fail', 'flap', 'cordon', 'repair', 'accept', 'retry'),
      host: someHost,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('restart', 'lose grants') }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('advance' as const), minutes: fc.integer({ min: 0, max: 30 }) }),
  },
);

type Upgrade = NonNullable<WindowsInstanceStatus['upgrade']>;

/** Hosts on a journey, and two operators of which each believes to be the leader. */
class Fleet {
  readonly bench: BudgetBench;
  readonly first: number;
  /** Journeys that have taken their nodes out of service. */
  readonly running = new Map<number, JourneyName>();
  readonly upgrades = new Map<number, Upgrade>();
  readonly annotations = new Map<number, Record<string, string>>();
  readonly problems: string[] = [];
  leaders: [Rollout, Rollout];

  constructor(settings: Record<string, string>) {
    this.bench = budgetBench(count);
    this.bench.settings(settings);
    this.first = Number(settings['first'] ?? '1');
    this.leaders = [this.bench.leader(), this.bench.leader()];
  }

  async act(act: Act): Promise<void> {
    const { bench } = this;
    switch (act.do) {
      case 'take':
        await Promise.all(act.hosts.map((host, at) => this.take(host, this.leaders[at === 0 ? 0 : 1], act.journey)));
        return;
      case 'abandon':
        await bench.take(this.leaders[0].grants, act.host);
        return this.act({ do: 'restart' });
      case 'go on':
        return this.goOn(act.host);
      case 'fail':
        return this.fail(act.host);
      case 'flap':
        return bench.putNode(act.host, { isReady: false, isCordoned: this.running.has(act.host) });
      case 'cordon':
        return bench.putNode(act.host, { isCordoned: true });
      case 'repair':
        return bench.putNode(act.host, { isCordoned: this.running.has(act.host) });
      case 'accept':
        return this.annotate(act.host, { [instanceAnnotation.acceptedRollback]: version });
      case 'retry':
        return this.annotate(act.host, { [instanceAnnotation.retry]: String(bench.clock.now()) });
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

  /** A host that has a journey, soaks or has to go back asks for nothing else. */
  async take(host: number, { grants }: Rollout, journey: 'upgrade' | 'reboot' = 'reboot'): Promise<boolean> {
    if (this.running.has(host) || isOpen(this.upgrades.get(host))) return false;
    const refusal = journey === 'upgrade' ? this.#refusal(host) : undefined;
    const { isGranted } = await this.bench.take(grants, host, journey);
    if (!isGranted || this.running.has(host)) return false;
    if (refusal !== undefined) this.problems.push(`${host} was upgraded, though ${refusal}`);
    if (journey === 'upgrade') this.upgrades.set(host, { from: 'v', to: version, activated: this.#now() });
    this.#begin(host, journey);
    return true;
  }

  /** The next step of whatever the host does. */
  async goOn(host: number): Promise<void> {
    const [journey, upgrade] = [this.running.get(host), this.upgrades.get(host)];
    if (journey === 'upgrade' && upgrade !== undefined) return this.#end(host, { ...upgrade, ready: this.#now() });
    if (journey === 'rollback' && upgrade !== undefined)
      return this.#end(host, { ...upgrade, rolledBack: this.#now() });
    if (journey === 'reboot') return this.#end(host, upgrade);
    const state = upgradeState(upgrade);
    if (upgrade === undefined) return;
    if (state === 'soaking') this.#putUpgrade(host, { ...upgrade, soaked: this.#now() });
    if (state !== 'failed') return;
    const { isGranted } = await this.bench.take(this.leaders[0].grants, host, 'rollback');
    if (isGranted) this.#begin(host, 'rollback');
  }

  /** An upgrade fails while files are swapped, in the soak, or later. */
  fail(host: number): void {
    const upgrade = this.upgrades.get(host);
    const retry = this.annotations.get(host)?.[instanceAnnotation.retry];
    if (upgrade === undefined || upgrade.failed !== undefined) return;
    const failed = { code: 'UPGRADE_UNHEALTHY', message: '', at: this.#now() };
    if (this.running.get(host) === 'upgrade') this.running.delete(host);
    this.#putUpgrade(host, { ...upgrade, failed, ...(retry !== undefined && { retry }) });
  }

  annotate(host: number, added: Record<string, string>): void {
    this.annotations.set(host, { ...this.annotations.get(host), ...added });
    this.#put(host);
  }

  /** Everything works again, and every host asks until it is upgraded; returns how many rounds that takes. */
  async serveAll(journey: 'upgrade' | 'reboot'): Promise<number> {
    await this.bench.clock.advance(minute);
    for (let host = 1; host <= count; host += 1) {
      this.bench.putNode(host, { isCordoned: this.running.has(host) });
      this.annotate(host, { [instanceAnnotation.acceptedRollback]: version });
    }
    // With a budget of one, hosts that failed go back one after the other.
    for (let round = 0; round < count; round += 1) for (let host = 1; host <= count; host += 1) await this.goOn(host);
    await this.bench.clock.advance(10 * minute);
    const [leader] = this.leaders;
    // A host that asked before and wants nothing any more leaves the line; in the product it is woken for that.
    for (let host = 1; host <= count; host += 1) await leader.grants.end(this.bench.host(host), never);
    const isServed = (host: number) => upgradeState(this.upgrades.get(host)) === 'soaked';
    const waiting = new Set(Array.from({ length: count }, (_, index) => index + 1));
    if (journey === 'upgrade') for (const host of waiting) if (isServed(host)) waiting.delete(host);
    for (let round = 1; round <= 2 * count; round += 1) {
      for (const host of waiting) if (await this.take(host, leader, journey)) waiting.delete(host);
      for (const host of Array.from(this.running.keys())) {
        await this.goOn(host);
        await this.goOn(host);
      }
      if (waiting.size === 0) return round;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Why the roll-out lets no other host start. */
  #refusal(host: number): string | undefined {
    const others = [...this.upgrades].filter(([other, { to }]) => other !== host && to === version);
    const stopping = others.find(([other]) => stoppedVersion(this.bench.host(other)) !== undefined);
    if (stopping !== undefined) return `the upgrade of ${stopping[0]} has failed`;
    const soaked = [...this.upgrades.values()].filter(upgrade => upgradeState(upgrade) === 'soaked').length;
    const running = others.filter(([, upgrade]) => ['swapping', 'soaking'].includes(upgradeState(upgrade))).length;
    return soaked < this.first && running >= this.first - soaked ? `${running} others soak first` : undefined;
  }

  #begin(host: number, journey: JourneyName): void {
    this.running.set(host, journey);
    this.#put(host);
    this.bench.putNode(host, { isCordoned: true });
  }

  async #end(host: number, upgrade: Upgrade | undefined): Promise<void> {
    this.running.delete(host);
    this.bench.putNode(host);
    if (upgrade !== undefined) this.upgrades.set(host, upgrade);
    this.#put(host);
    await this.leaders[0].grants.end(this.bench.host(host), never);
  }

  #putUpgrade(host: number, upgrade: Upgrade): void {
    this.upgrades.set(host, upgrade);
    this.#put(host);
  }

  #put(host: number): void {
    const [name, upgrade] = [this.running.get(host), this.upgrades.get(host)];
    const journey = name && { name, cause: 'x', started: this.#now() };
    const status = { ...(journey && { journey }), ...(upgrade && { upgrade }) };
    this.bench.putHost(host, status, {}, this.annotations.get(host));
  }

  #now(): string {
    return timestamp(this.bench.clock.now());
  }
}

function isOpen(upgrade: Upgrade | undefined): boolean {
  return ['swapping', 'soaking', 'failed'].includes(upgradeState(upgrade));
}

for (const [maxUnavailable, most, first] of [
  ['10%', 4, '2'],
  ['1', 1, '1'],
] as const) {
  test(`with ${maxUnavailable} of ${count} nodes never more than ${most} are out of service, whatever is upgraded, fails or crashes; the roll-out stops after a failure, and everyone is upgraded at last`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someAct, { minLength: 40, maxLength: 80 }), async acts => {
        const fleet = new Fleet({ maxUnavailable, first });
        for (const act of acts) {
          await fleet.act(act);
          // Times are stored in whole seconds.
          await fleet.bench.clock.advance(2000);
          expect(fleet.running.size).toBeLessThanOrEqual(most);
          expect(new Set(fleet.bench.granted()).size).toBeLessThanOrEqual(most);
          expect(fleet.problems).toEqual([]);
        }
        expect(await fleet.serveAll('upgrade')).toBeLessThanOrEqual(count / most + 4);
        expect(fleet.problems).toEqual([]);
      }),
      { numRuns: 10, endOnFailure: true },
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
        for (const host of Array.from(fleet.running.keys())) await fleet.goOn(host);
      }
      expect(blockedMinutes).toBeLessThanOrEqual(61);
    }),
    { numRuns: 3 },
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
