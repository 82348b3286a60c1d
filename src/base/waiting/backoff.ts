export interface BackoffLimits {
  firstMs: number;
  maxMs: number;
  factor?: number;
}

/** How long to wait after a failed attempt; the first attempt is 1. */
export function backoffMs({ firstMs, maxMs, factor = 2 }: BackoffLimits, attempt: number): number {
  return Math.min(maxMs, firstMs * factor ** Math.min(Math.max(0, attempt - 1), 40));
}
