import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { whenAborted, withDeadline } from '#base/waiting/deadline.ts';
import { isNamespaceGone } from '../api-error.ts';
import type { Runnable } from './manager.ts';
import { type Metrics, noMetrics } from './metrics.ts';
import { type Ended, runPass } from './pass.ts';
import { type QueueOptions, WorkQueue } from '../queue/queue.ts';
import { type Pass, type Reconcile, TerminalError } from './reconcile.ts';
import { Relist } from './relist.ts';
import { type Key, keyText } from '../resource.ts';
import { TimeSlice } from './turn.ts';
import type { Watch } from './watches.ts';

export interface ControllerOptions {
  name: string;
  watches: readonly Watch[];
  reconcile: Reconcile;
  /** Number of workers. */
  concurrency?: number;
  passTimeoutMs?: number;
  /** How long a pass may ignore its deadline before its worker continues without it. */
  overdueGraceMs?: number;
  syncTimeoutMs?: number;
  queue?: Pick<QueueOptions, 'maxKeys' | 'firstRetryMs' | 'maxRetryMs' | 'random'>;
  clock?: Clock;
  log?: Log;
  metrics?: Metrics;
  newId?: () => string;
}

export const controllerMetrics = {
  passes: {
    name: 'controller_runtime_reconcile_total',
    help: 'Reconcile passes by result: success, requeue_after or error.',
  },
  errors: { name: 'controller_runtime_reconcile_errors_total', help: 'Failed reconcile passes.' },
  terminal: {
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Failed reconcile passes that are not retried.',
  },
  panics: {
    name: 'controller_runtime_reconcile_panics_total',
    help: 'Reconcile passes that failed with an internal error (bug).',
  },
  overdue: {
    name: 'controller_runtime_reconcile_overdue_total',
    help: 'Reconcile passes that ignored their deadline.',
  },
  seconds: { name: 'controller_runtime_reconcile_time_seconds', help: 'Duration of reconcile passes.' },
  workers: { name: 'controller_runtime_max_concurrent_reconciles', help: 'Number of workers.' },
  active: { name: 'controller_runtime_active_workers', help: 'Number of busy workers.' },
} as const;

/** A pass that is requeued at once would starve all others. */
const shortestWaitMs = 5;

/** Calls reconcile for every key that its watches enqueue, until it is stopped. */
export class Controller implements Runnable {
  readonly name: string;
  readonly #options: Required<ControllerOptions>;
  readonly #labels: { controller: string };
  readonly #queue: WorkQueue;
  readonly #relist: Relist;
  /** Aborted when the controller stops. */
  readonly #passes = new Set<AbortController>();
  readonly #slice: TimeSlice;
  #overdueCount = 0;
  #isStopping = false;

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = withDefaults(options);
    this.#labels = { controller: options.name };
    const { clock, metrics, log, queue, watches } = this.#options;
    this.#slice = new TimeSlice(clock);
    this.#queue = new WorkQueue({ ...queue, name: options.name, clock, metrics, onRoom: () => this.#relist.resume() });
    this.#relist = new Relist(
      () => watches.flatMap(watch => [...watch.relist(log)]),
      key => this.#queue.add(key),
    );
  }

  /** For causes other than a watched object. False when the queue is full or shut down. */
  enqueue(key: Key): boolean {
    return this.#queue.add(key);
  }

  /** Starts when all sources have synced; ends when the signal is aborted. */
  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    const { watches, log } = this.#options;
    const ends: (() => void)[] = [];
    try {
      for (const watch of watches) ends.push(watch.start((key, how) => this.#take(key, how, watch.resetsBackoff), log));
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

  #take(key: Key, how: 'if there is room' | 'always', resetsBackoff = false): void {
    if (resetsBackoff) this.#queue.forget(key);
    if (this.#queue.add(key, how) || this.#isStopping) return;
    if (!this.#relist.missed()) return;
    this.#options.log.warn('Queue is full; relisting once there is room', { key: keyText(key) });
  }

  async #waitForSources(signal: AbortSignal): Promise<void> {
    const { clock, syncTimeoutMs: ms, watches } = this.#options;
    const error = () =>
      new AppError('SYNC_TIMEOUT', `caches of controller ${this.name} did not sync within ${ms / 1000} s`, {
        remedy: 'Check the log for the list or watch that fails; often a permission is missing.',
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
      await this.#slice.mayYield();
      // A pass that begins now would not be aborted.
      if (this.#isStopping) this.#queue.done(key);
      else await this.#handle(key);
    }
  }

  /** Ends with the pass. A pass that ignores its deadline keeps its key but not its worker. */
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
    pass.log.error('Reconcile pass exceeded its deadline and is still running', { passTimeoutMs });
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

  /** Forgets, requeues or retries a key after its pass. */
  #decide(key: Key, { log, attempt }: Pass, end: Ended): void {
    switch (end.is) {
      case 'done':
        this.#queue.forget(key);
        return this.#count('success');
      case 'waiting':
        if (!end.keepsBackoff) this.#queue.forget(key);
        this.#queue.addAfter(key, Math.max(shortestWaitMs, end.afterMs));
        log.debug('Requeued', { why: end.why, afterMs: end.afterMs });
        return this.#count('requeue_after');
      case 'failed':
        this.#countFailure(end);
        if (end.error instanceof TerminalError) {
          this.#queue.forget(key);
          log.error('Reconcile failed; not retrying before a change', { error: end.error, attempt });
        } else {
          const retryInMs = Math.round(this.#queue.retry(key));
          // Every controller of a namespace that is being deleted fails in this way.
          log[isNamespaceGone(end.error) ? 'debug' : 'error']('Reconcile failed; retrying', {
            error: end.error,
            attempt,
            retryInMs,
          });
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
