import type { Clock } from '#base/clock.ts';

/** Waits that are shorter are saved up: timers are not that exact. */
const shortestMs = 5;

/** Lets bytes through at a given speed, whoever they come from; at once when there is no limit. */
export function createPace(bytesPerSecond: number, clock: Clock): (bytes: number) => Promise<void> {
  let freeAtMs = -Infinity;
  return async bytes => {
    if (bytesPerSecond === Infinity) return;
    const nowMs = clock.monotonicMs();
    freeAtMs = Math.max(freeAtMs, nowMs) + (bytes / bytesPerSecond) * 1000;
    if (freeAtMs - nowMs >= shortestMs) await clock.sleep(freeAtMs - nowMs);
  };
}
