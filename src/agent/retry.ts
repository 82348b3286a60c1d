import type { Clock } from '#base/clock.ts';
import { withDeadline } from '#kube/deadline.ts';

export interface RetryLimits {
  clock: Clock;
  signal: AbortSignal;
  /** For all attempts together. */
  limitMs: number;
  firstPauseMs?: number;
  longestPauseMs?: number;
  /** Whether an error is an answer, and not a reason to ask again. */
  isAnswer?(error: unknown): boolean;
  onFailure?(error: unknown, pauseMs: number): void;
}

/** Tries with growing pauses until it works or the time is up, and then fails with the last error. */
export async function retry<T>(act: (signal: AbortSignal) => Promise<T>, limits: RetryLimits): Promise<T> {
  const { clock, signal, limitMs, firstPauseMs = 1000, longestPauseMs = 15_000 } = limits;
  let last: Error | undefined;
  const error = () => last ?? new Error(`no answer within ${limitMs} ms`);
  return withDeadline({ clock, ms: limitMs, error, signal }, async deadline => {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
      try {
        return await act(deadline);
      } catch (thrown) {
        deadline.throwIfAborted();
        if (limits.isAnswer?.(thrown) === true) throw thrown;
        last = thrown instanceof Error ? thrown : new Error(String(thrown));
        limits.onFailure?.(thrown, pauseMs);
      }
      await clock.sleep(pauseMs, deadline);
    }
  });
}
