import type { Clock } from '#base/clock.ts';

/** Shorter waits are accumulated because timers are not that exact. */
const shortestMs = 5;

/** Limits the total throughput to a rate that may change; no delay if it is Infinity. */
export function createPace(rate: () => number, clock: Clock): (bytes: number) => Promise<void> {
  let freeAtMs = -Infinity;
  return async bytes => {
    const bytesPerSecond = rate();
    if (bytesPerSecond === Infinity) return;
    const nowMs = clock.monotonicMs();
    freeAtMs = Math.max(freeAtMs, nowMs) + (bytes / bytesPerSecond) * 1000;
    if (freeAtMs - nowMs >= shortestMs) await clock.sleep(freeAtMs - nowMs);
  };
}
