import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

test('doubles from the first wait to the longest', () => {
  const waits = [1, 2, 3, 4, 5].map(attempt => backoffMs({ firstMs: 100, maxMs: 500 }, attempt));
  expect(waits).toEqual([100, 200, 400, 500, 500]);
});

test('grows by another factor', () => {
  expect(backoffMs({ firstMs: 10, maxMs: 10_000, factor: 5 }, 4)).toBe(1250);
});

test('never leaves its limits and never shrinks, for any attempt', () => {
  const limits = { firstMs: 3, maxMs: 1000 };
  fc.assert(
    fc.property(fc.integer(), attempt => {
      const wait = backoffMs(limits, attempt);
      expect(wait).toBeGreaterThanOrEqual(limits.firstMs);
      expect(wait).toBeLessThanOrEqual(limits.maxMs);
      expect(backoffMs(limits, attempt + 1)).toBeGreaterThanOrEqual(wait);
    }),
  );
});
