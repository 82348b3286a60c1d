import { type Clock, systemClock } from '#base/clock.ts';
import { orAborted, startDeadline } from '#base/waiting/abort.ts';

/** When a remote operation has to end. */
export interface Limits {
  /** Signals of the connection and of the caller. */
  signals: readonly (AbortSignal | undefined)[];
  timeoutMs: number;
  /** Longest time without progress; no limit when missing. */
  stallMs?: number;
  timeoutError: (limit: ExceededLimit, ms: number) => Error;
  clock?: Clock;
}

export type ExceededLimit = 'timeout' | 'stall';

/** A remote operation in progress. */
export interface Operation {
  /** Aborted when the operation must stop; its caller has its answer by then. */
  signal: AbortSignal;
  /** To be called on every progress. */
  progress: () => void;
}

/** Runs one remote operation. Its caller never waits longer than the limits, even if the operation never settles. */
export async function limited<T>(limits: Limits, run: (operation: Operation) => Promise<T>): Promise<T> {
  const { signals, timeoutMs, stallMs = Infinity, timeoutError, clock = systemClock } = limits;
  for (const signal of signals) signal?.throwIfAborted();
  const total = startDeadline(clock, timeoutMs, () => timeoutError('timeout', timeoutMs), ...signals);
  const stall = startDeadline(clock, stallMs, () => timeoutError('stall', stallMs), total.signal);
  const { signal } = stall;
  try {
    return await orAborted(run({ signal, progress: () => stall.extend(stallMs) }), signal);
  } catch (error) {
    // An operation that is aborted fails as well, with an error that explains nothing.
    throw signal.aborted ? signal.reason : error;
  } finally {
    stall.end();
    total.end();
  }
}
