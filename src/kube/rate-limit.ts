import type { Clock } from '#base/clock.ts';

export interface RateLimit {
  /** Requests per second in the long run. */
  qps: number;
  /** Requests at once after a quiet time. */
  burst: number;
}

/** A token bucket: whoever comes when it is empty waits for the next token, in the order of coming. */
export class TokenBucket {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  #tokens: number;
  #countedAtMs: number;

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    this.#tokens = limit.burst;
    this.#countedAtMs = clock.monotonicMs();
  }

  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#refill();
    // Below zero are the tokens promised to those who wait.
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await this.#clock.sleep((-this.#tokens / this.#limit.qps) * 1000, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    const earned = ((nowMs - this.#countedAtMs) / 1000) * this.#limit.qps;
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + earned);
    this.#countedAtMs = nowMs;
  }
}
