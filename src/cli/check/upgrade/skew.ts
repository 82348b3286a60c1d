import { AppError, attempt } from '#base/errors.ts';
import { minorsAhead, supportedServers } from '#cluster/server-version.ts';
import { kubeletSkew } from '#contract/supported-versions.ts';
import { valueText } from '../../status/view/amounts.ts';
import type { HostView } from '../../status/view/host-view.ts';

/** Kubelets against API servers, and how far the cluster can go. */

export type KubeletHost = Pick<HostView, 'name' | 'node'>;

/** Why the kubelet of a host does not fit an API server of this version, or must not be overtaken by it. */
export function skewProblem({ name, node }: KubeletHost, server: string, remedy: string): AppError | undefined {
  if (node === undefined) return undefined;
  const kubelet = node.kubeletVersion ?? '';
  const read = attempt(() => minorsAhead(server, kubelet));
  if (!read.ok) {
    const text = kubelet === '' ? 'no version of its kubelet' : `the kubelet version ${valueText(kubelet)}`;
    const look = `Run \`kubectl describe node ${node.name}\`, and restart the service kubelet on the host.`;
    return new AppError('KUBELET_SKEW', `Node ${node.name} of host ${name} reports ${text}`, { remedy: look });
  }
  if (read.value >= 0 && read.value <= kubeletSkew) return undefined;
  const why =
    read.value < 0
      ? `newer than the API server ${server}`
      : `more than ${kubeletSkew} minor versions older than the API server ${server}`;
  return new AppError('KUBELET_SKEW', `host ${name}: its kubelet ${valueText(kubelet)} is ${why}`, { remedy });
}

/** The versions of the kubelets, each once. */
export function kubeletVersions(hosts: readonly KubeletHost[]): string[] {
  const versions = hosts.flatMap(({ node }) => (node?.kubeletVersion ? [valueText(node.kubeletVersion)] : []));
  return [...new Set(versions)].sort();
}

/** The newest API server that all kubelets support, such as v1.39; undefined when a version cannot be read. */
export function newestServer(hosts: readonly KubeletHost[]): string | undefined {
  const kubelets = hosts.map(({ node }) => node?.kubeletVersion ?? '');
  // A Node can claim a number so high that no version follows it.
  const isReadable = (kubelet: string) => attempt(() => supportedServers(supportedServers(kubelet)[1])).ok;
  if (!kubelets.every(isReadable)) return undefined;
  const [oldest] = kubelets.toSorted((one, other) => minorsAhead(one, other));
  return oldest === undefined ? undefined : supportedServers(oldest)[1];
}

/** The minor versions that an API server passes on its way, the target last; it takes one at a time. None when it is too far. */
export function hops(server: string, target: string): string[] {
  const count = minorsAhead(target, server);
  if (count > maxHops) return [];
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(server) ?? [];
  return Array.from({ length: Math.max(0, count) }, (_, index) => `v${major}.${Number(minor) + index + 1}`);
}

const maxHops = 10;
