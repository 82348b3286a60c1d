import { backoffMs } from '#base/waiting/backoff.ts';
import { timestamp } from '#base/clock.ts';

export interface Validity {
  notBeforeMs: number;
  notAfterMs: number;
}

/** Tolerated difference between the clocks of host and cluster; signers tolerate as much. */
const clockSkewMs = 5 * 60_000;

export const isExpired = ({ notAfterMs }: Validity, nowMs: number): boolean => nowMs >= notAfterMs;

/** Why a certificate is not valid now; undefined when it is. */
export function validityProblem(validity: Validity, nowMs: number): string | undefined {
  if (isExpired(validity, nowMs)) return `expired at ${timestamp(validity.notAfterMs)}`;
  const { notBeforeMs } = validity;
  return notBeforeMs > nowMs + clockSkewMs ? `is not valid before ${timestamp(notBeforeMs)}` : undefined;
}

/** A certificate in use. */
export interface Held extends Validity {
  /** When it was received, by the clock of the host; undefined for a stored one. */
  obtainedMs: number | undefined;
  /** Fraction of its lifetime after which it is renewed; random for each certificate. */
  fraction: number;
  /** True if the API server rejects it. */
  isRefused: boolean;
}

/** Random, so that hosts that started together do not request certificates together. */
export function drawFraction(random: number): number {
  return 0.5 + 0.2 * random;
}

export type Renewal = { isDue: true; why: string } | { isDue: false; atMs: number };

/** Whether a certificate is due for renewal, or else when. Checked every minute, because clocks jump and hosts sleep. */
export function renewalOf(held: Held | undefined, nowMs: number): Renewal {
  if (held === undefined) return { isDue: true, why: 'there is no certificate' };
  if (held.isRefused) return { isDue: true, why: 'the API server rejects the certificate' };
  const problem = validityProblem(held, nowMs);
  if (problem !== undefined) return { isDue: true, why: `the certificate ${problem}` };
  const atMs = renewalTimeMs(held);
  return nowMs >= atMs ? { isDue: true, why: 'half of its lifetime is over' } : { isDue: false, atMs };
}

/**
 * Signers backdate certificates by some minutes, so that a short-lived one may be past its fraction when it arrives. Then
 * the fraction is taken of the remaining time: a new certificate is never renewed at once.
 */
function renewalTimeMs({ notBeforeMs, notAfterMs, obtainedMs, fraction }: Held): number {
  const defaultMs = notBeforeMs + (notAfterMs - notBeforeMs) * fraction;
  if (obtainedMs === undefined) return defaultMs;
  const leftMs = notAfterMs - obtainedMs;
  return defaultMs < obtainedMs + leftMs / 2 ? obtainedMs + leftMs * fraction : defaultMs;
}

const retryLimits = { firstMs: 2000, maxMs: 32_000 };

/** The delay after a number of consecutive failures. */
export function retryDelayMs(failures: number, random: number): number {
  return backoffMs(retryLimits, failures) * (1 + 0.1 * random);
}
