import { type Clock, microTimestamp, systemClock } from '#base/clock.ts';
import { AppError, isAppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../api-error.ts';
import type { Client } from '../client.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import type { Leadership } from '../controller/manager.ts';
import { type Lease, leases } from '../resources.ts';
import { LeaseObserver } from './lease-observer.ts';

export interface LeaseOptions {
  client: Pick<Client, 'find' | 'create' | 'replace'>;
  namespace: string;
  name: string;
  /** Different for every process that ever runs, such as the name of the pod and something random. */
  identity: string;
  /** How long others wait after the last renewal they have seen. */
  leaseDurationMs?: number;
  /** How long we go on leading after our last renewal. */
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  clock?: Clock;
  random?: () => number;
  log?: Log;
}

interface Term {
  /** The lease as we wrote it last; undefined when it has to be read again. */
  written: Lease | undefined;
  transitions: number;
  /** When the last renewal that succeeded was sent: the server has seen it then or later, never earlier. */
  renewedMs: number;
  stop: AbortController;
  renewing: Promise<void>;
}

/**
 * Leadership by a Lease, as client-go does it: whoever holds it renews it, others wait until they have seen no change
 * for its whole duration. Only differences of each process's own monotonic clock count, so no clock has to be right.
 */
export class LeaseLeadership implements Leadership {
  readonly #options: Required<LeaseOptions>;
  readonly #label: string;
  readonly #observer: LeaseObserver;
  #term: Term | undefined;

  constructor(options: LeaseOptions) {
    this.#options = withDefaults(options);
    this.#label = `Lease ${options.namespace}/${options.name}`;
    this.#observer = new LeaseObserver(this.#options.clock, this.#options.leaseDurationMs);
  }

  /** Whether we lead at this moment, by our clock: also false while a loss has not been noticed otherwise. */
  isHeld(): boolean {
    const { clock, renewDeadlineMs } = this.#options;
    return this.#term !== undefined && clock.monotonicMs() < this.#term.renewedMs + renewDeadlineMs;
  }

  /** How often the lease has changed hands before it came to us: rises with every leader. */
  get transitions(): number | undefined {
    return this.#term?.transitions;
  }

  async acquire(onLost: (why: Error) => void, signal: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs, renewDeadlineMs, random, log } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      try {
        const limit = { clock, ms: renewDeadlineMs, error: () => new Error('no answer in time'), signal };
        const term = await withDeadline(limit, each => this.#tryAcquire(each));
        if (term !== undefined) return this.#begin(term, onLost);
      } catch (error) {
        signal.throwIfAborted();
        log.warn('Lease cannot be read or written, trying again', { lease: this.#label, error });
      }
      // Nobody sleeps through the moment at which the lease becomes free.
      const leftMs = this.#observer.leftMs() || Number.POSITIVE_INFINITY;
      await clock.sleep(Math.min(retryPeriodMs * (1 + 0.2 * random()), leftMs), signal);
    }
  }

  async release(how: 'free' | 'let expire', signal: AbortSignal): Promise<void> {
    const term = this.#term;
    if (term === undefined) return;
    this.#term = undefined;
    term.stop.abort();
    await term.renewing;
    if (how === 'free') await this.#free(term, signal);
  }

  #begin(term: Term, onLost: (why: Error) => void): void {
    this.#term = term;
    term.renewing = this.#renewUntilStopped(term, onLost);
  }

  async #tryAcquire(signal: AbortSignal): Promise<Term | undefined> {
    const before = this.#observer.holder;
    const current = await this.#read(signal);
    this.#observer.note(current);
    const { holder } = this.#observer;
    if (holder !== before) this.#options.log.info('Lease has another holder', { lease: this.#label, holder });
    if (this.#observer.leftMs() > 0) return undefined;
    const transitions = current === undefined ? 0 : (current.spec?.leaseTransitions ?? 0) + 1;
    try {
      const { written, sentMs: renewedMs } = await this.#write(current, transitions, signal);
      return { written, transitions, renewedMs, stop: new AbortController(), renewing: Promise.resolve() };
    } catch (error) {
      // Somebody else was faster, which is not worth a warning.
      if (isConflict(error) || isAlreadyExists(error)) return undefined;
      throw error;
    }
  }

  async #renewUntilStopped(term: Term, onLost: (why: Error) => void): Promise<void> {
    const { clock, retryPeriodMs, renewDeadlineMs, log } = this.#options;
    const leftMs = () => term.renewedMs + renewDeadlineMs - clock.monotonicMs();
    let failure: unknown;
    do {
      await clock.sleep(Math.min(retryPeriodMs, leftMs()), term.stop.signal).catch(() => undefined);
      if (term.stop.signal.aborted) return;
      // After a long standstill another may lead already; then nothing is sent any more.
      if (leftMs() <= 0) break;
      try {
        await this.#renew(term, leftMs());
        failure = undefined;
      } catch (error) {
        failure = error;
        log.warn('Lease could not be renewed', { lease: this.#label, error });
      }
    } while (!isAppError(failure, 'LEADERSHIP_LOST'));
    if (term.stop.signal.aborted) return;
    this.#term = undefined;
    onLost(
      isAppError(failure, 'LEADERSHIP_LOST')
        ? failure
        : this.#lost(`was not renewed for ${renewDeadlineMs} ms`, failure),
    );
  }

  async #renew(term: Term, leftMs: number): Promise<void> {
    const { clock, renewDeadlineMs: ms } = this.#options;
    // Half of the time at most, so that there is time for a second try over another connection.
    const limit = { clock, ms: Math.min(leftMs, ms / 2), error: () => new Error('no answer in time') };
    await withDeadline({ ...limit, signal: term.stop.signal }, signal =>
      this.#update(term, signal, async current => {
        const { written, sentMs } = await this.#write(current, term.transitions, signal);
        Object.assign(term, { written, renewedMs: sentMs });
      }),
    );
  }

  /** Writes over our last version; over the present one if somebody else wrote, perhaps only a label. */
  async #update(term: Term, signal: AbortSignal, write: (current: Lease | undefined) => Promise<void>): Promise<void> {
    const last = term.written;
    // Without an answer nobody knows whether a write arrived.
    term.written = undefined;
    try {
      await write(last ?? (await this.#readOwn(term, signal)));
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      await write(await this.#readOwn(term, signal));
    }
  }

  /** The lease, if nobody else has led since we wrote it. A deleted lease is made anew. */
  async #readOwn(term: Term, signal: AbortSignal): Promise<Lease | undefined> {
    const current = await this.#read(signal);
    const { holderIdentity = '', leaseTransitions = 0 } = current?.spec ?? {};
    if (current === undefined) return undefined;
    const isOurs = holderIdentity === this.#options.identity || holderIdentity === '';
    if (isOurs && leaseTransitions === term.transitions) return current;
    throw this.#lost(`is held by "${holderIdentity}" now`);
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name, renewDeadlineMs } = this.#options;
    return client.find(leases, name, { namespace, signal, timeoutMs: renewDeadlineMs / 2, maxRetries: 0 });
  }

  /** Over the version that was read, so that of several writers one succeeds. */
  async #write(current: Lease | undefined, transitions: number, signal: AbortSignal) {
    const { client, clock, namespace, name, identity, leaseDurationMs, renewDeadlineMs } = this.#options;
    const sentMs = clock.monotonicMs();
    const now = microTimestamp(clock.now());
    const isOurs = current?.spec?.holderIdentity === identity && current.spec.leaseTransitions === transitions;
    const lease: Lease = {
      ...(current ?? { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace } }),
      spec: {
        ...current?.spec,
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
        acquireTime: (isOurs ? current?.spec?.acquireTime : undefined) ?? now,
        renewTime: now,
        leaseTransitions: transitions,
      },
    };
    const options = { signal, timeoutMs: renewDeadlineMs / 2, maxRetries: 0 };
    const written = await (current === undefined
      ? client.create(leases, lease, options)
      : client.replace(leases, lease, options));
    return { written, sentMs };
  }

  async #free(term: Term, signal: AbortSignal): Promise<void> {
    const { client, clock, renewDeadlineMs } = this.#options;
    const now = microTimestamp(clock.now());
    const times = { leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    try {
      await this.#update(term, signal, async current => {
        if (current === undefined) return;
        const lease: Lease = { ...current, spec: { ...current.spec, holderIdentity: '', ...times } };
        await client.replace(leases, lease, { signal, timeoutMs: renewDeadlineMs / 2, maxRetries: 0 });
      });
    } catch (error) {
      if (!isAppError(error, 'LEADERSHIP_LOST')) throw error;
    }
  }

  #lost(what: string, cause?: unknown): AppError {
    return new AppError('LEADERSHIP_LOST', `${this.#label} ${what}`, {
      remedy: 'This process ends and starts again as a standby; look at the API server if it happens often.',
      cause,
    });
  }
}

function withDefaults(options: LeaseOptions): Required<LeaseOptions> {
  const filled = {
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2000,
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    ...options,
  };
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = filled;
  if (leaseDurationMs > renewDeadlineMs && renewDeadlineMs > 1.2 * retryPeriodMs && retryPeriodMs > 0) return filled;
  const times = `${leaseDurationMs}, ${renewDeadlineMs} and ${retryPeriodMs} ms`;
  throw new AppError('SETTING_INVALID', `Lease ${options.namespace}/${options.name}: ${times} are no usable times`, {
    remedy: 'Give a lease duration above the renew deadline, and that above 1.2 times the retry period.',
  });
}
