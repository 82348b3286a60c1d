/** Waits that grow from one failed attempt to the next. */
export interface BackoffLimits {
  firstMs: number;
  maxMs: number;
  factor?: number;
}

/** How long to wait after the failure of this attempt, the first being 1. */
export function backoffMs({ firstMs, maxMs, factor = 2 }: BackoffLimits, attempt: number): number {
  return Math.min(maxMs, firstMs * factor ** Math.min(Math.max(0, attempt - 1), 40));
}
