import { backoffMs } from '#base/waiting/backoff.ts';

/** After a failure; each host has its own. */
export const retryTimes = { firstRetryMs: 5000, maxRetryMs: 300_000 } as const;

/** How long it takes until the next attempt at most, after so many in a row have failed. Queues come a little earlier. */
export function longestRetryMs(attempt: number): number {
  return backoffMs({ firstMs: retryTimes.firstRetryMs, maxMs: retryTimes.maxRetryMs }, attempt);
}
