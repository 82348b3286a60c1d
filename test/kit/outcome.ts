import { expect } from 'vitest';
import { AppError } from '../../src/base/errors.ts';
import { threadMs } from './fuzz.ts';

/** The AppError that a call throws, or undefined; any other error fails the test. */
export function errorOf(run: () => unknown): AppError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    return error as AppError;
  }
}

/** The same for a promise. */
export async function rejectionOf(promise: Promise<unknown>): Promise<AppError | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    return error as AppError;
  }
}

/** Fails unless the call takes less of the processor's time. It has three chances; a slow algorithm fails all of them. */
export function within<T>(milliseconds: number, run: () => T): T {
  for (let chance = 1; ; chance += 1) {
    const started = threadMs();
    const result = run();
    const took = threadMs() - started;
    if (took < milliseconds) return result;
    if (chance === 3) expect(took).toBeLessThan(milliseconds);
  }
}
