import { sameData } from '#base/compare.ts';
import type { Log } from '#base/log.ts';
import type { Key, OwnerReference } from '#kube/resource.ts';
import { events } from '#kube/resources.ts';
import { isKind } from '../auth/is-kind.ts';
import { withMetadata } from '../object.ts';
import type { Change, Controller, LocalApi, StoredObject } from '../ports.ts';
import { type Item, itemOf, OwnerIndex, ownersOf, ownerState } from './owner-index.ts';
import { createController } from './worker.ts';

const orphan = 'orphan';

/** Deletes objects that have lost their last owner. Deletion in the foreground is not supported. */
export function createGarbageCollector(log?: Log): Controller {
  const index = new OwnerIndex();
  const items = new Map<string, Item>();
  const keyOf = (item: Item): Key => {
    items.set(item.uid, item);
    return { namespace: '', name: item.uid };
  };
  return createController(
    {
      name: 'garbage-collector',
      begin: api =>
        api
          .resources()
          .filter(isCollected)
          .flatMap(resource => api.list(resource).map(object => [itemOf(resource, object), object] as const))
          .map(([item, object]) => {
            index.add(item, ownersOf(object));
            return keyOf(item);
          }),
      affected: change => (isCollected(change.resource) ? affectedBy(change, index).map(keyOf) : []),
      reconcile: ({ name }, api) => {
        const item = items.get(name);
        if (item === undefined) return;
        collect(item, index, api);
        if (api.get(item.resource, item.key)?.metadata.uid !== item.uid) items.delete(name);
      },
    },
    log,
  );
}

/** Events expire by themselves, and there are too many of them to index. */
function isCollected(resource: Item['resource']): boolean {
  return !isKind(resource, events);
}

/** Updates the index; returns the objects that may have to be deleted. */
function affectedBy({ type, resource, object, old }: Change, index: OwnerIndex): Item[] {
  const item = itemOf(resource, object);
  if (type === 'DELETED') {
    index.remove(item, ownersOf(object));
    return index.dependentsOf(item.uid);
  }
  const [before, after] = [ownersOf(old), ownersOf(object)];
  const ownersChanged = !sameData(before, after);
  if (ownersChanged) {
    index.remove(item, before);
    index.add(item, after);
  }
  return ownersChanged || (orphansDependents(object) && !orphansDependents(old)) ? [item] : [];
}

function collect(item: Item, index: OwnerIndex, api: LocalApi): void {
  const object = api.get(item.resource, item.key);
  if (object?.metadata.uid !== item.uid) return;
  if (orphansDependents(object)) releaseDependents(item, object, index, api);
  else if (object.metadata.deletionTimestamp === undefined) collectDependent(item, object, api);
}

function releaseDependents(item: Item, object: StoredObject, index: OwnerIndex, api: LocalApi): void {
  for (const { resource, key } of index.dependentsOf(item.uid)) {
    const dependent = api.get(resource, key);
    const owners = ownersOf(dependent).filter(({ uid }) => uid !== item.uid);
    if (dependent !== undefined) setOwners(dependent, { resource }, owners, api);
  }
  const finalizers = (object.metadata.finalizers ?? []).filter(name => name !== orphan);
  api.replace(item.resource, withMetadata(object, { finalizers: finalizers.length === 0 ? undefined : finalizers }));
}

function collectDependent(item: Item, object: StoredObject, api: LocalApi): void {
  const owners = ownersOf(object);
  const states = owners.map(owner => ownerState(owner, item, api));
  if (owners.length === 0 || states.includes('unknown')) return;
  if (states.includes('exists')) {
    const left = owners.filter((_, at) => states[at] === 'exists');
    if (left.length < owners.length) setOwners(object, item, left, api);
    return;
  }
  const propagationPolicy = object.metadata.finalizers?.includes(orphan) ? 'Orphan' : 'Background';
  api.delete(item.resource, item.key, { propagationPolicy, preconditions: { uid: item.uid } });
}

function setOwners(
  object: StoredObject,
  { resource }: Pick<Item, 'resource'>,
  owners: readonly OwnerReference[],
  api: LocalApi,
): void {
  api.replace(resource, withMetadata(object, { ownerReferences: owners.length === 0 ? undefined : owners }));
}

function orphansDependents(object: StoredObject | undefined): boolean {
  const metadata = object?.metadata;
  return metadata?.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(orphan);
}
