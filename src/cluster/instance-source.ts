import { normalHostName } from '#base/dns-name.ts';
import { sha256 } from '#base/sha256.ts';
import { trimEndOf } from '#base/trim-end.ts';
import { type WindowsInstance, windowsInstances } from './windows-instance-resource.ts';
import { configMapName, instanceAnnotation, namespaceName } from '#contract/names.ts';
import type { InstanceSource } from '#contract/windows-instance/resource.ts';
import { referenceTo } from '#kube/events/events.ts';
import { configMaps, type ObjectReference } from '#kube/resources.ts';
import { machines } from '#kube/resources-openshift.ts';

/** What a WindowsInstance is made for: a Machine, or an entry of windows-instances by its key. */
export interface SourceRef {
  kind: Exclude<InstanceSource, 'Direct'>;
  name: string;
}

/** What made an instance; undefined for one that an administrator has made himself. */
export function sourceOf({ spec }: WindowsInstance): SourceRef | undefined {
  const { kind, name } = spec.source ?? {};
  return kind === undefined || kind === 'Direct' ? undefined : { kind, name: name ?? '' };
}

/** Equal for two spellings of one source. */
export function sourceText({ kind, name }: SourceRef): string {
  return `${kind}/${normalHostName(name)}`;
}

/**
 * Names for the instance of a source, the first for people: it is what they call the host. The second, which no other source
 * comes to, is for when somebody else has taken the first.
 */
export function instanceNames(source: SourceRef): [plain: string, distinct: string] {
  const plain = normalHostName(source.name);
  const suffix = `-${sha256(sourceText(source)).slice(0, 8)}`;
  return [plain, `${trimEndOf(plain.slice(0, maxNameLength - suffix.length), '.-')}${suffix}`];
}

const maxNameLength = 253;

/** Index of the store of instances by their source. */
export const bySource = 'source';

export function indexBySource(instance: WindowsInstance): string[] {
  const source = sourceOf(instance);
  return source === undefined ? [] : [sourceText(source)];
}

/** What an administrator looks at: whatever the instance was made for, or the instance itself. */
export function subjectOf(instance: WindowsInstance): ObjectReference {
  const source = sourceOf(instance);
  const { namespace = '', annotations = {} } = instance.metadata;
  if (source === undefined) return referenceTo(windowsInstances, instance);
  const uid = annotations[instanceAnnotation.sourceUid];
  const known = uid === undefined ? {} : { uid };
  return source.kind === 'Machine'
    ? referenceTo(machines, { metadata: { namespace: namespaceName.machineApi, name: source.name, ...known } })
    : referenceTo(configMaps, { metadata: { namespace, name: configMapName.instances, ...known } });
}
