import type { Clock } from '../clock.ts';
import { orAborted, startDeadline } from './abort.ts';

export interface Limit {
  clock: Clock;
  ms: number;
  /** Called only when the time is over. */
  error: () => Error;
  /** Ends the wait early, with its own reason. */
  signal?: AbortSignal;
}

/** Waits no longer than the limit. Work that ignores its signal goes on, but its result is dropped. */
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
