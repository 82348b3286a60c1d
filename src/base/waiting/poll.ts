import type { Clock } from '../clock.ts';

/** How long to wait for something and how often to look. */
export interface Patience {
  everyMs: number;
  limitMs: number;
}

/** Time and the wish to stop, handed down to everything that waits. */
export interface Waiting {
  clock: Clock;
  signal: AbortSignal;
  patience: Patience;
}

/** Looks at once and then again and again until there is an answer; undefined when the time is up. */
export async function poll<T>(look: () => Promise<T | undefined>, waiting: Waiting): Promise<T | undefined> {
  const { clock, signal, patience } = waiting;
  const started = clock.monotonicMs();
  for (;;) {
    signal.throwIfAborted();
    const answer = await look();
    if (answer !== undefined) return answer;
    const leftMs = patience.limitMs - (clock.monotonicMs() - started);
    if (leftMs <= 0) return undefined;
    await clock.sleep(Math.min(patience.everyMs, leftMs), signal);
  }
}
