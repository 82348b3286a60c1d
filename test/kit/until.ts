import { expect } from 'vitest';

/** Fails with `what` when it is still not so after the limit that vitest.config.ts sets for polls. */
export async function until(isSo: () => unknown, what = 'the condition is true'): Promise<void> {
  await expect.poll(async () => Boolean(await isSo()), { interval: 20, message: what }).toBe(true);
}
