import type { Clock } from '../clock.ts';

export interface Patience {
  everyMs: number;
  limitMs: number;
}

export interface Waiting {
  clock: Clock;
  signal: AbortSignal;
  patience: Patience;
}

/** Calls `look` at once and then at intervals until it returns a value; undefined when the time is over. */
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
