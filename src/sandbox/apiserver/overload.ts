import type { Clock } from '#base/clock.ts';
import type { RequestHook } from './pipeline.ts';
import { tooManyRequests } from './status.ts';

/** Makes the API server slow or busy on request, for every user but those that are exempt. */
export class Overload {
  /** Time before each request is handled; a watch is delayed only at its start. */
  latencyMs = 0;
  /** Rejects each request with 429 and Retry-After, as API Priority and Fairness does when its queues are full. */
  isBusy = false;
  /** Number of requests rejected so far. */
  rejected = 0;
  readonly #clock: Clock;
  readonly #exempt: ReadonlySet<string>;

  constructor(clock: Clock, exempt: readonly string[]) {
    this.#clock = clock;
    this.#exempt = new Set(exempt);
  }

  readonly hook: RequestHook = async ({ user }) => {
    if (this.#exempt.has(user.username)) return;
    if (this.isBusy) {
      this.rejected += 1;
      throw tooManyRequests('Too many requests, please try again later.', { retryAfterSeconds: 1 });
    }
    if (this.latencyMs > 0) await this.#clock.sleep(this.latencyMs);
  };
}
