import type { Clock } from '#base/clock.ts';
import { isAppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import type { NodeView } from '#contract/node.ts';
import type { Feed, Watch } from '#kube/controller/watches.ts';
import type { Key } from '#kube/resource.ts';
import { Slots } from '#node/lifecycle/slots.ts';

/** Asks a host what it is called, over a connection to the very host we know. */
export type AskHost = (instance: InstanceObject, node: NodeView | undefined, signal: AbortSignal) => Promise<string>;

export interface HostNamesOptions {
  ask: AskHost;
  /** Whose keys an answer concerns. */
  waiting: () => Iterable<Key>;
  clock: Clock;
  limits?: Partial<HostNamesLimits>;
}

export interface HostNamesLimits {
  /** Hosts that are asked at the same time. */
  atOnce: number;
  /** How long an answer is good; hosts are renamed at times. */
  goodMs: number;
  /** How long a host that gave no answer is left alone, at first and at most. */
  failedMs: number;
  maxFailedMs: number;
}

const usualLimits: HostNamesLimits = { atOnce: 20, goodMs: 120_000, failedMs: 15_000, maxFailedMs: 120_000 };

interface Answer {
  name: string | undefined;
  /** Endless while the host is being asked. */
  untilMs: number;
  failures: number;
}

/**
 * What hosts are called, by their own words. Nobody ever waits for a host: it is asked in the background, and when it answers all
 * who may have waited for it are called again. Runs for as long as it is watched.
 */
export class HostNames implements Watch {
  readonly synced = Promise.resolve();
  readonly #options: HostNamesOptions;
  readonly #limits: HostNamesLimits;
  readonly #slots: Slots;
  readonly #answers = new Map<string, Answer>();
  #run: { stop: AbortController; feed: Feed; log: Log } | undefined;

  constructor(options: HostNamesOptions) {
    this.#options = options;
    this.#limits = { ...usualLimits, ...options.limits };
    this.#slots = new Slots(this.#limits.atOnce);
  }

  start(feed: Feed, log: Log): () => void {
    const stop = new AbortController();
    this.#run = { stop, feed, log };
    return () => {
      this.#run = undefined;
      stop.abort(new Error('nobody waits for an answer any more'));
    };
  }

  relist(): Key[] {
    return [];
  }

  /** What the host has said, as long as that is good. */
  known(instance: InstanceObject): string | undefined {
    const answer = this.#answers.get(idOf(instance));
    return answer !== undefined && answer.untilMs > this.#options.clock.monotonicMs() ? answer.name : undefined;
  }

  /** Takes what somebody else has heard from the host, over a connection as good as ours. */
  learn(instance: InstanceObject, name: string): void {
    this.#keep(instance, { name, untilMs: this.#options.clock.monotonicMs() + this.#limits.goodMs, failures: 0 });
    this.#tell();
  }

  /** Has the host asked, unless it has just answered, or not answered. */
  wonder(instance: InstanceObject, node: NodeView | undefined): void {
    const before = this.#answers.get(idOf(instance));
    if (this.#run === undefined) return;
    if (before !== undefined && before.untilMs > this.#options.clock.monotonicMs()) return;
    this.#keep(instance, { name: undefined, untilMs: Number.POSITIVE_INFINITY, failures: before?.failures ?? 0 });
    void this.#ask(instance, node, this.#run);
  }

  async #ask(
    instance: InstanceObject,
    node: NodeView | undefined,
    { stop, log }: { stop: AbortController; log: Log },
  ): Promise<void> {
    const { address } = instance.spec;
    try {
      using _slot = await this.#slots.take(stop.signal);
      const name = await this.#options.ask(instance, node, stop.signal);
      log.debug('Host has told its name', { address, name });
      this.learn(instance, name);
    } catch (error) {
      if (stop.signal.aborted) this.#answers.delete(idOf(instance));
      else this.#fail(instance, error, log);
    }
  }

  #fail(instance: InstanceObject, error: unknown, log: Log): void {
    const { failedMs, maxFailedMs } = this.#limits;
    const failures = (this.#answers.get(idOf(instance))?.failures ?? 0) + 1;
    const pauseMs = Math.min(maxFailedMs, failedMs * 2 ** (failures - 1));
    this.#keep(instance, { name: undefined, untilMs: this.#options.clock.monotonicMs() + pauseMs, failures });
    const why = isAppError(error) ? error.code : error;
    log.info('Host did not tell its name', { address: instance.spec.address, why, pauseMs });
  }

  #keep(instance: InstanceObject, answer: Answer): void {
    const id = idOf(instance);
    this.#answers.delete(id);
    this.#answers.set(id, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= maxAnswers) break;
      this.#answers.delete(oldest);
    }
  }

  #tell(): void {
    for (const key of this.#options.waiting()) this.#run?.feed(key, 'if there is room');
  }
}

const maxAnswers = 4096;

function idOf({ metadata, spec }: InstanceObject): string {
  return JSON.stringify([metadata.uid, spec.address, spec.port]);
}
