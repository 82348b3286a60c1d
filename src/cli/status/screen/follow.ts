import type { Clock } from '#base/clock.ts';

export interface FollowOptions {
  /** Tells of changes; gives how to end that. */
  onChange: (listener: () => void) => () => void;
  clock: Clock;
  signal: AbortSignal;
}

/** Eyes see no more than this, and terminals are slow. */
const shortestPauseMs = 100;
/** Times and silences grow without any change. */
const longestPauseMs = 1000;

/** Looks at once, after each change and every second, until there is nothing more to see or the signal is aborted. */
export async function follow(look: () => 'go on' | 'end', options: FollowOptions): Promise<void> {
  const { onChange, clock, signal } = options;
  let alarm = new AbortController();
  const wake = () => alarm.abort();
  const endings = [onChange(wake)];
  signal.addEventListener('abort', wake, { once: true });
  try {
    while (!signal.aborted && look() === 'go on') {
      await clock.sleep(longestPauseMs, alarm.signal).catch(() => undefined);
      alarm = new AbortController();
      if (!signal.aborted) await clock.sleep(shortestPauseMs, signal).catch(() => undefined);
    }
  } finally {
    for (const end of endings) end();
    signal.removeEventListener('abort', wake);
  }
}
