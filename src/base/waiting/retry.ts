import { backoffMs } from './backoff.ts';
import type { Clock } from '../clock.ts';
import { withDeadline } from './deadline.ts';

export interface RetryLimits {
  clock: Clock;
  signal: AbortSignal;
  /** For all attempts together; no limit when missing. */
  limitMs?: number;
  firstPauseMs?: number;
  longestPauseMs?: number;
  /** True for an error that must not be retried. */
  isFinal?(error: unknown): boolean;
  onFailure?(error: unknown, pauseMs: number): void;
}

/** Retries with backoff until it succeeds or the time is over; then fails with the last error. */
export async function retry<T>(act: (signal: AbortSignal) => Promise<T>, limits: RetryLimits): Promise<T> {
  const { clock, signal, limitMs: ms } = limits;
  const failures: Failures = { last: undefined };
  if (ms === undefined) return runAttempts(act, signal, limits, failures);
  const error = () => failures.last ?? new Error(`no answer within ${ms / 1000} s`);
  return withDeadline({ clock, ms, error, signal }, deadline => runAttempts(act, deadline, limits, failures));
}

interface Failures {
  last: Error | undefined;
}

async function runAttempts<T>(
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
      if (limits.isFinal?.(thrown) === true) throw thrown;
      failures.last = thrown instanceof Error ? thrown : new Error(String(thrown));
      limits.onFailure?.(thrown, pauseMs);
    }
    await clock.sleep(pauseMs, signal);
  }
}
