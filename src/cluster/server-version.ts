import { AppError, shown } from '#base/errors.ts';
import { kubeletSkew } from '#contract/supported-versions.ts';

const semver = /^v(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})(\.\d+)?([-+][0-9A-Za-z.+-]+)?$/;

/** Fails when the kubelet of the payload does not support the API server; pre-releases count as their version. */
export function checkServerVersion(gitVersion: string, kubeletVersion: string): void {
  const ahead = minorsAhead(gitVersion, kubeletVersion);
  if (ahead >= 0 && ahead <= kubeletSkew) return;
  const [oldest, newest] = supportedServers(kubeletVersion);
  const range = `${oldest}.x to ${newest}.x`;
  throw new AppError(
    'SERVER_VERSION_UNSUPPORTED',
    `unsupported server version: ${gitVersion}. Supported versions are ${range}`,
    { remedy: `Install the operator release made for Kubernetes ${gitVersion}, or upgrade the cluster to ${range}.` },
  );
}

/** By how many minor versions an API server is newer than a kubelet; negative when it is older. */
export function minorsAhead(server: string, kubelet: string): number {
  const [behind, ahead] = [readVersion(kubelet, 'kubelet'), readVersion(server, 'server')];
  if (ahead.major !== behind.major) return ahead.major > behind.major ? Infinity : -Infinity;
  return ahead.minor - behind.minor;
}

/** The oldest and the newest API server that a kubelet supports, such as v1.36 and v1.39. */
export function supportedServers(kubelet: string): [oldest: string, newest: string] {
  const { major, minor } = readVersion(kubelet, 'kubelet');
  return [`v${major}.${minor}`, `v${major}.${minor + kubeletSkew}`];
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
