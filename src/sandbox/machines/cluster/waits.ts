import type { Clock } from '#base/clock.ts';

/** How long things have still to wait that take their time in a sandbox, by name. */
export class Waits {
  readonly #clock: Clock;
  readonly #speed: number;
  readonly #since = new Map<string, number>();

  /** The clock is that of the world outside. */
  constructor(clock: Clock, speed: number) {
    this.#clock = clock;
    this.#speed = speed;
  }

  /** Real milliseconds left of so many of the sandbox, which begin when it is first asked; 0 when they are over. */
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
