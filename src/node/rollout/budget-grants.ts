import type { Clock } from '#base/clock.ts';
import { sameData } from '#base/compare.ts';
import { AppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { Slots } from '#base/waiting/slots.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { eventObjects } from '#cluster/instance-events.ts';
import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { eventText } from '#contract/events.ts';
import { configMapName } from '#contract/names.ts';
import {
  type Grant,
  type GrantJourney,
  parseGrants,
  printGrants,
  type RolloutGrants,
} from '#contract/rollout-grants.ts';
import type { EventRecorder } from '#kube/events/events.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { ConfigMap, Node } from '#kube/resources.ts';
import { BlockedTime } from './blocked-time.ts';
import {
  type BudgetFacts,
  budgetOf,
  decideGrant,
  grantOf,
  type GrantRequest,
  nodesOutOfService,
  type OutsideBudget,
  upgradeRefusal,
} from './budget.ts';
import { budgetHosts, nodeState, nodeStates } from './budget-facts.ts';
import { GrantStore, type GrantStoreParts, type StoredGrants } from './grant-store.ts';
import type { GrantAnswer, Grants } from './grants.ts';
import { endGrant, isInService, runningGrants, stoppedGrants } from './running-grants.ts';
import type { RolloutSettings } from '#contract/rollout.ts';
import { RolloutSettingsSource } from './settings-source.ts';
import { WaitingLine } from './waiting-line.ts';

export interface BudgetGrantsParts extends GrantStoreParts {
  instances: Pick<Informer<WindowsInstance>, 'store'>;
  nodes: Pick<Informer<Node>, 'store'>;
  /** Of the operator's namespace. */
  configMaps: Pick<Informer<ConfigMap>, 'store'>;
  recorder: Pick<EventRecorder, 'record'>;
  /** Of the operator. */
  version: string;
  clock: Clock;
  log: Log;
}

/** Another leader can write for a moment. */
const attempts = 10;

/** What a request makes of the grants. */
interface Change {
  grants: readonly Grant[];
  answer: GrantAnswer;
}

/** Grants in the ConfigMap `windows-rollout-grants`; one request at a time, each with a fresh read. */
export class BudgetGrants implements Grants {
  readonly #parts: BudgetGrantsParts;
  readonly #store: GrantStore;
  readonly #settings: RolloutSettingsSource;
  readonly #events: EventDeduper;
  readonly #slot = new Slots(1);
  readonly #blocked = new BlockedTime();
  /** Grants of this process, with the time of the last request, by UID of the instance. */
  readonly #held = new Map<string, { grant: Grant; takenMs: number }>();
  readonly #listeners = new Set<(refused?: string) => void>();
  /** As last read or written. */
  #known: Omit<RolloutGrants, 'unreadable'> = { grants: [], unavailable: new Map() };
  readonly line = new WaitingLine();

  constructor(parts: BudgetGrantsParts) {
    this.#parts = parts;
    this.#store = new GrantStore(parts);
    this.#settings = new RolloutSettingsSource(parts.configMaps.store, parts.namespace);
    this.#events = new EventDeduper(parts);
  }

  async take(
    instance: WindowsInstance,
    journey: GrantJourney,
    signal: AbortSignal,
    outside?: OutsideBudget,
  ): Promise<GrantAnswer> {
    const { clock, log } = this.#parts;
    const node = boundNode(instance);
    // A host without a Node takes none out of service.
    if (node === undefined) return { isGranted: true };
    using _slot = await this.#slot.take(signal);
    const { name = '', uid = '' } = instance.metadata;
    const asked = { instance: name, uid, node, journey, ...(outside && { outside }) };
    const request = this.line.timed(asked, clock.monotonicMs());
    const answer = await this.#change(facts => takeGrant(request, facts), signal, instance);
    if (answer.isGranted) {
      if (!this.#held.has(uid)) log.info('Took grant of the disruption budget', { instance: name, node, journey });
      const grant = this.#known.grants.find(each => each.uid === uid) ?? grantOf(request, clock.now());
      this.#held.set(uid, { grant, takenMs: clock.now() });
      this.line.leave(uid);
    } else this.line.wait(request, answer.why, clock.monotonicMs());
    this.#finish(answer.isGranted ? undefined : uid, instance);
    return answer;
  }

  async end({ metadata }: WindowsInstance, signal: AbortSignal): Promise<void> {
    const { name = '', uid = '' } = metadata;
    await this.#end(name, uid, grant => grant.journey !== 'replace', signal);
  }

  /** The Machine of this instance was replaced by one that works, or is not replaced after all. */
  async endReplacement({ name = '', uid = '' }: { name?: string; uid?: string }, signal: AbortSignal): Promise<void> {
    await this.#end(name, uid, ({ journey }) => journey === 'replace', signal);
  }

  async #end(name: string, uid: string, isMeant: (grant: Grant) => boolean, signal: AbortSignal): Promise<void> {
    using _slot = await this.#slot.take(signal);
    const hasWaited = this.line.leave(uid);
    const held = this.#held.get(uid);
    const isHeld = held !== undefined && isMeant(held.grant);
    // Every join ends here, and hardly any has a grant: the cache is enough, because those of this process are known.
    if (!hasWaited && !isHeld && !this.#isStored(name)) return;
    const end = (facts: BudgetFacts): Change => {
      const others = facts.grants.filter(grant => !isMeant(grant));
      return { grants: [...others, ...endGrant(facts.grants.filter(isMeant), uid, facts)], answer: granted };
    };
    await this.#change(end, signal);
    if (isHeld) this.#held.delete(uid);
    if (isHeld) this.#parts.log.info('Ended grant of the disruption budget', { instance: name });
    this.#finish();
  }

  #isInService(name: string): boolean {
    const node = this.#parts.nodes.store.get({ namespace: '', name });
    return node !== undefined && isInService(nodeState(node));
  }

  #isStored(instance: string): boolean {
    return Object.hasOwn(this.#cached(), instance);
  }

  #cached(): Readonly<Record<string, string>> {
    const { configMaps, namespace } = this.#parts;
    return configMaps.store.get({ namespace, name: configMapName.rolloutGrants })?.data ?? {};
  }

  /** Grants of Machines that were replaced and whose Nodes are gone, the oldest first. */
  replaced(): Grant[] {
    const { nodes } = this.#parts;
    const isThere = (name: string) => nodes.store.get({ namespace: '', name }) !== undefined;
    // A new process has read no grants before the first request.
    return parseGrants(this.#cached())
      .grants.filter(each => each.journey === 'replace' && !isThere(each.node))
      .toSorted((one, other) => one.sinceMs - other.sinceMs);
  }

  settings(): RolloutSettings {
    return this.#settings.read();
  }

  /** How many nodes may be out of service at once. */
  maxUnavailable(): number {
    return budgetOf(this.facts());
  }

  /** Called after every request, with the UID of the instance if it has to wait. */
  onRequest(listener: (refused?: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** From the caches and the last read of the grants; `fresh` is newer than the cache. */
  facts(fresh?: WindowsInstance): BudgetFacts {
    const { instances, nodes, version, clock } = this.#parts;
    const facts: BudgetFacts = {
      ...this.#known,
      hosts: budgetHosts(instances.store.list(), fresh),
      nodes: nodeStates(nodes.store.list()),
      waiting: this.line.list(),
      settings: this.#settings.read(),
      version,
      nowMs: clock.now(),
    };
    return { ...facts, grants: runningGrants({ ...facts, takenMs: this.#takenMs() }) };
  }

  async #change(
    edit: (facts: BudgetFacts) => Change,
    signal: AbortSignal,
    fresh?: WindowsInstance,
  ): Promise<GrantAnswer> {
    const { clock } = this.#parts;
    this.#blocked.charge(clock.monotonicMs());
    const held = [...this.#held.values()].map(({ grant }) => grant);
    for (let left = attempts; left > 0; left -= 1) {
      const stored = await this.#store.read(held, node => this.#isInService(node), signal);
      const unavailable = this.#blocked.added(stored.unavailable, clock.now());
      this.#known = { grants: stored.grants, unavailable };
      const facts = this.facts(fresh);
      const { grants, answer } = edit(facts);
      if (!(await this.#write(stored, grants, signal))) continue;
      this.#known = { grants, unavailable };
      this.#reportUncounted(facts);
      return answer;
    }
    throw new AppError('API_BUSY', `ConfigMap ${configMapName.rolloutGrants} changed ${attempts} times meanwhile`, {
      remedy: `Find out who else writes it: \`kubectl get configmap ${configMapName.rolloutGrants} -o yaml --show-managed-fields\`.`,
    });
  }

  /** True if the grants are stored. */
  async #write(stored: StoredGrants, grants: readonly Grant[], signal: AbortSignal): Promise<boolean> {
    const isTimeDue = this.#blocked.isStoreDue(stored.unavailable);
    const { unavailable } = isTimeDue ? this.#known : stored;
    if (sameData(printGrants({ grants, unavailable }), stored.map?.data ?? {})) return true;
    if (!(await this.#store.write(stored, { grants, unavailable }, signal))) return false;
    if (isTimeDue) this.#blocked.stored();
    return true;
  }

  #finish(refused?: string, fresh?: WindowsInstance): void {
    const { clock } = this.#parts;
    const facts = this.facts(fresh);
    const running = new Set(facts.grants.map(({ uid }) => uid));
    for (const uid of this.#held.keys()) if (!running.has(uid)) this.#held.delete(uid);
    this.#blocked.block(this.#blockers(facts), clock.monotonicMs());
    for (const listener of this.#listeners) listener(refused);
  }

  /** Nodes that keep others waiting, though no journey of the operator has them. */
  #blockers(facts: BudgetFacts): string[] {
    if (facts.waiting.length === 0 || facts.settings.isPaused) return [];
    const others = nodesOutOfService(facts).filter(({ cause, isCounted }) => isCounted && cause !== 'granted');
    return [...others.map(({ node }) => node), ...stoppedGrants({ ...facts, takenMs: this.#takenMs() })];
  }

  #reportUncounted(facts: BudgetFacts): void {
    const { instances, namespace } = this.#parts;
    for (const { node, instance: name = '', isCounted, cause } of nodesOutOfService(facts)) {
      const instance = isCounted ? undefined : instances.store.get({ namespace, name });
      if (instance === undefined) continue;
      this.#events.report(`budget: ${node}`, eventObjects(instance), [eventText.nodeNotCounted(node, cause)]);
    }
  }

  #takenMs(): Map<string, number> {
    return new Map([...this.#held].map(([uid, { takenMs }]) => [uid, takenMs]));
  }
}

const granted: GrantAnswer = { isGranted: true };

function takeGrant(request: GrantRequest, facts: BudgetFacts): Change {
  const { grants, nowMs } = facts;
  const own = grants.find(({ uid }) => uid === request.uid);
  // A grant for a reboot, or from before the roll-out stopped, lets no upgrade start.
  const refusal = own && upgradeRefusal(request, facts);
  if (refusal !== undefined) return { grants, answer: { isGranted: false, why: refusal } };
  const answer = own === undefined ? decideGrant(request, facts) : granted;
  if (!answer.isGranted) return { grants, answer };
  // A former instance of the same node has its grant no longer.
  const others = grants.filter(({ node, uid }) => node !== request.node && uid !== request.uid);
  const grant = { ...grantOf(request, nowMs), ...(own && { sinceMs: own.sinceMs }) };
  // The removal of the host of a replaced Machine must not end what the grant of the replacement stands for.
  const isReplaced = own?.journey === 'replace' && request.journey === 'remove';
  const { journey, machineSet = grant.machineSet } = isReplaced ? own : grant;
  return { grants: [...others, { ...grant, journey, ...(machineSet !== undefined && { machineSet }) }], answer };
}
