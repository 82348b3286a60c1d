import { backoffMs } from '#base/waiting/backoff.ts';

export interface BackoffBounds {
  minMs: number;
  maxMs: number;
  /** A failure that comes this long after the one before it begins the series anew. */
  resetAfterMs: number;
}

/** Not longer than 5 s: together with 8 s to find out that a connection is dead, what an outage hid is seen within 15 s of its end. */
export const reflectorBackoff: BackoffBounds = { minMs: 800, maxMs: 5000, resetAfterMs: 120_000 };

/** Waiting times that double from failure to failure, each shortened by up to a half at random. */
export class Backoff {
  readonly #bounds: BackoffBounds;
  readonly #random: () => number;
  #failures = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(bounds: BackoffBounds, random: () => number) {
    this.#bounds = bounds;
    this.#random = random;
  }

  /** How long to wait after a failure at this time of a clock that never jumps. */
  next(nowMs: number): number {
    const { minMs, maxMs, resetAfterMs } = this.#bounds;
    if (nowMs - this.#lastMs >= resetAfterMs) this.#failures = 0;
    this.#failures += 1;
    // From the end of the wait: the wait itself is no time of health.
    const waitMs = backoffMs({ firstMs: minMs, maxMs }, this.#failures) * (0.5 + 0.5 * this.#random());
    this.#lastMs = nowMs + waitMs;
    return waitMs;
  }
}
