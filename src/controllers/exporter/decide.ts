import type { AppError } from '#base/errors.ts';

export type PairFacts =
  | { state: 'missing' | 'deleting' }
  /** `own` for a pair of this operator, `other` for one of the service CA, an administrator or a certificate manager. */
  | { state: 'own' | 'other'; problem: AppError | undefined; renewAtMs: number };

export interface ExporterFacts {
  hasServiceCa: boolean;
  pair: PairFacts;
  nowMs: number;
}

export interface ExporterDecision {
  pair: 'create' | 'renew' | 'delete' | 'keep';
  /** Whether the Service asks the service CA for a pair. */
  asksServiceCa: boolean;
}

/**
 * The operator issues a pair only in clusters without a service CA, and replaces only its own. If a service CA is installed later, the
 * own pair is deleted first: a service CA never replaces the Secret of another owner.
 */
export function decide({ hasServiceCa, pair, nowMs }: ExporterFacts): ExporterDecision {
  if (hasServiceCa) {
    const isOwn = pair.state === 'own';
    return { pair: isOwn ? 'delete' : 'keep', asksServiceCa: !isOwn };
  }
  return { pair: withoutServiceCa(pair, nowMs), asksServiceCa: false };
}

function withoutServiceCa(pair: PairFacts, nowMs: number): ExporterDecision['pair'] {
  if (pair.state === 'missing') return 'create';
  if (pair.state !== 'own') return 'keep';
  return pair.problem !== undefined || nowMs >= pair.renewAtMs ? 'renew' : 'keep';
}
