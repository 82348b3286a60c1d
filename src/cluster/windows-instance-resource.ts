import { byteOrder } from '#base/compare.ts';
import { normalHostName } from '#base/dns-name.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { reportName } from '#contract/agent-report.ts';
import { stoppedVersion, provedVersion } from '#contract/windows-instance/upgrade-state.ts';
import {
  windowsInstanceGroup,
  windowsInstanceKind,
  type WindowsInstanceSpec,
  type WindowsInstanceStatus,
  windowsInstanceVersion,
} from '#contract/windows-instance/resource.ts';
import type { KubeResource } from '#kube/resource.ts';
import { ofNamespace } from '#kube/resources.ts';

/** As the API server returns it, validated by the CRD. */
export interface WindowsInstance extends KubeResource {
  spec: WindowsInstanceSpec;
  status?: WindowsInstanceStatus;
}

/**
 * Name of the Node of this host: the one it has a certificate for, else the one that was read over the pinned connection. Addresses
 * never decide this.
 */
export function boundNode({ status }: Pick<WindowsInstance, 'status'>): string | undefined {
  return status?.certifiedName ?? status?.host?.name ?? status?.node;
}

/** Oldest first, then by name. */
export function byAge({ metadata: one }: WindowsInstance, { metadata: other }: WindowsInstance): number {
  const created = byteOrder(one.creationTimestamp ?? '', other.creationTimestamp ?? '');
  return created === 0 ? byteOrder(one.name ?? '', other.name ?? '') : created;
}

/** Index of instances by their Node. */
export const byNode = 'node';

export function indexByNode(instance: WindowsInstance): string[] {
  const name = boundNode(instance);
  return name === undefined ? [] : [name];
}

/** Index of instances by the report of their agent. */
export const byReport = 'report';

export function indexByReport(instance: WindowsInstance): string[] {
  return indexByNode(instance).map(reportName);
}

/** Index of instances by the version whose roll-out they stop, or with which they have soaked. */
export const byRollout = 'rollout';

export const rolloutKey = {
  stopped: (version: string) => `stopped ${version}`,
  soaked: (version: string) => `soaked ${version}`,
} as const;

export function indexByRollout(instance: WindowsInstance): string[] {
  const { upgrade } = instance.status ?? {};
  const stopped = stoppedVersion(instance);
  const soaked = provedVersion(upgrade);
  return [
    ...(stopped === undefined ? [] : [rolloutKey.stopped(stopped)]),
    ...(soaked === undefined ? [] : [rolloutKey.soaked(soaked)]),
  ];
}

/** Index of instances by the names in their spec. */
export const bySpecName = 'spec name';

export function specNames({ spec }: WindowsInstance): string[] {
  const names = [spec.address, spec.hostname, ...(spec.servingNames ?? [])];
  return [...new Set(names.flatMap(name => (name === undefined ? [] : [normalHostName(name)])))];
}

/** Index of instances by the IPv4 address that the operator dials; what hosts report is not in it. */
export const byDialed = 'dialed';

export function dialedAddresses({ spec, status }: WindowsInstance): string[] {
  const resolved = isIpv4(spec.address) ? spec.address : status?.ipv4;
  return resolved === undefined ? [] : [resolved];
}

/** Index of instances by address and addresses of the host, in lower case. */
export const byAddress = 'address';

export function hostAddresses({ spec, status }: WindowsInstance): string[] {
  return [...new Set([spec.address, ...(status?.host?.addresses ?? [])].map(normalHostName))];
}

export const windowsInstances = ofNamespace<WindowsInstance>(
  `${windowsInstanceGroup}/${windowsInstanceVersion}`,
  windowsInstanceKind,
  'windowsinstances',
);
