import { whenAborted } from '#base/waiting/deadline.ts';
import type { Program } from '../host/process.ts';

/** A program that does nothing until it is stopped. */
export const idleProgram: Program = async life => {
  life.ready();
  await whenAborted(life.signal);
  return 0;
};
