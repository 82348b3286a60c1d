import { normalHostName } from '#base/dns-name.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { TimelineStep, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { sourceOf } from './instance-source.ts';
import { boundNode, type WindowsInstance } from './windows-instance-resource.ts';

export function isRemovalRequested({ metadata }: WindowsInstance): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, instanceAnnotation.removal);
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

/** Whether a journey may have left something on the host, or its Node exists. */
export function hasTouchedHost(instance: WindowsInstance): boolean {
  const { hostKey, timeline = [] } = instance.status ?? {};
  return boundNode(instance) !== undefined || (hostKey !== undefined && timeline.some(touchesHost));
}

function touchesHost({ name }: Pick<TimelineStep, 'name'>): boolean {
  return !harmlessSteps.has(name);
}

/** Whether a removal has begun to take the Node out of service, or to clean its host. */
export function isBeingRemoved({ journey, timeline = [] }: WindowsInstanceStatus): boolean {
  return journey?.name === 'remove' && timeline.some(({ name }) => !stepsBeforeRemoval.has(name));
}

/** Steps before the first command or upload. */
const harmlessSteps: ReadonlySet<string> = new Set(['connect', 'queued', 'prepare files', 'prepare agent']);

const stepsBeforeRemoval: ReadonlySet<string> = new Set([
  ...harmlessSteps,
  'confirm removal',
  'agent program',
  'inventory',
]);
