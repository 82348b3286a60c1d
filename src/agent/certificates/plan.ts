import type { Certificate } from './bundle.ts';

export interface CertificatePlan {
  add: Certificate[];
  /** SHA-256 of imported certificates that are no longer wanted. */
  remove: string[];
  /** The new record of imported certificates; undefined when none is kept. */
  imported: Certificate[] | undefined;
  changed: boolean;
}

/**
 * A certificate that another program put into the store is neither recorded nor removed. Removing one that is missing by
 * now counts as a change, because running processes trust it until the reboot. `removed` are the SHA-256 of certificates
 * that the agent removed earlier: those that a power cut brought back are removed again.
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
  const owned = new Set([...(imported ?? []).map(certificate => certificate.sha256), ...back]);
  const add = [...wanted.values()].filter(({ sha256 }) => !present.has(sha256));
  const remove = [...owned].filter(sha256 => !wanted.has(sha256));
  const changed = add.length > 0 || remove.length > 0 || back.length > 0;
  const keep = [...wanted.values()].filter(({ sha256 }) => owned.has(sha256) || !present.has(sha256));
  const record = changed ? keep : imported?.slice();
  return { add, remove, imported: bundle === undefined ? undefined : record, changed };
}
