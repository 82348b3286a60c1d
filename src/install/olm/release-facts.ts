import { kubeletSkew } from '#contract/supported-versions.ts';

export interface ReleaseFacts {
  /** Versions of Kubernetes and OpenShift that the programs for hosts are made for, such as 1.36.0 and 5.0. */
  kubernetes: string;
  openshift: string;
  /** The newest OpenShift whose API server accepts the kubelet of this release. */
  newestOpenshift: string;
  /** Versions that an upgrade to this one can skip. */
  skipRange: string;
}

/** Kubernetes minor of the first OpenShift of each generation; 10.y is for OpenShift 4.y, 11.y for 5.y. */
const generations: Readonly<Record<number, { openshift: number; firstMinor: number; lastOfFormer?: number }>> = {
  10: { openshift: 4, firstMinor: 13 },
  11: { openshift: 5, firstMinor: 36, lastOfFormer: 22 },
};

const semver = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})(-[0-9A-Za-z.-]{1,32})?$/;

/** What follows from the version of a release, such as 11.0.0. */
export function releaseFacts(version: string): ReleaseFacts {
  const [, major, minor] = semver.exec(version) ?? [];
  const generation = generations[Number(major)];
  if (major === undefined || generation === undefined)
    throw new Error(`version ${JSON.stringify(version)}: expected one of ${Object.keys(generations).join(', ')}.Y.Z`);
  const { openshift, firstMinor, lastOfFormer } = generation;
  const kubernetesMinor = firstMinor + Number(minor);
  return {
    kubernetes: `1.${kubernetesMinor}.0`,
    openshift: `${openshift}.${minor}`,
    newestOpenshift: `${openshift}.${Number(minor) + kubeletSkew}`,
    skipRange: `>=${formerMinor(Number(major), Number(minor), lastOfFormer)}.0 <${version}`,
  };
}

function formerMinor(major: number, minor: number, lastOfFormer = 0): string {
  return minor === 0 ? `${major - 1}.${lastOfFormer}` : `${major}.${minor - 1}`;
}
