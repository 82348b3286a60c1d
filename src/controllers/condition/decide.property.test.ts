import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { InstancePhase } from '#contract/windows-instance/resource.ts';
import { configureSteps } from '#node/lifecycle/configure/steps.ts';
import { Journal } from '#node/lifecycle/journal.ts';
import { rebootSteps } from '#node/lifecycle/reboot/steps.ts';
import { removeSteps } from '#node/lifecycle/remove/steps.ts';
import { upgradeSteps } from '#node/lifecycle/upgrade/steps.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { cordonSteps, decide, endSteps, longestMs } from './decide.ts';

/** Random histories of journeys, written by the real journal. */

const kinds: readonly { phase: InstancePhase; steps: readonly string[] }[] = [
  { phase: 'Configuring', steps: configureSteps.map(({ name }) => name) },
  { phase: 'Upgrading', steps: upgradeSteps.map(({ name }) => name) },
  { phase: 'Rebooting', steps: rebootSteps.map(({ name }) => name) },
  { phase: 'Removing', steps: removeSteps.map(({ name }) => name) },
];
const minuteMs = 60_000;

const acts = [
  ...Array.from({ length: 12 }, () => 'go on'),
  'finish',
  'fail',
  'fail',
  'restart',
  'pause',
  'pause',
  'delete',
  'stop',
];
const act = fc.record({
  host: fc.nat({ max: 2 }),
  do: fc.constantFrom(...acts),
  count: fc.integer({ min: 1, max: 10 }),
  kind: fc.nat({ max: kinds.length - 1 }),
  minutes: fc.nat({ max: 20 }),
});

class ModelHost {
  readonly #clock: ReturnType<typeof manualClock>;
  #journal: Journal | undefined;
  #kind = kinds[0] ?? { phase: 'Configuring' as const, steps: [] };
  #next = 0;
  #phase: InstancePhase = 'Ready';
  #failed: string | undefined;
  #upgradeFailed = false;
  isPaused = false;
  isDeleted = false;
  /** When the Node was cordoned; undefined while it is in service. */
  cordonedMs: number | undefined;

  constructor(clock: ReturnType<typeof manualClock>) {
    this.#clock = clock;
  }

  get isFailing(): boolean {
    return this.#phase === 'Failed' || this.#failed !== undefined;
  }

  get stops(): boolean {
    return this.#upgradeFailed;
  }

  instance(): WindowsInstance {
    const timeline = this.#journal?.timeline() ?? [];
    const failed = { code: 'X', message: 'm', at: new Date(this.#clock.now()).toISOString() };
    return {
      metadata: { name: 'w' },
      spec: { address: '10.0.0.1', username: 'a', ...(this.isPaused && { paused: true }) },
      status: {
        phase: this.#phase,
        timeline,
        ...(this.#upgradeFailed && { upgrade: { from: 'v1', to: 'v2', failed } }),
      },
    };
  }

  goOn(count: number, kind: number): void {
    if (this.isPaused) return;
    if (this.#phase === 'Ready') this.#begin(kind);
    if (this.#phase === 'Failed') this.#again();
    for (let left = count; left > 0 && this.#phase !== 'Ready'; left -= 1) this.#step();
  }

  fail(): void {
    const name = this.#kind.steps[this.#next];
    if (this.#phase === 'Ready' || this.isPaused || name === undefined) return;
    if (this.#phase === 'Failed') this.#again();
    const failing = this.#kind.steps[this.#next] ?? name;
    this.#journal?.begin(failing, { limitMs: 1 });
    this.#journal?.fail(failing, new AppError('STEP_TIMEOUT', 'm', { remedy: 'r' }));
    [this.#phase, this.#failed] = ['Failed', failing];
  }

  /** The operator is killed and started again: the next attempt begins with the first step. */
  restart(): void {
    if (this.#phase !== 'Ready' && this.#phase !== 'Failed') this.#again();
  }

  stopRollout(): void {
    this.#upgradeFailed = true;
  }

  #begin(kind: number): void {
    this.#kind = kinds[kind] ?? this.#kind;
    [this.#next, this.#phase, this.#failed] = [0, this.#kind.phase, undefined];
    this.#journal = new Journal([], this.#clock, () => undefined);
  }

  #again(): void {
    this.#journal = new Journal(this.#journal?.timeline() ?? [], this.#clock, () => undefined);
    [this.#next, this.#phase] = [0, this.#kind.phase];
  }

  #step(): void {
    const name = this.#kind.steps[this.#next] ?? '';
    this.#journal?.begin(name, { limitMs: 1 });
    if (cordonSteps.includes(name)) this.cordonedMs ??= this.#clock.now();
    if (endSteps.includes(name)) this.cordonedMs = undefined;
    this.#journal?.finish(name);
    if (this.#failed === name) this.#failed = undefined;
    this.#next += 1;
    if (this.#next === this.#kind.steps.length) this.#phase = 'Ready';
  }
}

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

function apply(hosts: readonly ModelHost[], { host: index, do: what, count, kind }: Act): void {
  const host = hosts[index];
  if (what === 'restart') for (const each of hosts) each.restart();
  if (host === undefined) return;
  if (what === 'go on') host.goOn(count, kind);
  if (what === 'finish') host.goOn(100, kind);
  if (what === 'fail') host.fail();
  if (what === 'pause') host.isPaused = !host.isPaused;
  if (what === 'delete') host.isDeleted = true;
  if (what === 'stop') host.stopRollout();
}

/** Its node is out of service for less than an hour, by a journey that makes progress. */
function isAtWork({ cordonedMs = -Infinity, isDeleted, isPaused, isFailing }: ModelHost, nowMs: number): boolean {
  return !isDeleted && !isPaused && !isFailing && nowMs - cordonedMs < longestMs;
}

test('UPG-05: whatever happens, it is not safe only while a healthy journey has its node out of service, an hour at most', async () => {
  let unsafe = 0;
  const histories = fc.array(act, { maxLength: 40, size: 'max' });
  await fc.assert(
    fc.asyncProperty(histories, fc.nat({ max: 9 }), async (history, paused) => {
      const clock = manualClock();
      const hosts = [0, 1, 2].map(() => new ModelHost(clock));
      const look = (isPaused: boolean) => {
        const instances = hosts.filter(({ isDeleted }) => !isDeleted).map(host => host.instance());
        return decide({ instances, isPaused, version: 'v2', nowMs: clock.now() });
      };
      for (const each of history) {
        apply(hosts, each);
        const decision = look(paused === 0);
        const isStopped = hosts.some(({ stops, isDeleted }) => stops && !isDeleted);
        const mayBeUnsafe = paused > 0 && !isStopped && hosts.some(host => isAtWork(host, clock.now()));
        expect(decision.isSafe || mayBeUnsafe).toBe(true);
        expect(decision.againMs ?? 0).toBeLessThanOrEqual(longestMs);
        unsafe += decision.isSafe ? 0 : 1;
        await clock.advance(each.minutes * minuteMs);
      }
      await clock.advance(longestMs);
      expect(look(false)).toEqual({ isSafe: true });
    }),
    { numRuns: 500 },
  );
  // Otherwise the property would hold for a condition that is always True.
  expect(unsafe).toBeGreaterThan(500);
});

test('UPG-05: a host that fails again and again makes it safe once, and not anew with each attempt', () => {
  const clock = manualClock();
  const host = new ModelHost(clock);
  const isSafe = () =>
    decide({ instances: [host.instance()], isPaused: false, version: 'v2', nowMs: clock.now() }).isSafe;
  const drain = upgradeSteps.findIndex(({ name }) => name === 'drain');
  host.goOn(drain, 1);
  expect(isSafe()).toBe(false);
  for (let attempt = 0; attempt < 10; attempt += 1) {
    host.fail();
    expect(isSafe()).toBe(true);
    for (let step = 0; step < drain; step += 1) {
      host.goOn(1, 1);
      expect(isSafe()).toBe(true);
    }
  }
  host.goOn(1, 1);
  expect(isSafe()).toBe(false);
});
