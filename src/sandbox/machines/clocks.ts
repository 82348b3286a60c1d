import type { Clock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';

/** Clock of simulated delays: at speed 10 ten seconds take one. Dates are not changed. */
export function scaledClock(clock: Clock, speed: number): Clock {
  if (!Number.isFinite(speed) || speed <= 0) {
    throw new AppError('USAGE', `speed ${shown(speed)} is not a number above 0`, {
      remedy: 'Set a speed such as 1, 0.5 or 20.',
    });
  }
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs() * speed,
    sleep: (ms, signal) => clock.sleep(ms / speed, signal),
  };
}

/** A host clock with an offset. */
export function offsetClock(clock: Clock, offsetMs: () => number): Clock {
  return {
    now: () => clock.now() + offsetMs(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}
