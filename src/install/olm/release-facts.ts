import { kubeletSkew, operatorReleases } from '#contract/supported-versions.ts';

export interface ReleaseFacts {
  /** The oldest Kubernetes, such as 1.36.0. */
  kubernetes: string;
  /** OpenShift that the programs for hosts are made for, such as 5.0. */
  openshift: string;
  /** The newest OpenShift whose API server accepts the kubelet of this release. */
  newestOpenshift: string;
  /** Versions that an upgrade to this one can skip. */
  skipRange: string;
}

/** 10.22 for OpenShift 4.22 came before 11.0 for OpenShift 5.0. */
const lastMinors: Readonly<Record<number, number>> = { 10: 22 };

const semver = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})(-[0-9A-Za-z.-]{1,32})?$/;

/** What follows from the version of a release, such as 11.0.0. */
export function releaseFacts(version: string): ReleaseFacts {
  const [, major = '', minor = ''] = semver.exec(version) ?? [];
  const line = operatorReleases.find(({ operator }) => operator === `${major}.${minor}`);
  if (line === undefined)
    throw new Error(`version ${JSON.stringify(version)} has no row in src/contract/supported-versions.ts: add one`);
  const { kubernetes, openshift } = line;
  const [generation = '', openshiftMinor = ''] = openshift.split('.');
  return {
    kubernetes: `${kubernetes}.0`,
    openshift,
    newestOpenshift: `${generation}.${Number(openshiftMinor) + kubeletSkew}`,
    skipRange: `>=${formerLine(Number(major), Number(minor))}.0 <${version}`,
  };
}

function formerLine(major: number, minor: number): string {
  return minor === 0 ? `${major - 1}.${lastMinors[major - 1] ?? 0}` : `${major}.${minor - 1}`;
}
