import { setTimeout as delay } from 'node:timers/promises';

/** Time, as an argument: whoever waits or dates something gets a clock, so that tests own it. */
export interface Clock {
  /** Milliseconds since 1970. May jump when somebody sets the clock. */
  now(): number;
  /** Milliseconds of a clock that never jumps; only differences mean something. */
  monotonicMs(): number;
  /** Resolves after the time given; rejects with the signal's reason when it is aborted. Keeps the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch {
      // The timer wraps the reason into an error of its own.
      throw signal?.reason;
    }
  },
};

/** RFC 3339 with seconds, as in metadata; with microseconds where a Lease wants them. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

export function microTimestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}
