import type { Clock } from '../clock.ts';

/**
 * A time limit for work in progress. Whoever starts one must end it: until then it listens to the signals of the
 * callers.
 */
export interface Deadline {
  /** Aborted with the reason of a caller that gives up, or with the error when the time is over. */
  readonly signal: AbortSignal;
  /** Sets the remaining time. */
  extend(ms: number): void;
  end(): void;
}

/**
 * Reason of an abort that is no failure, such as that of a timer that is not needed any more. Without a reason each abort would make
 * an error with a stack trace, which takes longer than anything else about a timer.
 */
export const notNeeded = new Error('it is not needed any more');

/** Timers overflow beyond this and fire at once. */
const maxSleepMs = 2 ** 31 - 1;

export function startDeadline(
  clock: Clock,
  timeoutMs: number,
  error: () => Error,
  ...callers: readonly (AbortSignal | undefined)[]
): Deadline {
  const controller = new AbortController();
  const timer = new AbortController();
  // AbortSignal.any would keep memory for each deadline as long as a caller's signal lives.
  const onAbort = ({ target }: Event) => controller.abort((target as AbortSignal).reason);
  for (const caller of callers) {
    if (caller?.aborted) controller.abort(caller.reason);
    else caller?.addEventListener('abort', onAbort, { once: true });
  }
  let endMs = clock.monotonicMs() + timeoutMs;
  if (Number.isFinite(timeoutMs)) void expire();
  return {
    signal: controller.signal,
    extend: ms => {
      endMs = clock.monotonicMs() + ms;
    },
    end: () => {
      timer.abort(notNeeded);
      for (const caller of callers) caller?.removeEventListener('abort', onAbort);
    },
  };

  async function expire(): Promise<void> {
    try {
      // Sleeps once per period, however often the deadline is extended.
      for (let leftMs = timeoutMs; leftMs > 0; leftMs = endMs - clock.monotonicMs())
        await clock.sleep(Math.min(leftMs, maxSleepMs), timer.signal);
      controller.abort(error());
    } catch {
      // It was ended.
    }
  }
}

/** Settles like the promise, or rejects with the signal's reason if that comes first; a later rejection is ignored. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // Also when the signal is aborted already: without a handler the rejection would end the process.
  promise.catch(() => undefined);
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
