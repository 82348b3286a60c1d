import type { Clock } from '#base/clock.ts';

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Advances time, wakes sleepers in the order of their times, and lets promises settle after each. */
  advance(ms: number): Promise<void>;
  /** Moves the wall clock, but not the monotonic clock, as an administrator can. */
  jump(ms: number): void;
  /** How many sleeps are pending: 0 once everything has stopped. */
  sleepers(): number;
}

interface Sleeper {
  dueMs: number;
  wake: () => void;
}

export function manualClock(startMs = Date.UTC(2026, 2, 1, 12)): ManualClock {
  let elapsedMs = 0;
  let offsetMs = startMs;
  const sleepers = new Set<Sleeper>();

  async function advance(ms: number): Promise<void> {
    const untilMs = elapsedMs + ms;
    await settle();
    for (let next = earliest(); next !== undefined && next.dueMs <= untilMs; next = earliest()) {
      elapsedMs = Math.max(elapsedMs, next.dueMs);
      sleepers.delete(next);
      next.wake();
      await settle();
    }
    elapsedMs = untilMs;
  }

  function earliest(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) if (first === undefined || sleeper.dueMs < first.dueMs) first = sleeper;
    return first;
  }

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal?.aborted) {
      reject(signal.reason);
      return promise;
    }
    const sleeper: Sleeper = { dueMs: elapsedMs + Math.max(0, ms), wake };
    sleepers.add(sleeper);
    signal?.addEventListener('abort', abort);
    return promise;

    function wake(): void {
      signal?.removeEventListener('abort', abort);
      resolve();
    }
    function abort(): void {
      sleepers.delete(sleeper);
      signal?.removeEventListener('abort', abort);
      reject(signal?.reason);
    }
  }

  return {
    now: () => offsetMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    sleep,
    advance,
    jump: ms => {
      offsetMs += ms;
    },
    sleepers: () => sleepers.size,
  };
}

/** Runs everything that is ready, without advancing time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(resolve => setImmediate(resolve));
}
