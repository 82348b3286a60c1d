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

/** A WindowsInstance as the API server returns it, which has validated it. */
export interface WindowsInstance extends KubeResource {
  spec: WindowsInstanceSpec;
  status?: WindowsInstanceStatus;
}

/**
 * Name of the Node that this host is: the one it has a certificate for, else the one that was read from it over the pinned
 * connection. Addresses never bind.
 */
export function boundNode({ status }: Pick<WindowsInstance, 'status'>): string | undefined {
  return status?.certifiedName ?? status?.host?.name ?? status?.node;
}

/** The oldest first, by name where two are of one age. */
export function byAge({ metadata: one }: WindowsInstance, { metadata: other }: WindowsInstance): number {
  const created = byteOrder(one.creationTimestamp ?? '', other.creationTimestamp ?? '');
  return created === 0 ? byteOrder(one.name ?? '', other.name ?? '') : created;
}

/** Index of the store of instances by the Node they are. */
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
