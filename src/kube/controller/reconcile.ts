import type { Log } from '#base/log.ts';
import type { Key } from '../resource.ts';

/** What a pass ends with. Waiting is a value with a reason, and not a failure. */
export type Outcome = { done: true } | { after: number; why: string };

export const done: Outcome = Object.freeze({ done: true });

/** Asks to be called again after that many milliseconds. */
export function after(ms: number, why: string): Outcome {
  return { after: ms, why };
}

/** A failure that no retry can fix: it is reported, and the key rests until something changes. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** What one pass is given beside the key. */
export interface Pass {
  /** Aborted at the deadline of the pass and when the controller stops. */
  signal: AbortSignal;
  /** Marks each line with controller, key and the id of this pass. */
  log: Log;
  id: string;
  /** 1, or more after failures in a row. */
  attempt: number;
}

/** Looks, decides and acts for one key; keeps nothing between passes. An object that is gone is no error. */
export type Reconcile = (key: Key, pass: Pass) => Promise<Outcome>;
