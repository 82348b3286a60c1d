import { normalHostName } from '#base/dns-name.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { sourceOf } from './instance-source.ts';
import { boundNode, type WindowsInstance } from './windows-instance-resource.ts';

export function isRemovalRequested({ metadata }: WindowsInstance): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, instanceAnnotation.removal);
}

/** The removal skips the host. */
export function isForced({ metadata }: WindowsInstance): boolean {
  const { [instanceAnnotation.forceRemoval]: value = 'false' } = metadata.annotations ?? {};
  return value !== 'false';
}

/** True if neither the instance nor its host is to be removed. */
export function isStaying(instance: WindowsInstance): boolean {
  return instance.metadata.deletionTimestamp === undefined && !isRemovalRequested(instance);
}

/** For an instance whose source exists, or exists again. */
export function withoutRemoval(annotations: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { [instanceAnnotation.removal]: _removal, [instanceAnnotation.forceRemoval]: _force, ...rest } = annotations;
  return rest;
}

/** Whether the instance gives up its host: its removal is requested, or its entry of windows-instances is not listed. */
export function isLeaving(instance: WindowsInstance, isListed: (host: string) => boolean): boolean {
  if (isRemovalRequested(instance)) return true;
  const source = sourceOf(instance);
  return source?.kind === 'ConfigMap' && !isListed(normalHostName(source.name));
}

/** Whether there is anything on the host that a removal has to clean. */
export function hasTouchedHost(instance: WindowsInstance): boolean {
  return boundNode(instance) !== undefined || instance.status?.touched !== undefined;
}

/** Whether a removal has begun to take the Node out of service, or to clean its host. */
export function isBeingRemoved({ journey, timeline = [] }: WindowsInstanceStatus): boolean {
  return journey?.name === 'remove' && timeline.some(({ name }) => !stepsBeforeRemoval.has(name));
}

const stepsBeforeRemoval: ReadonlySet<string> = new Set(['confirm removal', 'connect', 'agent program', 'inventory']);

/** Another instance that has the host of this one, which gives it up. Clones can share a host key, so the name counts, too. */
export function successorOf(
  instance: WindowsInstance,
  named: readonly WindowsInstance[],
  mayBe: (instance: WindowsInstance) => boolean = isStaying,
): WindowsInstance | undefined {
  const [key, node] = [instance.status?.hostKey, boundNode(instance)];
  if (key === undefined || node === undefined) return undefined;
  const isOther = (other: WindowsInstance) => other.metadata.uid !== instance.metadata.uid;
  return named.find(
    other => isOther(other) && other.status?.hostKey === key && other.status.host?.name === node && mayBe(other),
  );
}
