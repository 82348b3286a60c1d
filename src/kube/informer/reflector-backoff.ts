import { backoffMs } from '#base/waiting/backoff.ts';

export interface BackoffBounds {
  minMs: number;
  maxMs: number;
  /** After this time without a failure the backoff starts again. */
  resetAfterMs: number;
}

/** At most 5 s: with up to 8 s to detect a dead connection, caches are current within 15 s after an outage. */
export const reflectorBackoff: BackoffBounds = { minMs: 800, maxMs: 5000, resetAfterMs: 120_000 };

/** Exponential backoff, each wait shortened by up to a half at random. */
export class Backoff {
  readonly #bounds: BackoffBounds;
  readonly #random: () => number;
  #failures = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(bounds: BackoffBounds, random: () => number) {
    this.#bounds = bounds;
    this.#random = random;
  }

  /** How long to wait after a failure at this monotonic time. */
  next(nowMs: number): number {
    const { minMs, maxMs, resetAfterMs } = this.#bounds;
    if (nowMs - this.#lastMs >= resetAfterMs) this.#failures = 0;
    this.#failures += 1;
    // From the end of the wait, which does not count as time without a failure.
    const waitMs = backoffMs({ firstMs: minMs, maxMs }, this.#failures) * (0.5 + 0.5 * this.#random());
    this.#lastMs = nowMs + waitMs;
    return waitMs;
  }
}
