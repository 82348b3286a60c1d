import type { Clock } from '../clock.ts';
import { orAborted, startDeadline } from './abort.ts';

export interface Limit {
  clock: Clock;
  ms: number;
  /** What it means that the time is over; made only then. */
  error: () => Error;
  /** Ends the waiting early, with its own reason. */
  signal?: AbortSignal;
}

/** Waits no longer than allowed. What goes on all the same is told by its signal; its end is of no interest any more. */
export async function withDeadline<T>(limit: Limit, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  limit.signal?.throwIfAborted();
  const deadline = startDeadline(limit.clock, limit.ms, limit.error, limit.signal);
  try {
    return await orAborted(run(deadline.signal), deadline.signal);
  } finally {
    deadline.end();
  }
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }));
}
