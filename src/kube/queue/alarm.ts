import { notNeeded } from '#base/waiting/abort.ts';
import type { Clock } from '#base/clock.ts';

/** Timers are limited to 24 days, and a long sleep need not be exact. */
const longestSleepMs = 3_600_000;

/** One timer for the earliest time it was set for; later times must be set again when it rings. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #dueMs = Number.POSITIVE_INFINITY;
  #sleep: AbortController | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** A monotonic time. Has no effect if the alarm is set for an earlier time. */
  setFor(dueMs: number | undefined): void {
    if (dueMs === undefined || dueMs >= this.#dueMs) return;
    this.cancel();
    this.#dueMs = dueMs;
    this.#sleep = new AbortController();
    void this.#wait(dueMs, this.#sleep.signal);
  }

  cancel(): void {
    this.#sleep?.abort(notNeeded);
    this.#sleep = undefined;
    this.#dueMs = Number.POSITIVE_INFINITY;
  }

  async #wait(dueMs: number, signal: AbortSignal): Promise<void> {
    const ms = Math.min(longestSleepMs, Math.max(0, dueMs - this.#clock.monotonicMs()));
    try {
      // Rounded up: a timer that fires early would only be set again.
      await this.#clock.sleep(Math.ceil(ms), signal);
    } catch {
      return;
    }
    if (signal.aborted) return;
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#sleep = undefined;
    this.#ring();
  }
}
