import { backoffMs } from './backoff.ts';
import type { Clock } from '../clock.ts';
import { withDeadline } from './deadline.ts';

export interface RetryLimits {
  clock: Clock;
  signal: AbortSignal;
  /** For all attempts together; without it they go on until the signal ends them. */
  limitMs?: number;
  firstPauseMs?: number;
  longestPauseMs?: number;
  /** Whether an error is an answer, and not a reason to ask again. */
  isAnswer?(error: unknown): boolean;
  onFailure?(error: unknown, pauseMs: number): void;
}

/** Tries with growing pauses until it works or the time is up, and then fails with the last error. */
export async function retry<T>(act: (signal: AbortSignal) => Promise<T>, limits: RetryLimits): Promise<T> {
  const { clock, signal, limitMs: ms } = limits;
  const failures: Failures = { last: undefined };
  if (ms === undefined) return attempts(act, signal, limits, failures);
  const error = () => failures.last ?? new Error(`no answer within ${ms / 1000} s`);
  return withDeadline({ clock, ms, error, signal }, deadline => attempts(act, deadline, limits, failures));
}

interface Failures {
  last: Error | undefined;
}

async function attempts<T>(
  act: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
  limits: RetryLimits,
  failures: Failures,
): Promise<T> {
  const { clock, firstPauseMs: firstMs = 1000, longestPauseMs: maxMs = 15_000 } = limits;
  for (let attempt = 1; ; attempt += 1) {
    const pauseMs = backoffMs({ firstMs, maxMs }, attempt);
    try {
      return await act(signal);
    } catch (thrown) {
      signal.throwIfAborted();
      if (limits.isAnswer?.(thrown) === true) throw thrown;
      failures.last = thrown instanceof Error ? thrown : new Error(String(thrown));
      limits.onFailure?.(thrown, pauseMs);
    }
    await clock.sleep(pauseMs, signal);
  }
}
