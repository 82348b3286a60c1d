import { setImmediate } from 'node:timers/promises';

/** Lets all others have their turn: for passes that wait for nothing and come in thousands. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
}
