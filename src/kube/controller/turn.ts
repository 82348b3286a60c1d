import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';

/** Lets the event loop run: for thousands of passes that never wait. */
export async function yieldToEventLoop(): Promise<void> {
  await setImmediate();
}

const sliceMs = 10;

/** Work that never waits, such as thousands of passes at the start, lets the event loop run every few milliseconds. */
export class TimeSlice {
  readonly #clock: Clock;
  #endMs = 0;
  #yielding: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async mayYield(): Promise<void> {
    if (this.#yielding === undefined && this.#clock.monotonicMs() >= this.#endMs) {
      this.#yielding = this.#yield();
    }
    await this.#yielding;
  }

  async #yield(): Promise<void> {
    await yieldToEventLoop();
    this.#yielding = undefined;
    this.#endMs = this.#clock.monotonicMs() + sliceMs;
  }
}
