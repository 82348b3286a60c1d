import type { Clock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';

/** Time for what is only simulated: at speed 10 a delay of ten seconds takes one. What is written as a date stays true. */
export function scaledClock(clock: Clock, speed: number): Clock {
  if (!Number.isFinite(speed) || speed <= 0) {
    throw new AppError('USAGE', `the speed of a sandbox is ${shown(speed)}, not a number above 0`, {
      remedy: 'Give a speed such as 1, 0.5 or 20.',
    });
  }
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs() * speed,
    sleep: (ms, signal) => clock.sleep(ms / speed, signal),
  };
}

/** The clock of a host that goes wrong by so much, until somebody sets it. */
export function offsetClock(clock: Clock, offsetMs: () => number): Clock {
  return {
    now: () => clock.now() + offsetMs(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}
