import type { Clock } from '#base/clock.ts';
import type { Lease } from '../resources.ts';

interface Observation {
  text: string;
  holder: string;
  sinceMs: number;
  durationMs: number;
}

/** Decides whether the lease of another process has expired: by how long, on our clock, it has not changed. */
export class LeaseObserver {
  readonly #clock: Clock;
  readonly #defaultDurationMs: number;
  #observed: Observation | undefined;

  constructor(clock: Clock, defaultDurationMs: number) {
    this.#clock = clock;
    this.#defaultDurationMs = defaultDurationMs;
  }

  /** The last known holder; may be empty. */
  get holder(): string {
    return this.#observed?.holder ?? '';
  }

  note(current: Lease | undefined): void {
    // The holder of a deleted lease may not have noticed it yet.
    if (current === undefined) return;
    const text = JSON.stringify(current.spec ?? {});
    if (text === this.#observed?.text) return;
    const { holderIdentity: holder = '', leaseDurationSeconds = 0 } = current.spec ?? {};
    const durationMs = leaseDurationSeconds > 0 ? leaseDurationSeconds * 1000 : this.#defaultDurationMs;
    this.#observed = { text, holder, durationMs, sinceMs: this.#clock.monotonicMs() };
  }

  /** How long the lease is still valid, and at most so long after its last change; 0 when it is free. */
  leftMs(mostMs = Infinity): number {
    if (this.#observed === undefined || this.#observed.holder === '') return 0;
    const { sinceMs, durationMs } = this.#observed;
    return Math.max(0, sinceMs + Math.min(durationMs, mostMs) - this.#clock.monotonicMs());
  }
}
