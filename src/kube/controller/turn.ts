import { setImmediate } from 'node:timers/promises';

/** Lets the event loop run: for thousands of passes that never wait. */
export async function yieldToEventLoop(): Promise<void> {
  await setImmediate();
}
