import { byteOrder } from '#base/compare.ts';
import type { Resource } from '#kube/resource.ts';
import type { StoredObject } from '../ports.ts';

export interface NamespaceCondition {
  type: string;
  status: 'True' | 'False';
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/** What is still in a namespace that is being emptied. */
export type Remaining = readonly { resource: Resource; objects: readonly StoredObject[] }[];

/** How the conditions read while nothing is wrong. */
const fine: readonly (readonly [type: string, reason: string, message: string])[] = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  ['NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  [
    'NamespaceDeletionContentFailure',
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  ['NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed'],
  ['NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
];

/** The conditions of a namespace that is being deleted; times change with the status only. */
export function deletionConditions(
  remaining: Remaining,
  known: readonly NamespaceCondition[],
  now: string,
): NamespaceCondition[] {
  const problems = new Map([...contentProblem(remaining), ...finalizerProblem(remaining)]);
  return fine.map(([type, okReason, okMessage]) => {
    const [reason, message] = problems.get(type) ?? [okReason, okMessage];
    const status = problems.has(type) ? 'True' : 'False';
    const before = known.find(condition => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    return { type, status, lastTransitionTime, reason, message };
  });
}

type Problem = [type: string, [reason: string, message: string]];

function contentProblem(remaining: Remaining): Problem[] {
  if (remaining.length === 0) return [];
  const counts = remaining.map(
    ({ resource, objects }) => `${resource.plural}.${resource.group} has ${objects.length} resource instances`,
  );
  const message = `Some resources are remaining: ${counts.toSorted(byteOrder).join(', ')}`;
  return [['NamespaceContentRemaining', ['SomeResourcesRemain', message]]];
}

function finalizerProblem(remaining: Remaining): Problem[] {
  const finalizers = remaining.flatMap(({ objects }) => objects.flatMap(({ metadata }) => metadata.finalizers ?? []));
  if (finalizers.length === 0) return [];
  const counts = [...Map.groupBy(finalizers, name => name)].map(
    ([name, all]) => `${name} in ${all.length} resource instances`,
  );
  const list = counts.toSorted(byteOrder).join(', ');
  const message = `Some content in the namespace has finalizers remaining: ${list}`;
  return [['NamespaceFinalizersRemaining', ['SomeFinalizersRemain', message]]];
}
