import { type Clock, systemClock } from '../../src/base/clock.ts';

/** The real time, which a test can move forward. */
export interface SkippingClock extends Clock {
  /** Wakes all sleepers that are due by then. */
  skip(ms: number): void;
}

export function skippingClock(clock: Clock = systemClock): SkippingClock {
  let skippedMs = 0;
  let wake = new AbortController();
  const monotonicMs = () => clock.monotonicMs() + skippedMs;
  return {
    now: () => clock.now() + skippedMs,
    monotonicMs,
    async sleep(ms, signal) {
      const dueMs = monotonicMs() + ms;
      for (let leftMs = ms; leftMs > 0; leftMs = dueMs - monotonicMs()) {
        const moved = wake.signal;
        await clock
          .sleep(leftMs, signal === undefined ? moved : AbortSignal.any([signal, moved]))
          .catch((error: unknown) => {
            if (signal?.aborted === true || !moved.aborted) throw error;
          });
      }
      signal?.throwIfAborted();
    },
    skip(ms) {
      skippedMs += ms;
      const before = wake;
      wake = new AbortController();
      before.abort(new Error('time was skipped'));
    },
  };
}
