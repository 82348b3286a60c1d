import type { Resource } from '#kube/resource.ts';

/** Compares kinds regardless of their version. */
export function isKind(
  resource: Pick<Resource, 'group' | 'plural'>,
  kind: Pick<Resource, 'group' | 'plural'>,
): boolean {
  return resource.group === kind.group && resource.plural === kind.plural;
}
