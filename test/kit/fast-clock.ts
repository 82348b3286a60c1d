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
