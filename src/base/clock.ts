/** Passed as an argument wherever time matters, so that tests control it. */
export interface Clock {
  /** Milliseconds since 1970. Jumps when the system clock is set. */
  now(): number;
  /** Milliseconds of a clock that never jumps; only differences are meaningful. */
  monotonicMs(): number;
  /** Rejects with the signal's reason when it is aborted. Keeps the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  // Not by node:timers/promises, which makes an error with a stack trace for each sleep that ends early.
  sleep(ms, signal) {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    return promise;
  },
};

/** RFC 3339 with seconds, as in metadata. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** RFC 3339 with microseconds, as in a Lease. */
export function microTimestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}
