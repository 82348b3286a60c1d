import { backoffMs } from '#base/waiting/backoff.ts';
import { timestamp } from '#base/clock.ts';

export interface Validity {
  notBeforeMs: number;
  notAfterMs: number;
}

/** How far the clocks of host and cluster may be apart; signers allow as much. */
const clockSkewMs = 5 * 60_000;

export const isExpired = ({ notAfterMs }: Validity, nowMs: number): boolean => nowMs >= notAfterMs;

/** Why a certificate cannot be used at this time; undefined when it can. */
export function validityProblem(validity: Validity, nowMs: number): string | undefined {
  if (isExpired(validity, nowMs)) return `expired at ${timestamp(validity.notAfterMs)}`;
  const { notBeforeMs } = validity;
  return notBeforeMs > nowMs + clockSkewMs ? `is not valid before ${timestamp(notBeforeMs)}` : undefined;
}

/** A certificate in use. */
export interface Held extends Validity {
  /** When it was issued, by our clock; undefined for one that was found in the store. */
  obtainedMs: number | undefined;
  /** How much of its life it is used before it is renewed; drawn anew for each certificate. */
  fraction: number;
  /** Whether the API server did not accept it. */
  isRefused: boolean;
}

/** So that a fleet of hosts that started together does not ask for certificates together. */
export function drawFraction(random: number): number {
  return 0.5 + 0.2 * random;
}

export type Renewal = { isDue: true; why: string } | { isDue: false; atMs: number };

/** Whether a certificate has to be renewed now, or else when. Asked again every minute, since clocks jump and hosts sleep. */
export function renewalOf(held: Held | undefined, nowMs: number): Renewal {
  if (held === undefined) return { isDue: true, why: 'there is no certificate' };
  if (held.isRefused) return { isDue: true, why: 'the API server does not accept the certificate' };
  const problem = validityProblem(held, nowMs);
  if (problem !== undefined) return { isDue: true, why: `the certificate ${problem}` };
  const atMs = renewalTimeMs(held);
  return nowMs >= atMs ? { isDue: true, why: 'half of its life is over' } : { isDue: false, atMs };
}

/**
 * A fraction of the life of the certificate. Signers date certificates back by some minutes; of a short one most is over
 * when it arrives, so that the fraction is taken of what is left then: a new certificate is never renewed at once.
 */
function renewalTimeMs({ notBeforeMs, notAfterMs, obtainedMs, fraction }: Held): number {
  const defaultMs = notBeforeMs + (notAfterMs - notBeforeMs) * fraction;
  if (obtainedMs === undefined) return defaultMs;
  const leftMs = notAfterMs - obtainedMs;
  return defaultMs < obtainedMs + leftMs / 2 ? obtainedMs + leftMs * fraction : defaultMs;
}

const retryLimits = { firstMs: 2000, maxMs: 32_000 };

/** How long to wait after so many failures in a row, the first of them counted as 1. */
export function retryDelayMs(failures: number, random: number): number {
  return backoffMs(retryLimits, failures) * (1 + 0.1 * random);
}
