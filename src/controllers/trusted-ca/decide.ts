import { injectTrustedCaLabel } from '#contract/names.ts';

export interface TrustedCaFacts {
  /** Labels of the ConfigMap in the cluster; undefined when there is none. */
  labels: Readonly<Record<string, string>> | undefined;
  /** It has a deletionTimestamp. */
  isDeleting: boolean;
}

/** The cluster injects the bundle into ConfigMaps with the label; other labels stay. */
export function decide({ labels, isDeleting }: TrustedCaFacts): 'create' | 'label' | 'keep' {
  if (labels === undefined) return 'create';
  return isDeleting || labels[injectTrustedCaLabel] === 'true' ? 'keep' : 'label';
}
