import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { nodes } from '#kube/resources.ts';
import { type BudgetBench, budgetBench } from '../../../test/kit/budget-bench.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';
import type { OutsideBudget } from './budget.ts';
import type { Rollout } from './rollout.ts';

const never = new AbortController().signal;
const [perSet, sets] = [4, 3];
const count = perSet * sets;
const nameOf = (host: number, letter: 'i' | 'n') => `${letter}${String(host).padStart(2, '0')}`;

/** `granted`: its Machine has a grant and is not deleted yet. `joining`: its Node exists, and is not finished. */
type State = 'works' | 'granted' | 'gone' | 'joining' | 'rebooting';

type Act =
  /** Of the Machines of two sets, each asked by a leader of its own. */
  | { do: 'replace'; places: readonly [number, number]; crashes: boolean }
  | { do: 'delete' | 'register' | 'finish' | 'reboot'; place: number }
  | { do: 'restart' }
  | { do: 'advance'; seconds: number };

const somePlace = fc.integer({ min: 0, max: count - 1 });
const someAct: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('replace' as const),
      places: fc.tuple(somePlace, somePlace),
      crashes: fc.boolean(),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constantFrom('delete', 'register', 'finish', 'finish', 'reboot'), place: somePlace }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('advance' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
  },
);

/** MachineSets whose Machines are replaced. A place has one host after the other, each with names of its own. */
class Sets {
  readonly bench: BudgetBench = budgetBench(count);
  readonly places: { host: number; state: State }[];
  #leaders: [Rollout, Rollout];
  #next = count + 1;

  constructor(maxUnavailable: string) {
    this.bench.settings({ maxUnavailable });
    this.places = Array.from({ length: count }, (_, at) => ({ host: at + 1, state: 'works' }));
    this.#leaders = [this.bench.leader(), this.bench.leader()];
  }

  /** Out of service, or about to be. */
  get out(): number {
    return this.places.filter(({ state }) => state !== 'works').length;
  }

  async act(act: Act): Promise<void> {
    switch (act.do) {
      case 'replace':
        await Promise.all(act.places.map((place, at) => this.replace(place, this.#leaders[at === 0 ? 0 : 1])));
        for (const place of act.crashes ? [] : act.places) await this.#delete(place);
        return;
      case 'delete':
        return this.#delete(act.place);
      case 'register':
        return this.#register(act.place);
      case 'finish':
        return this.#finish(act.place);
      case 'reboot':
        return this.#reboot(act.place);
      case 'restart':
        this.#leaders = [this.bench.leader(), this.#leaders[0]];
        return;
      case 'advance':
        return this.bench.clock.advance(act.seconds * 1000);
      default:
        return act satisfies never;
    }
  }

  async replace(at: number, { grants }: Rollout = this.#leaders[0]): Promise<void> {
    const place = this.#place(at);
    if (place.state !== 'works') return;
    const outside = this.#outside(at);
    const unhealthy = outside.nodes.length + outside.missing;
    if (unhealthy >= Math.min(grants.maxUnavailable(), perSet - 1)) return;
    const { isGranted } = await grants.take(this.bench.host(place.host), 'replace', never, outside);
    if (isGranted) place.state = 'granted';
  }

  /** Also after a restart, when the grant may have ended meanwhile. */
  async #delete(at: number): Promise<void> {
    const place = this.#place(at);
    const { api, host, begin } = this.bench;
    const [{ grants }] = this.#leaders;
    if (place.state !== 'granted') return;
    const { isGranted } = await grants.take(host(place.host), 'replace', never, this.#outside(at));
    if (!isGranted) return void (place.state = 'works');
    // Its host is removed, as that of any Machine that is deleted.
    await grants.take(host(place.host), 'remove', never);
    begin(place.host, 'remove');
    await grants.end(host(place.host), never);
    api.remove(windowsInstances, nameOf(place.host, 'i'), namespace);
    api.remove(nodes, nameOf(place.host, 'n'));
    place.state = 'gone';
  }

  #register(at: number): void {
    const place = this.#place(at);
    if (place.state !== 'gone') return;
    Object.assign(place, { host: this.#next, state: 'joining' });
    this.#next += 1;
    this.bench.api.put(windowsInstances, {
      metadata: { name: nameOf(place.host, 'i'), namespace, uid: `u${place.host}` },
      spec: { address: `10.0.0.${place.host}`, username: 'a' },
      status: { host: { name: nameOf(place.host, 'n'), addresses: [] } },
    });
    this.bench.putNode(place.host, { isReady: false });
  }

  async #finish(at: number): Promise<void> {
    const place = this.#place(at);
    const [{ grants }] = this.#leaders;
    if (place.state === 'rebooting') {
      await this.bench.finish(grants, place.host);
      place.state = 'works';
    }
    if (place.state !== 'joining') return;
    this.bench.putNode(place.host);
    this.bench.putHost(place.host);
    place.state = 'works';
    // As the controller of Machines does it.
    const held = grants.replaced().filter(({ machineSet }) => machineSet === this.#setOf(at));
    const { missing, nodes: unfinished } = this.#outside(at);
    const ended = held.slice(0, Math.max(0, held.length - missing - unfinished.length));
    for (const { instance: name, uid } of ended) await grants.endReplacement({ name, uid }, never);
  }

  async #reboot(at: number): Promise<void> {
    const place = this.#place(at);
    if (place.state !== 'works') return;
    const { isGranted } = await this.bench.take(this.#leaders[0].grants, place.host);
    if (!isGranted) return;
    this.bench.begin(place.host);
    place.state = 'rebooting';
  }

  /** Everything comes back; returns how many rounds it takes until each Machine is replaced once more. */
  async replaceAll(): Promise<number> {
    const before = this.places.map(({ host }) => host);
    for (let round = 1; round <= 2 * count; round += 1) {
      // Those that asked before, and do not ask now, leave the line; in the product because they do not answer.
      this.#leaders = [this.bench.leader(), this.#leaders[0]];
      for (let at = 0; at < count; at += 1) {
        await this.#delete(at);
        this.#register(at);
        await this.#finish(at);
        if (this.places[at]?.host === before[at]) await this.replace(at);
      }
      if (this.places.every(({ host, state }, at) => host !== before[at] && state === 'works')) return round;
    }
    return Number.POSITIVE_INFINITY;
  }

  #outside(at: number): OutsideBudget {
    const others = this.places.filter((_, other) => this.#setOf(other) === this.#setOf(at) && other !== at);
    const nodesOf = (...states: State[]) =>
      others.filter(({ state }) => states.includes(state)).map(({ host }) => nameOf(host, 'n'));
    return {
      machineSet: this.#setOf(at),
      nodes: nodesOf('joining'),
      missing: nodesOf('gone').length,
      working: nodesOf('works', 'granted', 'rebooting'),
    };
  }

  #setOf(at: number): string {
    return `set-${Math.floor(at / perSet)}`;
  }

  #place(at: number): { host: number; state: State } {
    const place = this.places[at];
    if (place === undefined) throw new Error(`there is no place ${at}`);
    return place;
  }
}

for (const maxUnavailable of [1, 2, 3]) {
  test(`of ${sets} MachineSets never more than ${maxUnavailable} nodes are missing, whatever is replaced, rebooted or crashes; all are replaced at last`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someAct, { minLength: 30, maxLength: 60 }), async acts => {
        const fleet = new Sets(String(maxUnavailable));
        for (const act of acts) {
          await fleet.act(act);
          await fleet.bench.clock.advance(1000);
          expect(fleet.out).toBeLessThanOrEqual(maxUnavailable);
        }
        expect(await fleet.replaceAll()).toBeLessThanOrEqual(2 * count);
      }),
      { numRuns: 12 },
    );
  });
}
