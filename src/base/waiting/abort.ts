import type { Clock } from '../clock.ts';

/** A limit in time for something under way. Whoever starts one must end it, or it holds on to the caller's signal. */
export interface Deadline {
  /** Aborted with the caller's reason when the caller gives up, with the error given when the time is over. */
  readonly signal: AbortSignal;
  end(): void;
}

export function startDeadline(
  clock: Clock,
  timeoutMs: number,
  error: () => Error,
  caller: AbortSignal | undefined,
): Deadline {
  const controller = new AbortController();
  const giveUp = () => controller.abort(caller?.reason);
  if (caller?.aborted) giveUp();
  else caller?.addEventListener('abort', giveUp, { once: true });
  const timer = new AbortController();
  if (Number.isFinite(timeoutMs)) {
    clock.sleep(timeoutMs, timer.signal).then(
      () => controller.abort(error()),
      () => undefined,
    );
  }
  return {
    signal: controller.signal,
    end() {
      timer.abort();
      caller?.removeEventListener('abort', giveUp);
    },
  };
}

/** The promise, or the signal's reason when that comes first. The promise's own later failure is nobody's concern then. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // Also when the signal was aborted while the promise was made: nobody else hears of its failure.
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
