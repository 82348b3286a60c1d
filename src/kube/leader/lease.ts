import { type Clock, microTimestamp, systemClock } from '#base/clock.ts';
import { AppError, isAppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../api-error.ts';
import type { Client } from '../client.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import type { Leadership } from '../controller/manager.ts';
import { type Lease, leases } from '../resources.ts';
import type { Leader } from './leader.ts';
import { LeaseObserver } from './lease-observer.ts';

export interface LeaseOptions {
  client: Pick<Client, 'find' | 'create' | 'replace'>;
  namespace: string;
  name: string;
  /** Unique per process, such as the pod name with a random suffix. */
  identity: string;
  /** How long other processes wait after the last renewal. */
  leaseDurationMs?: number;
  /** How long this process leads after its last renewal. */
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  /** Whether a holder has probably ended: then a few missed renewals are enough, and its Lease need not expire. */
  hasEnded?: (identity: string) => boolean;
  clock?: Clock;
  random?: () => number;
  log?: Log;
}

/** A slow server gets its time, but a dead connection must not use up that of several attempts. */
const maxCallMs = 20_000;

/** Of a holder that has probably ended. */
const missedRenewals = 3;

interface Term {
  /** The lease as last written; undefined when it must be read again. */
  written: Lease | undefined;
  transitions: number;
  /** When the last successful renewal was sent. */
  renewedMs: number;
  stop: AbortController;
  renewing: Promise<void>;
}

/**
 * Leader election with a Lease, as in client-go: the holder renews it, others wait until it has not changed for its
 * duration. Uses only differences of the local monotonic clock, so clocks need not be in sync.
 */
export class LeaseLeadership implements Leadership, Leader {
  readonly #options: Required<LeaseOptions>;
  readonly #label: string;
  readonly #observer: LeaseObserver;
  #term: Term | undefined;
  #lastTerm: string | undefined;

  constructor(options: LeaseOptions) {
    this.#options = withDefaults(options);
    this.#label = `Lease ${options.namespace}/${options.name}`;
    this.#observer = new LeaseObserver(this.#options.clock, this.#options.leaseDurationMs);
  }

  /** Whether this process leads now, by its clock; false even before a loss is reported. */
  isHeld(): boolean {
    const { clock, renewDeadlineMs } = this.#options;
    return this.#term !== undefined && clock.monotonicMs() < this.#term.renewedMs + renewDeadlineMs;
  }

  /** Increases with every change of the leader. */
  get transitions(): number | undefined {
    return this.#term?.transitions;
  }

  /** Of the Lease as it was last written: if it is deleted, it is created again with another UID. */
  term(): string | undefined {
    return this.#lastTerm;
  }

  async isCurrent(signal: AbortSignal): Promise<boolean> {
    const term = this.#term;
    if (term === undefined || !this.isHeld()) return false;
    return this.#readOwn(term, signal).then(
      () => true,
      () => false,
    );
  }

  async acquire(onLost: (why: Error) => void, signal: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs, renewDeadlineMs, random, log } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      try {
        const limit = { clock, ms: renewDeadlineMs, error: () => new Error('no response in time'), signal };
        const term = await withDeadline(limit, each => this.#tryAcquire(each));
        if (term !== undefined) return this.#begin(term, onLost);
      } catch (error) {
        signal.throwIfAborted();
        log.warn('Reading or writing the Lease failed; retrying', { lease: this.#label, error });
      }
      // Wakes up when the lease becomes free.
      const leftMs = this.#leftMs() || Number.POSITIVE_INFINITY;
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

  #leftMs(): number {
    const { hasEnded, retryPeriodMs } = this.#options;
    const isProbablyFree = hasEnded(this.#observer.holder);
    return this.#observer.leftMs(isProbablyFree ? missedRenewals * retryPeriodMs : Infinity);
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
    if (holder !== before) this.#options.log.info('Lease has a new holder', { lease: this.#label, holder });
    if (this.#leftMs() > 0) return undefined;
    const transitions = current === undefined ? 0 : (current.spec?.leaseTransitions ?? 0) + 1;
    try {
      const { written, sentMs: renewedMs } = await this.#write(current, transitions, signal);
      return { written, transitions, renewedMs, stop: new AbortController(), renewing: Promise.resolve() };
    } catch (error) {
      // Another process was faster.
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
      // After a long pause another process may lead; no more requests are sent then.
      if (leftMs() <= 0) break;
      try {
        await this.#renew(term, leftMs());
        failure = undefined;
      } catch (error) {
        failure = error;
        log.warn('Renewing the Lease failed', { lease: this.#label, error });
      }
    } while (!isAppError(failure, 'LEADERSHIP_LOST'));
    if (term.stop.signal.aborted) return;
    this.#term = undefined;
    onLost(
      isAppError(failure, 'LEADERSHIP_LOST')
        ? failure
        : this.#lost(`was not renewed for ${renewDeadlineMs / 1000} s`, failure),
    );
  }

  async #renew(term: Term, leftMs: number): Promise<void> {
    const { clock } = this.#options;
    const limit = { clock, ms: Math.min(leftMs, this.#callMs), error: () => new Error('no response in time') };
    await withDeadline({ ...limit, signal: term.stop.signal }, signal =>
      this.#update(term, signal, async current => {
        const { written, sentMs } = await this.#write(current, term.transitions, signal);
        Object.assign(term, { written, renewedMs: sentMs });
      }),
    );
  }

  /** Replaces our last version; the current one if another process changed it, perhaps only a label. */
  async #update(term: Term, signal: AbortSignal, write: (current: Lease | undefined) => Promise<void>): Promise<void> {
    const last = term.written;
    // Without a response it is unknown whether the write arrived.
    term.written = undefined;
    try {
      await write(last ?? (await this.#readOwn(term, signal)));
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      await write(await this.#readOwn(term, signal));
    }
  }

  /** The lease, if no other process has led since. A deleted lease is created again. */
  async #readOwn(term: Term, signal: AbortSignal): Promise<Lease | undefined> {
    const current = await this.#read(signal);
    const { holderIdentity = '', leaseTransitions = 0 } = current?.spec ?? {};
    if (current === undefined) return undefined;
    const isOwn = holderIdentity === this.#options.identity || holderIdentity === '';
    if (isOwn && leaseTransitions === term.transitions) return current;
    throw this.#lost(`is held by "${holderIdentity}" now`);
  }

  /** At most half of the time, so that a second attempt over another connection is possible. */
  get #callMs(): number {
    return Math.min(this.#options.renewDeadlineMs / 2, maxCallMs);
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name } = this.#options;
    return client.find(leases, name, { namespace, signal, timeoutMs: this.#callMs, maxRetries: 0 });
  }

  /** Replaces the version that was read, so that only one of several writers succeeds. */
  async #write(current: Lease | undefined, transitions: number, signal: AbortSignal) {
    const { client, clock, namespace, name, identity, leaseDurationMs } = this.#options;
    const sentMs = clock.monotonicMs();
    const now = microTimestamp(clock.now());
    const isOwn = current?.spec?.holderIdentity === identity && current.spec.leaseTransitions === transitions;
    const lease: Lease = {
      ...(current ?? { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace } }),
      spec: {
        ...current?.spec,
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
        acquireTime: (isOwn ? current?.spec?.acquireTime : undefined) ?? now,
        renewTime: now,
        leaseTransitions: transitions,
      },
    };
    const options = { signal, timeoutMs: this.#callMs, maxRetries: 0 };
    const written = await (current === undefined
      ? client.create(leases, lease, options)
      : client.replace(leases, lease, options));
    const { uid } = written.metadata;
    this.#lastTerm = uid === undefined ? undefined : `${uid}.${transitions}`;
    return { written, sentMs };
  }

  async #free(term: Term, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const now = microTimestamp(clock.now());
    const times = { leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    try {
      await this.#update(term, signal, async current => {
        if (current === undefined) return;
        const lease: Lease = { ...current, spec: { ...current.spec, holderIdentity: '', ...times } };
        await client.replace(leases, lease, { signal, timeoutMs: this.#callMs, maxRetries: 0 });
      });
    } catch (error) {
      if (!isAppError(error, 'LEADERSHIP_LOST')) throw error;
    }
  }

  #lost(what: string, cause?: unknown): AppError {
    return new AppError('LEADERSHIP_LOST', `${this.#label} ${what}`, {
      remedy: 'No action is needed: the process restarts as a standby. If it happens often, check the API server.',
      cause,
    });
  }
}

function withDefaults(options: LeaseOptions): Required<LeaseOptions> {
  const filled = {
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2000,
    hasEnded: () => false,
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    ...options,
  };
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = filled;
  if (leaseDurationMs > renewDeadlineMs && renewDeadlineMs > 1.2 * retryPeriodMs && retryPeriodMs > 0) return filled;
  const times = `lease duration ${leaseDurationMs}, renew deadline ${renewDeadlineMs}, retry period ${retryPeriodMs} ms`;
  throw new AppError('SETTING_INVALID', `Lease ${options.namespace}/${options.name}: invalid times: ${times}`, {
    remedy: 'Set a lease duration above the renew deadline, and that above 1.2 times the retry period.',
  });
}
