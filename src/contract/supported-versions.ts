import { payloadKubeletVersion } from './version.ts';

/** One release of Windows Server that hosts can run. */
export interface WindowsVersion {
  /** Its year. */
  release: string;
  name: string;
  build: number;
  /** Last number of the full version, below which a host is rejected. */
  minimumUpdate: number;
  /** Why there is a minimum. */
  minimumReason?: string;
  /** Earlier systems send VXLAN to the default port only. */
  hasVxlanPort: boolean;
}

/** Every supported release; preflight rejects all others. */
export const windowsVersions: readonly WindowsVersion[] = [
  { release: '2019', name: 'Windows Server 2019', build: 17_763, minimumUpdate: 0, hasVxlanPort: false },
  {
    release: '2022',
    name: 'Windows Server 2022',
    build: 20_348,
    minimumUpdate: 681,
    minimumReason: 'KB5012637, without which the overlay network loses packets',
    hasVxlanPort: true,
  },
  { release: '2025', name: 'Windows Server 2025', build: 26_100, minimumUpdate: 0, hasVxlanPort: true },
];

export const windowsReleases: readonly string[] = windowsVersions.map(({ release }) => release);

/** Written by the kubelet; its value is a `buildText`. */
export const windowsBuildLabel = 'node.kubernetes.io/windows-build';

/** `10.0.20348`. */
export function buildText({ build }: Pick<WindowsVersion, 'build'>): string {
  return `10.0.${build}`;
}

/** The release of a full version such as `10.0.20348.2700`, or of a build label such as `10.0.20348`. */
export function windowsVersionOf(fullVersion: string): WindowsVersion | undefined {
  const [, , build = ''] = fullVersion.split('.');
  return windowsVersions.find(version => String(version.build) === build);
}

/** The platform on which the overlay cannot use the default VXLAN port. */
export const platformWithVxlanPort = 'VSphere';

/**
 * Releases that hosts on a platform can run.
 * @public
 */
export function windowsVersionsOn(platform: string): readonly WindowsVersion[] {
  return windowsVersions.filter(({ hasVxlanPort }) => hasVxlanPort || platform !== platformWithVxlanPort);
}

/** Kubernetes allows kubelets this many minor versions behind the API server, and none ahead of it. */
export const kubeletSkew = 3;

/**
 * What one release line of the operator is made for; the newest first.
 * @public
 */
export const operatorReleases = [
  { operator: '11.0', openshift: '5.0', kubelet: payloadKubeletVersion, kubernetes: '1.36' },
] as const;
