import { type Clock, systemClock } from '../../src/base/clock.ts';
import { scaledClock } from '../../src/sandbox/machines/clocks.ts';

const tickMs = 5;
const longestGapMs = 10;

/** Time this process had the processor, or was idle: a gap between two ticks counts as 10 ms however long it was. */
const counted = { ms: 0, at: performance.now(), isTicking: false };

function countedMs(): number {
  const now = performance.now();
  // Fake timers of a test may set the time back.
  counted.ms += Math.max(0, Math.min(now - counted.at, longestGapMs));
  counted.at = now;
  return counted.ms;
}

function startTicking(): void {
  if (counted.isTicking) return;
  counted.isTicking = true;
  setInterval(countedMs, tickMs).unref();
}

/** On a busy machine this clock slows down, so no deadline passes only because nothing could run. */
const patientClock: Clock = {
  now: () => systemClock.now(),
  monotonicMs: countedMs,
  async sleep(ms, signal) {
    const end = countedMs() + ms;
    do await systemClock.sleep(Math.max(0, end - countedMs()), signal);
    while (countedMs() < end);
  },
};

/** At speed 20, twenty seconds of deadlines and pauses take one. */
export function fastClock(speed: number): Clock {
  startTicking();
  return scaledClock(patientClock, speed);
}

/** Dates advance as fast as all else, so that limits in time are the same by both. */
export function fastDates(speed: number): Clock {
  const clock = fastClock(speed);
  const [startMs, startedMs] = [systemClock.now(), clock.monotonicMs()];
  return { ...clock, now: () => startMs + clock.monotonicMs() - startedMs };
}

/** A clock with dates that can be made faster while nothing happens that has a limit. */
export interface VariableClock {
  clock: Clock;
  setSpeed(speed: number): void;
}

/** A sleeper looks so often whether the speed has changed. */
const sliceMs = 50;

export function variableDates(firstSpeed: number): VariableClock {
  startTicking();
  const startMs = systemClock.now();
  let [speed, passedMs, sinceMs] = [firstSpeed, 0, countedMs()];
  const monotonicMs = () => passedMs + (countedMs() - sinceMs) * speed;
  const clock: Clock = {
    now: () => startMs + monotonicMs(),
    monotonicMs,
    async sleep(ms, signal) {
      const end = monotonicMs() + ms;
      do await systemClock.sleep(Math.min(sliceMs, Math.max(0, end - monotonicMs()) / speed), signal);
      while (monotonicMs() < end);
    },
  };
  return {
    clock,
    setSpeed(next) {
      [passedMs, sinceMs, speed] = [monotonicMs(), countedMs(), next];
    },
  };
}
