import type { Clock } from '#base/clock.ts';

export interface FollowOptions {
  /** Adds a listener; returns a function that removes it. */
  onChange: (listener: () => void) => () => void;
  clock: Clock;
  signal: AbortSignal;
}

/** Faster updates are not visible, and terminals are slow. */
const minPauseMs = 100;
/** Elapsed times change without any event. */
const maxPauseMs = 1000;

/** Calls `refresh` at once, after each change and every second, until it returns `stop` or the signal is aborted. */
export async function follow(refresh: () => 'continue' | 'stop', options: FollowOptions): Promise<void> {
  const { onChange, clock, signal } = options;
  let alarm = new AbortController();
  const wake = () => alarm.abort();
  const removeListener = onChange(wake);
  signal.addEventListener('abort', wake, { once: true });
  try {
    while (!signal.aborted && refresh() === 'continue') {
      await clock.sleep(maxPauseMs, alarm.signal).catch(() => undefined);
      alarm = new AbortController();
      if (!signal.aborted) await clock.sleep(minPauseMs, signal).catch(() => undefined);
    }
  } finally {
    removeListener();
    signal.removeEventListener('abort', wake);
  }
}
