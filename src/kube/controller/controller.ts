import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { whenAborted, withDeadline } from '#base/waiting/deadline.ts';
import type { Runnable } from './manager.ts';
import { type Metrics, noMetrics } from './metrics.ts';
import { type Ended, runPass } from './pass.ts';
import { type QueueOptions, WorkQueue } from '../queue/queue.ts';
import { type Pass, type Reconcile, TerminalError } from './reconcile.ts';
import { Relist } from './relist.ts';
import { type Key, keyText } from '../resource.ts';
import type { Watch } from './watches.ts';

export interface ControllerOptions {
  name: string;
  watches: readonly Watch[];
  reconcile: Reconcile;
  /** How many keys are worked on at once. */
  concurrency?: number;
  passTimeoutMs?: number;
  /** How long a pass may go on after its deadline before its worker goes on without it. */
  overdueGraceMs?: number;
  syncTimeoutMs?: number;
  queue?: Pick<QueueOptions, 'maxKeys' | 'firstRetryMs' | 'maxRetryMs' | 'random'>;
  clock?: Clock;
  log?: Log;
  metrics?: Metrics;
  newId?: () => string;
}

export const controllerMetrics = {
  passes: { name: 'controller_runtime_reconcile_total', help: 'Passes by result: success, requeue_after or error.' },
  errors: { name: 'controller_runtime_reconcile_errors_total', help: 'Passes that failed.' },
  terminal: {
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Passes that failed and are not tried again.',
  },
  panics: { name: 'controller_runtime_reconcile_panics_total', help: 'Passes that failed by a mistake in our code.' },
  overdue: {
    name: 'controller_runtime_reconcile_overdue_total',
    help: 'Passes that went on although their deadline had passed.',
  },
  seconds: { name: 'controller_runtime_reconcile_time_seconds', help: 'Length of passes.' },
  workers: { name: 'controller_runtime_max_concurrent_reconciles', help: 'Keys that may be worked on at once.' },
  active: { name: 'controller_runtime_active_workers', help: 'Keys that are worked on.' },
} as const;

/** A pass that asks to be called again at once would leave no time to anybody else. */
const shortestWaitMs = 5;

/** Calls reconcile for every key that its watches put into the queue, until it is stopped. */
export class Controller implements Runnable {
  readonly name: string;
  readonly #options: Required<ControllerOptions>;
  readonly #labels: { controller: string };
  readonly #queue: WorkQueue;
  readonly #relist: Relist;
  /** Passes under way, to be told when the controller stops. */
  readonly #passes = new Set<AbortController>();
  #overdueCount = 0;
  #isStopping = false;

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = withDefaults(options);
    this.#labels = { controller: options.name };
    const { clock, metrics, log, queue, watches } = this.#options;
    this.#queue = new WorkQueue({ ...queue, name: options.name, clock, metrics, onRoom: () => this.#relist.resume() });
    this.#relist = new Relist(
      () => watches.flatMap(watch => [...watch.relist(log)]),
      key => this.#queue.add(key),
    );
  }

  /** For causes that are no watched object. False when the queue is full or shut down. */
  enqueue(key: Key): boolean {
    return this.#queue.add(key);
  }

  /** Works from the moment all sources have told what there is until the signal is aborted. */
  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    const { watches, log } = this.#options;
    const ends: (() => void)[] = [];
    try {
      for (const watch of watches) ends.push(watch.start((key, how) => this.#take(key, how), log));
      await this.#waitForSources(signal);
      if (signal.aborted) return;
      ready();
      await this.#work(signal);
    } finally {
      this.#isStopping = true;
      for (const end of ends) end();
      for (const pass of this.#passes) pass.abort(signal.reason);
      await this.#queue.shutDown();
    }
  }

  #take(key: Key, how: 'if there is room' | 'always'): void {
    if (this.#queue.add(key, how) || this.#isStopping) return;
    if (!this.#relist.missed()) return;
    this.#options.log.warn('Queue is full, looking for missed objects once there is room', { key: keyText(key) });
  }

  async #waitForSources(signal: AbortSignal): Promise<void> {
    const { clock, syncTimeoutMs: ms, watches } = this.#options;
    const error = () =>
      new AppError('SYNC_TIMEOUT', `controller ${this.name} has not seen all its objects after ${ms} ms`, {
        remedy: 'Look in the log for the list or watch that fails; often a permission is missing.',
      });
    try {
      await withDeadline({ clock, ms, error, signal }, () => Promise.all(watches.map(watch => watch.synced)));
    } catch (failure) {
      if (!signal.aborted) throw failure;
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { concurrency, metrics } = this.#options;
    metrics.gauge(controllerMetrics.workers, this.#labels, concurrency);
    const workers = Array.from({ length: concurrency }, () => this.#serve());
    await Promise.race([whenAborted(signal), Promise.all(workers)]);
  }

  async #serve(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      await this.#handle(key);
    }
  }

  /** Ends with the pass. One that does not heed its deadline keeps its key, so that nobody else works on it, but not its worker. */
  async #handle(key: Key): Promise<void> {
    const { clock, passTimeoutMs, overdueGraceMs, concurrency, log, newId } = this.#options;
    const abort = new AbortController();
    const id = newId();
    const pass: Pass = {
      signal: abort.signal,
      log: log.with({ key: keyText(key), reconcileId: id }),
      id,
      attempt: this.#queue.failuresOf(key) + 1,
    };
    const limits = { clock, passTimeoutMs, overdueGraceMs, key };
    this.#passes.add(abort);
    this.#reportActive();
    const { ended, overdue } = runPass(() => this.#options.reconcile(key, pass), abort, limits);
    const concluded = ended.then(end => this.#conclude(key, pass, abort, end));
    if (!(await Promise.race([concluded, overdue]))) return;
    pass.log.error('Pass goes on although its deadline has passed', { passTimeoutMs });
    this.#options.metrics.count(controllerMetrics.overdue, this.#labels);
    this.#overdueCount += 1;
    const freed = ended.then(() => (this.#overdueCount -= 1));
    if (this.#overdueCount > concurrency) await freed;
  }

  #conclude(key: Key, pass: Pass, abort: AbortController, end: Ended): void {
    const { metrics } = this.#options;
    try {
      this.#passes.delete(abort);
      this.#reportActive();
      metrics.observe(controllerMetrics.seconds, this.#labels, end.ms / 1000);
      if (!this.#isStopping) this.#decide(key, pass, end);
    } finally {
      this.#queue.done(key);
    }
  }

  /** The whole policy: what becomes of a key after its pass. */
  #decide(key: Key, { log, attempt }: Pass, end: Ended): void {
    switch (end.is) {
      case 'done':
        this.#queue.forget(key);
        return this.#count('success');
      case 'waiting':
        this.#queue.forget(key);
        this.#queue.addAfter(key, Math.max(shortestWaitMs, end.afterMs));
        log.debug('Waiting', { why: end.why, afterMs: end.afterMs });
        return this.#count('requeue_after');
      case 'failed':
        this.#countFailure(end);
        if (end.error instanceof TerminalError) {
          this.#queue.forget(key);
          log.error('Pass failed and is not tried again before something changes', { error: end.error, attempt });
        } else {
          const retryInMs = Math.round(this.#queue.retry(key));
          log.error('Pass failed', { error: end.error, attempt, retryInMs });
        }
    }
  }

  #countFailure({ error, isBug }: Extract<Ended, { is: 'failed' }>): void {
    const { metrics } = this.#options;
    this.#count('error');
    metrics.count(controllerMetrics.errors, this.#labels);
    if (error instanceof TerminalError) metrics.count(controllerMetrics.terminal, this.#labels);
    if (isBug) metrics.count(controllerMetrics.panics, this.#labels);
  }

  #count(result: string): void {
    this.#options.metrics.count(controllerMetrics.passes, { ...this.#labels, result });
  }

  #reportActive(): void {
    this.#options.metrics.gauge(controllerMetrics.active, this.#labels, this.#passes.size);
  }
}

function withDefaults(options: ControllerOptions): Required<ControllerOptions> {
  return {
    concurrency: 1,
    passTimeoutMs: 600_000,
    overdueGraceMs: 30_000,
    syncTimeoutMs: 120_000,
    queue: {},
    clock: systemClock,
    metrics: noMetrics,
    newId: randomUUID,
    ...options,
    log: (options.log ?? silentLog).with({ controller: options.name }),
  };
}
