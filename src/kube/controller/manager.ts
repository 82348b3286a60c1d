import { type Clock, systemClock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { whenAborted, withDeadline } from '#base/waiting/deadline.ts';

/** A part of the program that runs for as long as the program does. */
export interface Runnable {
  readonly name: string;
  /** Runs until the signal is aborted, and resolves when it has stopped. Calls `ready` when others can depend on it. */
  run(signal: AbortSignal, ready: () => void): Promise<void>;
}

export interface Leadership {
  /**
   * Resolves once this process leads, and renews the lease. `onLost` is called at most once, when leadership is lost.
   */
  acquire(onLost: (why: Error) => void, signal: AbortSignal): Promise<void>;
  /** Stops renewing. Another process can lead at once (`free`) or after the lease has expired (`let expire`). */
  release(how: 'free' | 'let expire', signal: AbortSignal): Promise<void>;
}

export interface ManagerOptions {
  servers?: readonly Runnable[];
  caches?: readonly Runnable[];
  others?: readonly Runnable[];
  /** Run only on the leader. */
  leaderOnly?: readonly Runnable[];
  leadership?: Leadership;
  /** For each group. */
  startTimeoutMs?: number;
  /** For all together. */
  stopTimeoutMs?: number;
  /** As stopTimeoutMs, after leadership was lost: another process may lead soon. */
  lossTimeoutMs?: number;
  clock?: Clock;
  log?: Log;
}

/**
 * Starts the groups in order, each when the one before is ready, and stops them in reverse order, the lease last.
 * Resolves when the signal is aborted; rejects with the first failure, which stops everything.
 */
export async function runManager(options: ManagerOptions, signal: AbortSignal): Promise<void> {
  await new Manager(options, signal).run();
}

interface Group {
  name: string;
  runnables: readonly Runnable[];
  stop: AbortController;
  /** The promises resolve when a runnable ends, and never reject. */
  running: Map<Runnable, Promise<void>>;
}

class Manager {
  readonly #options: ManagerOptions;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #over = new AbortController();
  readonly #started: Group[] = [];
  #failure: Error | undefined;
  #isLost = false;
  #isLeading = false;

  constructor(options: ManagerOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLog;
  }

  async run(): Promise<void> {
    const onAbort = (): void => this.#over.abort(this.#signal.reason);
    this.#signal.addEventListener('abort', onAbort, { once: true });
    if (this.#signal.aborted) onAbort();
    const starting = this.#start().catch((error: unknown) => this.#fail(asError(error)));
    await whenAborted(this.#over.signal);
    this.#signal.removeEventListener('abort', onAbort);
    await starting;
    await this.#stop();
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #start(): Promise<void> {
    const { servers = [], caches = [], others = [], leaderOnly = [], leadership } = this.#options;
    const groups: [string, readonly Runnable[]][] = [
      ['servers', servers],
      ['caches', caches],
      ['others', others],
    ];
    for (const [name, runnables] of groups) await this.#startGroup(name, runnables);
    if (leadership !== undefined && !this.#over.signal.aborted) await this.#lead(leadership);
    await this.#startGroup('leader-only', leaderOnly);
  }

  async #lead(leadership: Leadership): Promise<void> {
    this.#log.info('Waiting to become the leader');
    try {
      await leadership.acquire(why => this.#lose(why), this.#over.signal);
    } catch (error) {
      if (!this.#over.signal.aborted) throw error;
      return;
    }
    this.#isLeading = true;
    this.#log.info('Became the leader');
  }

  #lose(why: Error): void {
    this.#isLost = true;
    this.#fail(why);
  }

  async #startGroup(name: string, runnables: readonly Runnable[]): Promise<void> {
    if (this.#over.signal.aborted || runnables.length === 0) return;
    this.#log.info('Starting', { group: name, names: runnables.map(each => each.name) });
    const group: Group = { name, runnables, stop: new AbortController(), running: new Map() };
    this.#started.push(group);
    const waiting = new Set(runnables);
    const readiness = runnables.map(each => this.#launch(each, group).then(() => waiting.delete(each)));
    const ms = this.#options.startTimeoutMs ?? 120_000;
    const error = (): AppError =>
      new AppError('START_TIMEOUT', `${namesOf(waiting)} not ready within ${ms / 1000} s`, {
        remedy: 'Check the log for what they wait for.',
      });
    try {
      await withDeadline({ clock: this.#clock, ms, error, signal: this.#over.signal }, () => Promise.all(readiness));
    } catch (failure) {
      if (!this.#over.signal.aborted) throw failure;
    }
  }

  /** Resolves when it is ready or has ended. */
  #launch(runnable: Runnable, group: Group): Promise<void> {
    return new Promise(ready => {
      const ended = this.#follow(runnable, group.stop.signal, ready).finally(() => {
        group.running.delete(runnable);
        ready();
      });
      group.running.set(runnable, ended);
    });
  }

  async #follow(runnable: Runnable, signal: AbortSignal, ready: () => void): Promise<void> {
    try {
      await runnable.run(signal, ready);
      this.#log.info('Ended', { name: runnable.name });
    } catch (thrown) {
      const error = asError(thrown);
      if (!signal.aborted) {
        this.#log.error('Failed; stopping everything', { name: runnable.name, error });
        this.#fail(error);
      } else if (thrown !== signal.reason && error.name !== 'AbortError') {
        this.#log.error('Failed while stopping', { name: runnable.name, error });
      }
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#over.abort(error);
  }

  async #stop(): Promise<void> {
    const { stopTimeoutMs = 30_000, lossTimeoutMs = 5000 } = this.#options;
    const ms = this.#isLost ? Math.min(lossTimeoutMs, stopTimeoutMs) : stopTimeoutMs;
    const endMs = this.#clock.monotonicMs() + ms;
    let left: Runnable[] = [];
    for (const group of this.#started.toReversed()) {
      this.#log.info('Stopping', { group: group.name });
      group.stop.abort(this.#over.signal.reason);
      await this.#within(endMs, () => Promise.all(group.running.values()));
      left = [...left, ...group.running.keys()];
    }
    await this.#release(endMs);
    if (left.length === 0) return;
    const error = new AppError(
      'STOP_TIMEOUT',
      `${namesOf(left)} still running ${ms / 1000} s after the request to stop`,
      {
        remedy: 'Kill the process if it does not exit.',
      },
    );
    this.#log.error('Did not stop in time', { error });
    this.#failure ??= error;
  }

  /** The lease is freed only when no part that needs leadership is running. */
  async #release(endMs: number): Promise<void> {
    const { leadership } = this.#options;
    if (leadership === undefined || !this.#isLeading) return;
    const isQuiet = this.#started.every(({ name, running }) => name !== 'leader-only' || running.size === 0);
    const atLeastMs = this.#clock.monotonicMs() + 1000;
    await this.#within(Math.max(endMs, atLeastMs), signal =>
      leadership
        .release(isQuiet && !this.#isLost ? 'free' : 'let expire', signal)
        .catch((error: unknown) => this.#log.warn('Releasing the lease failed; it expires by itself', { error })),
    );
  }

  async #within(endMs: number, run: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const ms = Math.max(0, endMs - this.#clock.monotonicMs());
    const late = new Error('late');
    await withDeadline({ clock: this.#clock, ms, error: () => late }, run).catch((error: unknown) => {
      if (error !== late) throw error;
    });
  }
}

function namesOf(runnables: Iterable<Runnable>): string {
  return [...runnables].map(each => each.name).join(', ');
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`thrown: ${shown(thrown)}`);
}
