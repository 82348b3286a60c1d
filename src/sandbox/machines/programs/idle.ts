import type { Program } from '../host/process.ts';

/** A program that does nothing until it is stopped. */
export const idleProgram: Program = async life => {
  life.ready();
  await untilAborted(life.signal);
  return 0;
};

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
