import { injectTrustedCaLabel } from '#contract/names.ts';

export interface TrustedCaFacts {
  /** Labels of the ConfigMap in the cluster; undefined when there is none. */
  labels: Readonly<Record<string, string>> | undefined;
  /** Somebody has deleted it, and something still holds it. */
  isLeaving: boolean;
}

/** The cluster fills in the bundle of its proxy wherever it finds the label; other labels are none of our business. */
export function decide({ labels, isLeaving }: TrustedCaFacts): 'create' | 'label' | 'keep' {
  if (labels === undefined) return 'create';
  return isLeaving || labels[injectTrustedCaLabel] === 'true' ? 'keep' : 'label';
}
