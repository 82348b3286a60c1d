import { type Clock, timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { signer } from '#contract/names.ts';
import type { ClientCertificate } from '#kube/transport/connection.ts';
import { orAborted } from '#base/waiting/abort.ts';
import type { AgentCertificate } from './certificate.ts';
import { drawFraction, type Held, isExpired, renewalOf, retryDelayMs } from './lifetime.ts';
import type { CertificateStore } from './store.ts';

export interface RotationParts {
  user: string;
  store: Pick<CertificateStore, 'load' | 'save' | 'isIntact'>;
  /** One attempt to obtain a certificate; calls `onRequested` when it has created a request. */
  issue: (signal: AbortSignal, onRequested: () => void) => Promise<AgentCertificate>;
  clock: Clock;
  log: Log;
  random: () => number;
  /** Called for a failure, once for each message. */
  onTrouble: (error: Error) => void;
}

export interface IdentityState {
  /** Undefined while there is no certificate. */
  expiresMs: number | undefined;
  /** Error of the last attempt; undefined after a success. */
  lastError: Error | undefined;
}

interface HeldCertificate extends Held {
  certificate: AgentCertificate;
}

/** Clocks jump and hosts sleep, so the time is checked at least once a minute. */
const longestPauseMs = 60_000;
const shortestPauseMs = 1000;
/** Between two requests after a failure, so that an agent without access does not flood the cluster with requests. */
const requestGapMs = 3 * 60_000;

/** Keeps one certificate valid: renews it in time, or at once when it is invalid, and retries until that succeeds. */
export class Rotation {
  readonly #parts: RotationParts;
  #held: HeldCertificate | undefined;
  #failures = 0;
  #lastError: Error | undefined;
  /** By the monotonic clock. */
  #requestedMs: number | undefined;
  #change = Promise.withResolvers<void>();
  #wake = (): void => undefined;

  constructor(parts: RotationParts) {
    this.#parts = parts;
  }

  get state(): IdentityState {
    return { expiresMs: this.#held?.notAfterMs, lastError: this.#lastError };
  }

  /** Undefined when there is no certificate that the server accepts. */
  get certificate(): AgentCertificate | undefined {
    const held = this.#held;
    const isUsable = held !== undefined && !held.isRefused && !isExpired(held, this.#parts.clock.now());
    return isUsable ? held.certificate : undefined;
  }

  /** Waits for a certificate. */
  async usable(signal: AbortSignal): Promise<AgentCertificate> {
    for (;;) {
      const { certificate } = this;
      if (certificate !== undefined) return certificate;
      const changed = this.#change.promise;
      // After sleep the certificate may have expired before the loop has checked the time.
      if (this.#failures === 0) this.#wake();
      await orAborted(changed, signal);
    }
  }

  /** Marks the certificate as rejected by the server. */
  refuse(certificate: ClientCertificate | undefined): void {
    const held = this.#held;
    if (held === undefined || held.certificate.clientCertificate.certificate !== certificate?.certificate) return;
    this.#parts.log.warn('API server rejects the certificate', { user: this.#parts.user });
    held.isRefused = true;
    const nowMs = this.#parts.clock.now();
    const isNew = held.obtainedMs !== undefined && nowMs - held.obtainedMs < longestPauseMs;
    // A server that rejects a new certificate would reject the next one, too, unless it has merely expired.
    if (isNew && !isExpired(held, nowMs)) this.#fail(refusedAtOnce(this.#parts.user));
  }

  /** Runs until it is aborted, and rejects with the reason. */
  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      signal.throwIfAborted();
      await this.#checkFiles();
      const renewal = renewalOf(this.#held, this.#parts.clock.now());
      if (renewal.isDue && this.#gapLeftMs() === 0) {
        this.#parts.log.info('Requesting client certificate', { user: this.#parts.user, why: renewal.why });
        await this.#renew(signal);
      }
      await this.#pause(signal);
    }
  }

  /** The file may have been deleted or replaced, and writing it may have failed. */
  async #checkFiles(): Promise<void> {
    try {
      await this.#repairFiles();
      if (this.#failures === 0) this.#lastError = undefined;
    } catch (error) {
      this.#report(error);
    }
  }

  async #repairFiles(): Promise<void> {
    const { store } = this.#parts;
    const held = this.#held?.certificate;
    if (held !== undefined && (await store.isIntact(held))) return;
    const found = await store.load();
    if (found !== undefined && found.notAfterMs > (held?.notAfterMs ?? 0)) this.#adopt(found, undefined);
    else if (held !== undefined && !(await store.isIntact(held))) await store.save(held);
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { issue, clock, store, log } = this.#parts;
    let certificate: AgentCertificate;
    try {
      certificate = await issue(signal, () => (this.#requestedMs = clock.monotonicMs()));
    } catch (error) {
      signal.throwIfAborted();
      this.#fail(error);
      return;
    }
    this.#failures = 0;
    this.#lastError = undefined;
    log.info('Received client certificate', { user: this.#parts.user, expires: timestamp(certificate.notAfterMs) });
    // Used even if it cannot be stored; the next check of the files retries that.
    await store.save(certificate).catch((error: unknown) => this.#report(error));
    this.#adopt(certificate, clock.now());
  }

  #adopt(certificate: AgentCertificate, obtainedMs: number | undefined): void {
    const { notBeforeMs, notAfterMs } = certificate;
    const fraction = drawFraction(this.#parts.random());
    this.#held = { certificate, notBeforeMs, notAfterMs, obtainedMs, fraction, isRefused: false };
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  #fail(error: unknown): void {
    this.#failures += 1;
    this.#report(error);
  }

  #report(error: unknown): void {
    const { log, user, onTrouble } = this.#parts;
    const trouble = error instanceof Error ? error : new Error(String(error));
    log.error('Maintaining the client certificate failed; retrying', {
      user,
      error: trouble,
      failures: this.#failures,
    });
    const isOther = this.#lastError?.message !== trouble.message;
    this.#lastError = trouble;
    if (isOther) onTrouble(trouble);
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const waking = new AbortController();
    const wake = () => waking.abort();
    this.#wake = wake;
    signal.addEventListener('abort', wake);
    try {
      await clock.sleep(this.#pauseMs(), waking.signal);
    } catch {
      // Woken or aborted; the loop checks which.
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  /** Time until the next request is allowed; 0 unless the last one failed. */
  #gapLeftMs(): number {
    if (this.#failures === 0 || this.#requestedMs === undefined) return 0;
    return Math.max(0, this.#requestedMs + requestGapMs - this.#parts.clock.monotonicMs());
  }

  #pauseMs(): number {
    const { clock, random } = this.#parts;
    if (this.#failures > 0) {
      const delayMs = retryDelayMs(this.#failures, random());
      return Math.min(Math.max(delayMs, this.#gapLeftMs()), longestPauseMs);
    }
    const renewal = renewalOf(this.#held, clock.now());
    const pauseMs = renewal.isDue ? 0 : renewal.atMs - clock.now();
    return Math.min(Math.max(pauseMs, shortestPauseMs), longestPauseMs);
  }
}

function refusedAtOnce(user: string): AppError {
  return new AppError('AGENT_UNIDENTIFIED', `the API server rejects the certificate just issued for ${user}`, {
    remedy: `Check that the API server trusts the CA of the signer ${signer.apiClient}.`,
  });
}
