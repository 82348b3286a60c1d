import type { Clock } from '#base/clock.ts';
import type { Lease } from '../resources.ts';

interface Observation {
  text: string;
  holder: string;
  sinceMs: number;
  durationMs: number;
}

/** Judges whether the lease of others has run out: since when, by our own clock, it has been as it is. */
export class LeaseObserver {
  readonly #clock: Clock;
  readonly #defaultDurationMs: number;
  #seen: Observation | undefined;

  constructor(clock: Clock, defaultDurationMs: number) {
    this.#clock = clock;
    this.#defaultDurationMs = defaultDurationMs;
  }

  /** Whoever holds the lease as far as we know; empty when nobody does. */
  get holder(): string {
    return this.#seen?.holder ?? '';
  }

  note(current: Lease | undefined): void {
    // That a lease was deleted says nothing of its holder, who may not know it yet.
    if (current === undefined) return;
    const text = JSON.stringify(current.spec ?? {});
    if (text === this.#seen?.text) return;
    const { holderIdentity: holder = '', leaseDurationSeconds = 0 } = current.spec ?? {};
    const durationMs = leaseDurationSeconds > 0 ? leaseDurationSeconds * 1000 : this.#defaultDurationMs;
    this.#seen = { text, holder, durationMs, sinceMs: this.#clock.monotonicMs() };
  }

  /** How long the holder may still go on, as far as we know; nought when the lease is free. */
  leftMs(): number {
    if (this.#seen === undefined || this.#seen.holder === '') return 0;
    return Math.max(0, this.#seen.sinceMs + this.#seen.durationMs - this.#clock.monotonicMs());
  }
}
