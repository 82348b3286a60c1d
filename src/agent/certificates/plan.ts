import type { Certificate } from './bundle.ts';

export interface CertificatePlan {
  add: Certificate[];
  /** SHA-256 of certificates we had imported and that are no longer wanted. */
  remove: string[];
  /** What we have imported, afterwards; undefined when no record is kept. */
  imported: Certificate[] | undefined;
  changed: boolean;
}

/**
 * Compares as sets. A certificate that was in the store before us is neither recorded nor ever removed. One to be removed
 * that has gone already still counts as a change, because processes may go on trusting it until the reboot. Of those that
 * we removed earlier, given by their SHA-256, some may have come back: they are ours as before.
 */
export function planCertificates(
  bundle: readonly Certificate[] | undefined,
  imported: readonly Certificate[] | undefined,
  store: readonly string[],
  removed: readonly string[] = [],
): CertificatePlan {
  const wanted = new Map((bundle ?? []).map(certificate => [certificate.sha256, certificate]));
  const present = new Set(store);
  const back = removed.filter(sha256 => present.has(sha256));
  const ours = new Set([...(imported ?? []).map(certificate => certificate.sha256), ...back]);
  const add = [...wanted.values()].filter(({ sha256 }) => !present.has(sha256));
  const remove = [...ours].filter(sha256 => !wanted.has(sha256));
  const changed = add.length > 0 || remove.length > 0 || back.length > 0;
  const keep = [...wanted.values()].filter(({ sha256 }) => ours.has(sha256) || !present.has(sha256));
  const record = changed ? keep : imported?.slice();
  return { add, remove, imported: bundle === undefined ? undefined : record, changed };
}
