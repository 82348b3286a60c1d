import { backoffMs } from '#base/waiting/backoff.ts';

/** Backoff after a failure, per host. */
export const retryTimes = { firstRetryMs: 5000, maxRetryMs: 300_000 } as const;

/** No watch reports a new Secret, or a name that resolves to another address. */
export const recheckMs = 30_000;

/** Longest time until the next attempt after this many failures in a row; jitter makes it a little shorter. */
export function longestRetryMs(attempt: number): number {
  return backoffMs({ firstMs: retryTimes.firstRetryMs, maxMs: retryTimes.maxRetryMs }, attempt);
}
