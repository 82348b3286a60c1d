import type { EventText } from '#contract/events.ts';
import { configMapName, instanceAnnotation, namespaceName } from '#contract/names.ts';
import { type EventRecorder, referenceTo } from '#kube/events/events.ts';
import { configMaps, type ObjectReference } from '#kube/resources.ts';
import { machines } from '#kube/resources-openshift.ts';
import { sourceOf } from './instance-source.ts';
import { type WindowsInstance, windowsInstances } from './windows-instance-resource.ts';

/**
 * The objects on which events about an instance are recorded: the instance, for `kubectl describe`, after its source, where the Go
 * operator records them.
 */
export function eventObjects(instance: WindowsInstance): readonly ObjectReference[] {
  return [...sourceReference(instance), referenceTo(windowsInstances, instance)];
}

export function recordEvent(
  recorder: Pick<EventRecorder, 'record'>,
  instance: WindowsInstance,
  event: EventText,
): void {
  for (const object of eventObjects(instance)) recorder.record(object, event);
}

/** The Machine, or the ConfigMap windows-instances; empty for an instance that a user created. */
export function sourceReference(instance: WindowsInstance): readonly ObjectReference[] {
  const source = sourceOf(instance);
  if (source === undefined) return [];
  const { namespace = '', annotations = {} } = instance.metadata;
  const uid = annotations[instanceAnnotation.sourceUid];
  const known = uid === undefined ? {} : { uid };
  return source.kind === 'Machine'
    ? [referenceTo(machines, { metadata: { namespace: namespaceName.machineApi, name: source.name, ...known } })]
    : [referenceTo(configMaps, { metadata: { namespace, name: configMapName.instances, ...known } })];
}
