import type { Clock } from '#base/clock.ts';

/** Remaining simulated delays by name. */
export class Waits {
  readonly #clock: Clock;
  readonly #speed: number;
  readonly #since = new Map<string, number>();

  /** The clock is not scaled. */
  constructor(clock: Clock, speed: number) {
    this.#clock = clock;
    this.#speed = speed;
  }

  /** Real milliseconds left of a delay that starts with the first call. */
  left(name: string, ms: number): number {
    const nowMs = this.#clock.monotonicMs();
    const since = this.#since.get(name) ?? nowMs;
    this.#since.set(name, since);
    return Math.max(0, Math.ceil(since + ms / this.#speed - nowMs));
  }

  forget(name: string): void {
    this.#since.delete(name);
  }
}
