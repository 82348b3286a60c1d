import { backoffMs } from '#base/waiting/backoff.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { Alarm } from './alarm.ts';
import { type Due, DueHeap } from './due-heap.ts';
import { type Metrics, noMetrics } from '../controller/metrics.ts';
import { type Key, keyText } from '../resource.ts';

export interface QueueOptions {
  name: string;
  /** Maximum of different keys, ready, delayed and taken. */
  maxKeys?: number;
  firstRetryMs?: number;
  maxRetryMs?: number;
  /** Called when there is room again after a rejected add, to relist. */
  onRoom?: () => void;
  clock?: Clock;
  metrics?: Metrics;
  random?: () => number;
}

/** The state of one key. */
interface Entry extends Due {
  readonly key: Key;
  readonly text: string;
  isReady: boolean;
  isTaken: boolean;
  failures: number;
  sinceMs: number;
}

export const queueMetrics = {
  depth: { name: 'workqueue_depth', help: 'Keys waiting for a worker.' },
  adds: { name: 'workqueue_adds_total', help: 'Keys added to the queue.' },
  retries: { name: 'workqueue_retries_total', help: 'Keys requeued after a failure.' },
  refused: {
    name: 'workqueue_refused_total',
    help: 'Adds rejected because the queue was full; a relist finds them again.',
  },
  waitSeconds: { name: 'workqueue_queue_duration_seconds', help: 'How long keys wait for a worker.' },
  workSeconds: { name: 'workqueue_work_duration_seconds', help: 'How long workers process a key.' },
} as const;

/**
 * A work queue of keys. Equal keys are merged; a key added while a worker has it is handed out again afterwards, never
 * to two workers at once. Of several due times the earliest counts.
 */
export class WorkQueue {
  readonly #entries = new Map<string, Entry>();
  readonly #delayed = new DueHeap<Entry>();
  readonly #alarm: Alarm;
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  readonly #labels: { name: string };
  readonly #options: Required<Pick<QueueOptions, 'maxKeys' | 'firstRetryMs' | 'maxRetryMs' | 'onRoom' | 'random'>>;
  #ready: Entry[] = [];
  #readyFrom = 0;
  #takers: ((entry: Entry | undefined) => void)[] = [];
  #takenCount = 0;
  #hasRefused = false;
  #isShut = false;
  readonly #idle = Promise.withResolvers<void>();

  constructor(options: QueueOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#metrics = options.metrics ?? noMetrics;
    this.#labels = { name: options.name };
    this.#options = {
      maxKeys: options.maxKeys ?? 100_000,
      firstRetryMs: options.firstRetryMs ?? 5,
      maxRetryMs: options.maxRetryMs ?? 300_000,
      onRoom: options.onRoom ?? (() => undefined),
      random: options.random ?? Math.random,
    };
    this.#alarm = new Alarm(this.#clock, () => this.#releaseDue());
  }

  /** Number of ready keys. */
  get depth(): number {
    return this.#ready.length - this.#readyFrom;
  }

  /** Number of all keys: ready, delayed or taken. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * False when the queue is full or shut down. `always` is for a key that a relist would not find, such as that of a
   * deleted object; there are never more of those than objects in memory.
   */
  add(key: Key, how: 'if there is room' | 'always' = 'if there is room'): boolean {
    const entry = this.#entryFor(key, how === 'always');
    if (entry === undefined) return false;
    this.#delayed.remove(entry);
    this.#makeReady(entry);
    return true;
  }

  /** As add, after a delay. */
  addAfter(key: Key, ms: number): boolean {
    if (!(ms > 0)) return this.add(key);
    const entry = this.#entryFor(key, false);
    if (entry === undefined) return false;
    const dueMs = this.#clock.monotonicMs() + ms;
    if (entry.isReady || (entry.place !== -1 && entry.dueMs <= dueMs)) return true;
    this.#delayed.put(entry, dueMs);
    this.#alarm.setFor(this.#delayed.first()?.dueMs);
    return true;
  }

  /** Requeues a key after a failure with exponential backoff; returns the delay. */
  retry(key: Key): number {
    const entry = this.#entryFor(key, false);
    if (entry === undefined) return 0;
    const { firstRetryMs, maxRetryMs, random } = this.#options;
    entry.failures += 1;
    const fullMs = backoffMs({ firstMs: firstRetryMs, maxMs: maxRetryMs }, entry.failures);
    this.#metrics.count(queueMetrics.retries, this.#labels);
    // Jitter separates keys that failed at the same time.
    const delayMs = fullMs * (1 - 0.2 * random());
    this.addAfter(key, delayMs);
    return delayMs;
  }

  /** Resets the backoff of a key. */
  forget(key: Key): void {
    const entry = this.#entries.get(keyText(key));
    if (entry !== undefined) entry.failures = 0;
  }

  /** Failures in a row. */
  failuresOf(key: Key): number {
    return this.#entries.get(keyText(key))?.failures ?? 0;
  }

  /** Waits for the next key; undefined once the queue is shut down. `done` must be called for every key taken. */
  async take(): Promise<Key | undefined> {
    const entry = this.#shift() ?? (this.#isShut ? undefined : await this.#wait());
    return entry?.key;
  }

  done(key: Key): void {
    const entry = this.#entries.get(keyText(key));
    if (entry === undefined || !entry.isTaken) return;
    entry.isTaken = false;
    this.#takenCount -= 1;
    this.#metrics.observe(queueMetrics.workSeconds, this.#labels, this.#secondsSince(entry.sinceMs));
    if (entry.isReady) this.#enqueue(entry);
    else if (entry.place === -1) this.#leave(entry);
    this.#checkIdle();
  }

  /**
   * Accepts no more keys and drops those that wait. Resolves when every key that was handed out is done.
   */
  shutDown(): Promise<void> {
    this.#isShut = true;
    this.#alarm.cancel();
    for (const entry of this.#entries.values()) {
      this.#delayed.remove(entry);
      entry.isReady = false;
      if (!entry.isTaken) this.#entries.delete(entry.text);
    }
    [this.#ready, this.#readyFrom] = [[], 0];
    for (const taker of this.#takers.splice(0)) taker(undefined);
    this.#reportDepth();
    this.#checkIdle();
    return this.#idle.promise;
  }

  #entryFor(key: Key, always: boolean): Entry | undefined {
    const text = keyText(key);
    const known = this.#entries.get(text);
    if (this.#isShut) return undefined;
    if (known !== undefined) return known;
    if (this.#entries.size >= this.#options.maxKeys && !always) {
      this.#hasRefused = true;
      this.#metrics.count(queueMetrics.refused, this.#labels);
      return undefined;
    }
    const entry: Entry = { key, text, isReady: false, isTaken: false, failures: 0, sinceMs: 0, dueMs: 0, place: -1 };
    this.#entries.set(text, entry);
    return entry;
  }

  #makeReady(entry: Entry): void {
    if (entry.isReady) return;
    entry.isReady = true;
    this.#metrics.count(queueMetrics.adds, this.#labels);
    if (!entry.isTaken) this.#enqueue(entry);
  }

  #enqueue(entry: Entry): void {
    entry.sinceMs = this.#clock.monotonicMs();
    this.#ready.push(entry);
    const taker = this.#takers.shift();
    if (taker !== undefined) taker(this.#shift());
    else this.#reportDepth();
  }

  #shift(): Entry | undefined {
    const entry = this.#ready[this.#readyFrom];
    if (entry === undefined) return undefined;
    this.#readyFrom += 1;
    if (this.#readyFrom > 1000 && this.#readyFrom * 2 > this.#ready.length) {
      this.#ready = this.#ready.slice(this.#readyFrom);
      this.#readyFrom = 0;
    }
    this.#metrics.observe(queueMetrics.waitSeconds, this.#labels, this.#secondsSince(entry.sinceMs));
    Object.assign(entry, { isReady: false, isTaken: true, sinceMs: this.#clock.monotonicMs() });
    this.#takenCount += 1;
    this.#reportDepth();
    return entry;
  }

  #wait(): Promise<Entry | undefined> {
    return new Promise(resolve => this.#takers.push(resolve));
  }

  #releaseDue(): void {
    const nowMs = this.#clock.monotonicMs();
    for (let entry = this.#delayed.first(); entry !== undefined && entry.dueMs <= nowMs; ) {
      this.#delayed.remove(entry);
      this.#makeReady(entry);
      entry = this.#delayed.first();
    }
    this.#alarm.setFor(this.#delayed.first()?.dueMs);
  }

  #leave(entry: Entry): void {
    this.#entries.delete(entry.text);
    if (!this.#hasRefused || this.#isShut || this.#entries.size > this.#options.maxKeys / 2) return;
    this.#hasRefused = false;
    this.#options.onRoom();
  }

  #checkIdle(): void {
    if (this.#isShut && this.#takenCount === 0) this.#idle.resolve();
  }

  #reportDepth(): void {
    this.#metrics.gauge(queueMetrics.depth, this.#labels, this.depth);
  }

  #secondsSince(ms: number): number {
    return (this.#clock.monotonicMs() - ms) / 1000;
  }
}
