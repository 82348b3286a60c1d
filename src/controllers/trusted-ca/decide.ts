import { injectTrustedCaLabel } from '#contract/names.ts';

export interface TrustedCaFacts {
  hasProxy: boolean;
  /** Labels of the ConfigMap in the cluster; undefined when there is none. */
  labels: Readonly<Record<string, string>> | undefined;
  /** It has a deletionTimestamp. */
  isDeleting: boolean;
}

/**
 * The cluster injects the bundle into ConfigMaps with the label; other labels stay. When the proxy is switched off, the ConfigMap stays
 * as it is, and hosts no longer get its bundle.
 */
export function decide({ hasProxy, labels, isDeleting }: TrustedCaFacts): 'create' | 'label' | 'keep' {
  if (!hasProxy) return 'keep';
  if (labels === undefined) return 'create';
  return isDeleting || labels[injectTrustedCaLabel] === 'true' ? 'keep' : 'label';
}
