import { isKubernetesAtLeast } from '#contract/kubernetes-version.ts';

/** First minor version of Kubernetes 1 in which the kubelet has no flag --cloud-config and exits if it is set. */
const withoutCloudConfig = 34;

/** Gates that Windows nodes need, each with the first minor version of Kubernetes 1 in which it is always on. */
const kubeletGates: readonly Gate[] = [
  ['NodeLogQuery', 36],
  ['RotateKubeletServerCertificate', undefined],
];
const kubeProxyGates: readonly Gate[] = [
  ['WinDSR', 34],
  ['WinOverlay', 34],
];

type Gate = readonly [name: string, alwaysOnSince: number | undefined];

/** An unknown version is treated like an old one, as the Go operator does. */
export function acceptsCloudConfig(version: string | undefined): boolean {
  return isBefore(withoutCloudConfig, version);
}

/** A later release rejects gates that are always on, so they are set only where they have an effect. */
export function kubeletFeatureGates(version: string | undefined): Record<string, true> {
  return Object.fromEntries(gatesFor(version, kubeletGates).map(name => [name, true]));
}

export function kubeProxyFeatureGates(version: string | undefined): string[] {
  return gatesFor(version, kubeProxyGates);
}

function gatesFor(version: string | undefined, gates: readonly Gate[]): string[] {
  return gates.filter(([, since]) => since === undefined || isBefore(since, version)).map(([name]) => name);
}

function isBefore(minor: number, version = ''): boolean {
  return !isKubernetesAtLeast(version, minor);
}
