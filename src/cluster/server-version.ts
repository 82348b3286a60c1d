import { AppError, shown } from '#base/errors.ts';

/** How many minor versions a kubelet may be older than the API server. It is never newer. */
const allowedSkew = 3;

const semver = /^v(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})(\.\d+)?([-+][0-9A-Za-z.+-]+)?$/;

/** Refuses an API server that does not go with our kubelet; pre-releases and builds of vendors count as their version. */
export function checkServerVersion(gitVersion: string, kubeletVersion: string): void {
  const kubelet = readVersion(kubeletVersion, 'kubelet');
  const server = readVersion(gitVersion, 'server');
  const newest = kubelet.minor + allowedSkew;
  if (server.major === kubelet.major && server.minor >= kubelet.minor && server.minor <= newest) return;
  const range = `v${kubelet.major}.${kubelet.minor}.x to v${kubelet.major}.${newest}.x`;
  throw new AppError(
    'SERVER_VERSION_UNSUPPORTED',
    `unsupported server version: ${gitVersion}. Supported versions are ${range}`,
    { remedy: `Install the operator release made for Kubernetes ${gitVersion}, or bring the cluster to ${range}.` },
  );
}

/** The newest of some version texts; what is no version is passed over. */
export function newestVersion(versions: readonly string[]): string | undefined {
  const known = versions.filter(version => semver.test(version));
  return known.toSorted((one, other) => rank(other) - rank(one))[0];
}

function rank(version: string): number {
  const { major, minor } = readVersion(version, 'server');
  return major * 100_000 + minor;
}

function readVersion(text: string, whose: string): { major: number; minor: number } {
  const [, major, minor] = semver.exec(text) ?? [];
  if (major !== undefined) return { major: Number(major), minor: Number(minor) };
  throw new AppError('SERVER_VERSION_UNSUPPORTED', `unsupported ${whose} version: ${shown(text)} is no version`, {
    remedy: 'Give a version such as v1.36.2, as `oc version -o json` shows it under serverVersion.gitVersion.',
  });
}
