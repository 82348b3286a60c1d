import { byteOrder, sameData } from '#base/compare.ts';
import type { WindowsInstance } from '../windows-instance-resource.ts';
import { instanceAnnotation, managedByLabel } from '#contract/names.ts';
import {
  windowsInstanceGroup,
  windowsInstanceKind,
  windowsInstanceVersion,
} from '#contract/windows-instance/resource.ts';
import { withoutRemoval } from '../instance-removal.ts';
import { instanceNames, type SourceRef, sourceText, sourceOf } from '../instance-source.ts';

/** What a source sets in its instance. Other fields of the spec belong to whoever set them. */
export interface WantedInstance {
  source: SourceRef;
  /** UID of the object behind the source. */
  sourceUid: string;
  address: string;
  username: string;
  /** Only where the source gives the host its name. */
  hostname?: string;
}

/** Instances that exist already. */
export interface PresentInstances {
  namespace: string;
  /** Of the same source. */
  own: readonly WindowsInstance[];
  /** Of any source. */
  named: (name: string) => WindowsInstance | undefined;
}

export type Plan =
  | { do: 'create'; instance: WindowsInstance }
  | { do: 'update'; before: WindowsInstance; after: WindowsInstance }
  | { do: 'keep' }
  /** The instance is being deleted; a new one is created after that. */
  | { do: 'wait' };

export function planInstance(wanted: WantedInstance, present: PresentInstances): Plan {
  const before = chooseInstance(wanted.source, present.own);
  if (before === undefined) return { do: 'create', instance: newInstance(wanted, present) };
  if (before.metadata.deletionTimestamp !== undefined) return { do: 'wait' };
  const annotations = { ...withoutRemoval(before.metadata.annotations), ...ownedAnnotations(wanted) };
  const after = {
    ...before,
    metadata: { ...before.metadata, annotations },
    spec: { ...before.spec, ...ownedFields(wanted) },
  };
  return sameData(before, after) ? { do: 'keep' } : { do: 'update', before, after };
}

/** Of several, the one with the name that the operator would choose; a user created the others. */
function chooseInstance(source: SourceRef, own: readonly WindowsInstance[]): WindowsInstance | undefined {
  const names = instanceNames(source);
  const rank = ({ metadata }: WindowsInstance) => {
    const index = names.indexOf(metadata.name ?? '');
    return index === -1 ? names.length : index;
  };
  return [...own].sort(
    (one, other) => rank(one) - rank(other) || byteOrder(one.metadata.name ?? '', other.metadata.name ?? ''),
  )[0];
}

function newInstance(wanted: WantedInstance, { namespace, named }: PresentInstances): WindowsInstance {
  const [plain, distinct] = instanceNames(wanted.source);
  const holder = named(plain);
  const isTaken = holder !== undefined && !isFrom(holder, wanted.source);
  return {
    apiVersion: `${windowsInstanceGroup}/${windowsInstanceVersion}`,
    kind: windowsInstanceKind,
    metadata: {
      name: isTaken ? distinct : plain,
      namespace,
      labels: { [managedByLabel.key]: managedByLabel.value },
      annotations: ownedAnnotations(wanted),
    },
    spec: ownedFields(wanted),
  };
}

function isFrom(instance: WindowsInstance, source: SourceRef): boolean {
  const other = sourceOf(instance);
  return other !== undefined && sourceText(other) === sourceText(source);
}

function ownedFields({ source, address, username, hostname }: WantedInstance): WindowsInstance['spec'] {
  const { kind, name } = source;
  return { address, username, source: { kind, name }, ...(hostname !== undefined && { hostname }) };
}

function ownedAnnotations({ sourceUid }: WantedInstance): Record<string, string> {
  return { [instanceAnnotation.sourceUid]: sourceUid };
}
