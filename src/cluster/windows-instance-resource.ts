import { byteOrder } from '#base/compare.ts';
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

export const windowsInstances = ofNamespace<WindowsInstance>(
  `${windowsInstanceGroup}/${windowsInstanceVersion}`,
  windowsInstanceKind,
  'windowsinstances',
);
