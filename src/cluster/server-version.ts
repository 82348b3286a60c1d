import { AppError, shown } from '#base/errors.ts';
import { kubeletSkew } from '#contract/supported-versions.ts';

const semver = /^v(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})(\.\d+)?([-+][0-9A-Za-z.+-]+)?$/;

/** Fails when the kubelet of the payload does not support the API server; pre-releases count as their version. */
export function checkServerVersion(gitVersion: string, kubeletVersion: string): void {
  const kubelet = readVersion(kubeletVersion, 'kubelet');
  const server = readVersion(gitVersion, 'server');
  const newest = kubelet.minor + kubeletSkew;
  if (server.major === kubelet.major && server.minor >= kubelet.minor && server.minor <= newest) return;
  const range = `v${kubelet.major}.${kubelet.minor}.x to v${kubelet.major}.${newest}.x`;
  throw new AppError(
    'SERVER_VERSION_UNSUPPORTED',
    `unsupported server version: ${gitVersion}. Supported versions are ${range}`,
    { remedy: `Install the operator release made for Kubernetes ${gitVersion}, or upgrade the cluster to ${range}.` },
  );
}

/** The newest version; invalid ones are ignored. */
export function newestVersion(versions: readonly string[]): string | undefined {
  const known = versions.filter(version => semver.test(version));
  return known.toSorted((one, other) => rank(other) - rank(one))[0];
}

function rank(version: string): number {
  const { major, minor } = readVersion(version, 'server');
  return major * 100_000 + minor;
}

function readVersion(text: string, component: string): { major: number; minor: number } {
  const [, major, minor] = semver.exec(text) ?? [];
  if (major !== undefined) return { major: Number(major), minor: Number(minor) };
  throw new AppError(
    'SERVER_VERSION_UNSUPPORTED',
    `unsupported ${component} version: ${shown(text)} is not a version`,
    {
      remedy: 'Use a version such as v1.36.2, as `oc version -o json` prints under serverVersion.gitVersion.',
    },
  );
}
