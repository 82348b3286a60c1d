import type { Patience, Waiting } from './ports.ts';

/** For the start or the stop of a service. */
export const servicePatience: Patience = { everyMs: 200, limitMs: 120_000 };

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
