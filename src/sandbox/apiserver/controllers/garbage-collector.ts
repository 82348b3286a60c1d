import { sameData } from '#base/compare.ts';
import type { Log } from '#base/log.ts';
import { type Key, type OwnerReference } from '#kube/resource.ts';
import { events } from '#kube/resources.ts';
import { isKind } from '../auth/is-kind.ts';
import { withMetadata } from '../object.ts';
import type { Change, Controller, LocalApi, LocalDeleteOptions, StoredObject } from '../ports.ts';
import { type Item, itemOf, OwnerIndex, ownersOf } from './owner-index.ts';
import { classifyOwners, findOwner } from './owners.ts';
import { createController } from './worker.ts';

const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/** Deletes what has lost its last owner, and sees to deletions that wait for dependents or let them go. */
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
      affected: (change, api) => (isCollected(change.resource) ? affectedBy(change, index, api).map(keyOf) : []),
      reconcile: ({ name }, api) => {
        const item = items.get(name);
        if (item === undefined) return undefined;
        collect(item, index, api);
        if (api.get(item.resource, item.key)?.metadata.uid !== item.uid) items.delete(name);
        return undefined;
      },
    },
    log,
  );
}

/** Events come and go by themselves, and too many of them. */
function isCollected(resource: Item['resource']): boolean {
  return !isKind(resource, events) && resource.group !== 'events.k8s.io';
}

/** Brings the index up to date and names the objects that may have to go or may be free to go now. */
function affectedBy({ type, resource, object, old }: Change, index: OwnerIndex, api: LocalApi): Item[] {
  const item = itemOf(resource, object);
  if (type === 'DELETED') {
    index.remove(item, ownersOf(object));
    return [...index.dependentsOf(item.uid), ...ownerItems(ownersOf(object), item, api)];
  }
  const [before, after] = [ownersOf(old), ownersOf(object)];
  const ownersChanged = !sameData(before, after);
  if (ownersChanged) {
    index.remove(item, before);
    index.add(item, after);
  }
  const startsDeletion = [foreground, orphan].some(name => isDeletedBy(object, name) && !isDeletedBy(old, name));
  return [
    ...(ownersChanged ? [item, ...ownerItems(before, item, api)] : []),
    ...(startsDeletion ? [item, ...index.dependentsOf(item.uid)] : []),
  ];
}

function ownerItems(owners: readonly OwnerReference[], dependent: Item, api: LocalApi): Item[] {
  return owners.flatMap(owner => {
    const found = findOwner(owner, dependent, api);
    return found.is === 'there' ? [found.item] : [];
  });
}

function collect(item: Item, index: OwnerIndex, api: LocalApi): void {
  const object = api.get(item.resource, item.key);
  if (object === undefined || object.metadata.uid !== item.uid) return;
  if (isDeletedBy(object, orphan)) orphanDependents(item, index, api);
  else if (isDeletedBy(object, foreground)) awaitDependents(item, index, api);
  else if (object.metadata.deletionTimestamp === undefined && ownersOf(object).length > 0) {
    collectDependent(item, object, index, api);
  }
}

function orphanDependents(item: Item, index: OwnerIndex, api: LocalApi): void {
  for (const dependent of index.dependentsOf(item.uid)) removeOwners(dependent, new Set([item.uid]), api);
  removeFinalizer(item, orphan, api);
}

/** Dependents are objects of their own and are looked at for themselves; the owner goes once none of them blocks it. */
function awaitDependents(item: Item, index: OwnerIndex, api: LocalApi): void {
  const blocks = (dependent: Item) =>
    ownersOf(api.get(dependent.resource, dependent.key)).some(
      owner => owner.uid === item.uid && owner.blockOwnerDeletion === true,
    );
  if (!index.dependentsOf(item.uid).some(blocks)) removeFinalizer(item, foreground, api);
}

function collectDependent(item: Item, object: StoredObject, index: OwnerIndex, api: LocalApi): void {
  const owners = classifyOwners(object, item, api);
  if (owners === undefined) return;
  const { solid, dangling, waiting } = owners;
  if (solid.length > 0) {
    const gone = [...dangling, ...waiting].map(({ uid }) => uid);
    if (gone.length > 0) removeOwners(item, new Set(gone), api);
    return;
  }
  const dependents = index.dependentsOf(item.uid);
  if (waiting.length === 0 || dependents.length === 0) return remove(item, policyOf(object), api);
  // A circle of owners that all wait for each other would never end.
  const inCircle = dependents.some(({ resource, key }) => isDeletedBy(api.get(resource, key), foreground));
  if (inCircle) unblock(object, item, api);
  remove(item, 'Foreground', api);
}

function policyOf({ metadata }: StoredObject): NonNullable<LocalDeleteOptions['propagationPolicy']> {
  if (metadata.finalizers?.includes(orphan)) return 'Orphan';
  return metadata.finalizers?.includes(foreground) ? 'Foreground' : 'Background';
}

function remove(
  { resource, key, uid }: Item,
  propagationPolicy: NonNullable<LocalDeleteOptions['propagationPolicy']>,
  api: LocalApi,
): void {
  api.delete(resource, key, { propagationPolicy, preconditions: { uid } });
}

function removeOwners({ resource, key, uid }: Item, gone: ReadonlySet<string>, api: LocalApi): void {
  const object = api.get(resource, key);
  if (object?.metadata.uid !== uid) return;
  const ownerReferences = ownersOf(object).filter(owner => !gone.has(owner.uid));
  api.replace(
    resource,
    withMetadata(object, { ownerReferences: ownerReferences.length === 0 ? undefined : ownerReferences }),
  );
}

function unblock(object: StoredObject, { resource }: Item, api: LocalApi): void {
  const ownerReferences = ownersOf(object).map(owner => ({ ...owner, blockOwnerDeletion: false }));
  api.replace(resource, withMetadata(object, { ownerReferences }));
}

function removeFinalizer({ resource, key, uid }: Item, name: string, api: LocalApi): void {
  const object = api.get(resource, key);
  if (object?.metadata.uid !== uid) return;
  const finalizers = (object.metadata.finalizers ?? []).filter(finalizer => finalizer !== name);
  api.replace(resource, withMetadata(object, { finalizers: finalizers.length === 0 ? undefined : finalizers }));
}

function isDeletedBy(object: StoredObject | undefined, finalizer: string): boolean {
  const metadata = object?.metadata;
  return metadata?.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}
