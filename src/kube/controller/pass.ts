import { notNeeded } from '#base/waiting/abort.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';
import type { Outcome } from './reconcile.ts';
import { type Key, keyText } from '../resource.ts';

export type Ended = { ms: number } & (
  | { is: 'done' }
  | { is: 'waiting'; afterMs: number; why: string; keepsBackoff: boolean }
  | { is: 'failed'; error: Error; isBug: boolean }
);

export interface PassLimits {
  clock: Clock;
  passTimeoutMs: number;
  overdueGraceMs: number;
  key: Key;
}

/** Runs one pass. `ended` never rejects; `overdue` resolves with true when the pass ignores its deadline. */
export function runPass(
  reconcile: () => Promise<Outcome>,
  abort: AbortController,
  limits: PassLimits,
): { ended: Promise<Ended>; overdue: Promise<boolean> } {
  const { clock } = limits;
  const startMs = clock.monotonicMs();
  const over = new AbortController();
  const overdue = guard(abort, limits, over.signal);
  const ended = settle(reconcile).then(end => {
    over.abort(notNeeded);
    return { ...end, ms: clock.monotonicMs() - startMs };
  });
  return { ended, overdue };
}

async function guard(abort: AbortController, limits: PassLimits, over: AbortSignal): Promise<boolean> {
  const { clock, passTimeoutMs, overdueGraceMs, key } = limits;
  try {
    await clock.sleep(passTimeoutMs, over);
    abort.abort(
      new AppError('PASS_TIMEOUT', `${keyText(key)}: the reconcile pass took longer than ${passTimeoutMs / 1000} s`, {
        remedy: 'Check the log for what it waited for.',
      }),
    );
    await clock.sleep(overdueGraceMs, over);
    return true;
  } catch {
    // The pass has ended, and the worker waits for `ended`.
    return new Promise(() => undefined);
  }
}

/** Turns anything thrown into a value. */
async function settle(reconcile: () => Promise<Outcome>) {
  try {
    return judge(await reconcile());
  } catch (thrown) {
    return { is: 'failed' as const, ...asError(thrown) };
  }
}

function judge(outcome: unknown) {
  if (isRecord(outcome)) {
    const { after, why } = outcome;
    if (outcome['done'] === true) return { is: 'done' as const };
    const keepsBackoff = outcome['keepsBackoff'] === true;
    if (isDelay(after)) return { is: 'waiting' as const, afterMs: after, why: String(why), keepsBackoff };
  }
  const error = new Error(`the pass returned ${shown(outcome)}, which is not an outcome`);
  return { is: 'failed' as const, error, isBug: true };
}

function isDelay(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}

/** Errors of the JavaScript engine are bugs. */
function asError(thrown: unknown): { error: Error; isBug: boolean } {
  if (!(thrown instanceof Error)) return { error: new Error(`the pass threw ${shown(thrown)}`), isBug: true };
  const isBug = [TypeError, ReferenceError, RangeError, SyntaxError].some(type => thrown instanceof type);
  return { error: thrown, isBug };
}
