import { byteOrder, sameData } from '#base/compare.ts';
import type { WindowsInstance } from '../windows-instance-resource.ts';
import { instanceAnnotation, managedByLabel } from '#contract/names.ts';
import {
  windowsInstanceGroup,
  windowsInstanceKind,
  windowsInstanceVersion,
} from '#contract/windows-instance/resource.ts';
import { instanceNames, type SourceRef, sourceText, sourceOf } from '../instance-source.ts';

/** What a source wants of its instance. Whatever else is in the spec belongs to whoever has put it there. */
export interface WantedInstance {
  source: SourceRef;
  /** UID of the object behind the source. */
  sourceUid: string;
  address: string;
  username: string;
  /** Only where the source gives the host its name. */
  hostname?: string;
}

/** What there is already. */
export interface PresentInstances {
  namespace: string;
  /** Those of the same source. */
  own: readonly WindowsInstance[];
  /** Any instance of this name. */
  named: (name: string) => WindowsInstance | undefined;
}

export type Plan =
  | { do: 'create'; instance: WindowsInstance }
  | { do: 'update'; before: WindowsInstance; after: WindowsInstance }
  | { do: 'nothing' }
  /** The instance is being deleted; when it is gone another can be made. */
  | { do: 'wait' };

export function planInstance(wanted: WantedInstance, present: PresentInstances): Plan {
  const before = chosen(wanted.source, present.own);
  if (before === undefined) return { do: 'create', instance: newInstance(wanted, present) };
  if (before.metadata.deletionTimestamp !== undefined) return { do: 'wait' };
  const annotations = { ...before.metadata.annotations, ...ownedAnnotations(wanted) };
  const after = {
    ...before,
    metadata: { ...before.metadata, annotations },
    spec: { ...before.spec, ...ownedFields(wanted) },
  };
  return sameData(before, after) ? { do: 'nothing' } : { do: 'update', before, after };
}

/** Of several, the one under the name we would give; whoever has made the others answers for them. */
function chosen(source: SourceRef, own: readonly WindowsInstance[]): WindowsInstance | undefined {
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
  const isTaken = holder !== undefined && !isOf(holder, wanted.source);
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

function isOf(instance: WindowsInstance, source: SourceRef): boolean {
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
