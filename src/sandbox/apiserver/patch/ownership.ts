import { FieldSet } from './field-set.ts';
import { type Comparison, compareValues } from './compare-values.ts';
import { type Manager, managerId } from './managers.ts';
import type { MergeType } from './merge-type.ts';

/** What nobody owns, because the server sets it or because it only says which object is meant. */
const unowned = [
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
  ['metadata', 'creationTimestamp'],
  ['metadata', 'selfLink'],
  ['metadata', 'uid'],
  ['metadata', 'clusterName'],
  ['metadata', 'generation'],
  ['metadata', 'managedFields'],
  ['metadata', 'resourceVersion'],
]
  .map(path => FieldSet.ofPath(...path.map(name => `f:${name}`)))
  .reduce((all, path) => all.union(path));

/** Which first members of an object a request can change at all. */
export type Reach = (step: string) => boolean;

/** A request to the object itself does not reach the status when that has a subresource; one to a subresource only that. */
export function reachOf(subresource: string, statusApart: boolean): Reach {
  if (subresource !== '') return step => step === 'f:status' || step === 'f:metadata';
  return statusApart ? step => step !== 'f:status' : () => true;
}

export function compareWithin(reach: Reach, type: MergeType, before: unknown, after: unknown): Comparison {
  const { added, removed, modified } = compareValues(type, before, after);
  return { added: added.filter(reach), removed: removed.filter(reach), modified: modified.filter(reach) };
}

/** Fields that one of the others owns although the change touches them. */
export function conflictsOf(
  managers: readonly Manager[],
  changing: string,
  comparison: Comparison,
): { manager: Manager; fields: FieldSet }[] {
  const touched = comparison.modified.union(comparison.added);
  return managers
    .filter(manager => managerId(manager) !== changing)
    .map(manager => ({ manager, fields: manager.fields.intersection(touched) }))
    .filter(({ fields }) => !fields.isEmpty);
}

/** The others keep what the change does not touch; who has nothing left goes. */
export function disown(managers: readonly Manager[], changing: string, comparison: Comparison): Manager[] {
  const lost = comparison.modified.union(comparison.added).union(comparison.removed);
  return managers
    .map(manager =>
      managerId(manager) === changing ? manager : { ...manager, fields: manager.fields.difference(lost) },
    )
    .filter(({ fields }) => !fields.isEmpty);
}

/** The fields somebody may be listed with. */
export function ownable(fields: FieldSet): FieldSet {
  return fields.difference(unowned);
}
