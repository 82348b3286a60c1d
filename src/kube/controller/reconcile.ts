import type { Log } from '#base/log.ts';
import type { Key } from '../resource.ts';

/** The result of a pass. Waiting is not a failure. */
export type Outcome = { done: true } | { after: number; why: string; keepsBackoff?: true };

export const done: Outcome = Object.freeze({ done: true });

/** Requeues the key after this time. */
export function after(ms: number, why: string): Outcome {
  return { after: ms, why };
}

/** Like `after`, for a key that still has to retry what failed before. */
export function afterInTurn(ms: number, why: string): Outcome {
  return { after: ms, why, keepsBackoff: true };
}

/** A failure that is not retried before the next change. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

export interface Pass {
  /** Aborted at the deadline of the pass and when the controller stops. */
  signal: AbortSignal;
  /** Adds controller, key and id of the pass to each line. */
  log: Log;
  id: string;
  /** 1, or more after failures in a row. */
  attempt: number;
}

/** Reconciles one key; keeps no state between passes. A missing object is not an error. */
export type Reconcile = (key: Key, pass: Pass) => Promise<Outcome>;
