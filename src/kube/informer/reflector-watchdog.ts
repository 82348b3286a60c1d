import type { Clock } from '#base/clock.ts';
import { StreamError } from './reflector-failure.ts';

/** Ends a stream from our side when the server keeps silent for too long, or when the caller's signal says so. */
export class Watchdog {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #clock: Clock;
  readonly #onAbort = () => this.#controller.abort(this.#caller.reason);
  #deadlineMs: number;
  #barked = false;

  constructor(caller: AbortSignal, clock: Clock, silenceMs: number) {
    this.#caller = caller;
    this.#clock = clock;
    this.#deadlineMs = clock.monotonicMs() + silenceMs;
    // By hand, since a signal made by AbortSignal.any stays known to the caller's signal for as long as that one lives.
    if (caller.aborted) this.#onAbort();
    else caller.addEventListener('abort', this.#onAbort, { once: true });
    void this.#watch();
  }

  /** For the call that is watched over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was the silence that ended the stream. */
  get hasBarked(): boolean {
    return this.#barked;
  }

  /** Gives the server this much time from now on. */
  allow(silenceMs: number): void {
    this.#deadlineMs = this.#clock.monotonicMs() + silenceMs;
  }

  /** Ends the watching; without it a timer and a listener would stay behind. */
  release(): void {
    this.#caller.removeEventListener('abort', this.#onAbort);
    this.#controller.abort(new Error('the stream is over'));
  }

  async #watch(): Promise<void> {
    try {
      // Wakes up once per allowance, not once per event.
      for (let leftMs = this.#leftMs; leftMs > 0; leftMs = this.#leftMs) await this.#clock.sleep(leftMs, this.signal);
    } catch {
      return;
    }
    this.#barked = true;
    this.#controller.abort(new StreamError('overdue'));
  }

  get #leftMs(): number {
    return this.#deadlineMs - this.#clock.monotonicMs();
  }
}
