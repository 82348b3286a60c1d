import type { OwnerReference, Resource } from '#kube/resource.ts';
import type { LocalApi, StoredObject } from '../ports.ts';
import { type Item, ownersOf } from './owner-index.ts';

export interface ClassifiedOwners {
  /** They are there, and keep their dependents. */
  solid: OwnerReference[];
  /** They are gone. */
  dangling: OwnerReference[];
  /** They are being deleted and wait for their dependents. */
  waiting: OwnerReference[];
}

/** Undefined when it cannot be said whether an owner exists; then nothing may be done. */
export function classifyOwners(object: StoredObject, item: Item, api: LocalApi): ClassifiedOwners | undefined {
  const owners: ClassifiedOwners = { solid: [], dangling: [], waiting: [] };
  for (const owner of ownersOf(object)) {
    const found = findOwner(owner, item, api);
    if (found.is === 'unknown') return undefined;
    if (found.is === 'gone') owners.dangling.push(owner);
    else owners[isWaiting(found.object) ? 'waiting' : 'solid'].push(owner);
  }
  return owners;
}

export type FoundOwner = { is: 'there'; item: Item; object: StoredObject } | { is: 'gone' } | { is: 'unknown' };

/** An owner is looked for in the namespace of its dependent, or in none; a new object of its name does not count. */
export function findOwner(owner: OwnerReference, dependent: Item, api: LocalApi): FoundOwner {
  const resource = api.resources().find(candidate => isOfKind(candidate, owner));
  // The kind may be served later. An owner in a namespace cannot own what has none.
  if (resource === undefined || (resource.namespaced && dependent.key.namespace === '')) return { is: 'unknown' };
  const key = { namespace: resource.namespaced ? dependent.key.namespace : '', name: owner.name };
  const object = api.get(resource, key);
  if (object?.metadata.uid !== owner.uid) return { is: 'gone' };
  return { is: 'there', item: { resource, key, uid: owner.uid }, object };
}

function isOfKind({ group, kind }: Resource, owner: OwnerReference): boolean {
  const slash = owner.apiVersion.indexOf('/');
  return kind === owner.kind && group === owner.apiVersion.slice(0, Math.max(slash, 0));
}

function isWaiting({ metadata }: StoredObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes('foregroundDeletion');
}
