import { timestamp } from '#base/clock.ts';
import type { Call, Core } from '../core.ts';
import { findObject, requireObject } from '../core.ts';
import { withMetadata } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { conflict, forbidden } from '../status.ts';
import type { DeleteOptions } from './delete-options.ts';

export interface Deleted {
  object: StoredObject;
  /** False while finalizers or a grace period delay the deletion. */
  gone: boolean;
}

const keptNamespaces = ['default', 'kube-system', 'kube-public'];

/** Deletes an object, or marks it for deletion if something blocks it. Returns it in the requested version. */
export function deleteObject(core: Core, call: Call, options: DeleteOptions): Deleted {
  const current = requireObject(core, call);
  checkPreconditions(call, options, current);
  if (call.kind.plural === 'namespaces' && keptNamespaces.includes(call.name))
    throw forbidden(call.kind, call.name, 'this namespace may not be deleted');
  core.identity.admission?.admit({
    user: call.user,
    operation: 'delete',
    resource: call.kind,
    subresource: '',
    object: current,
    old: current,
  });
  const deleted = isDeleting(current) ? deleteAgain(core, call, current, options) : begin(core, call, current, options);
  return { ...deleted, object: call.kind.fromStored(deleted.object) };
}

function begin(core: Core, call: Call, current: StoredObject, options: DeleteOptions): Deleted {
  const { kind } = call;
  const now = core.clock.now();
  const held = withMetadata(current, { finalizers: finalizersAfter(current, options) });
  const grace = kind.graceSeconds(current, options.gracePeriodSeconds);
  const waits = kind.deletionBlockers(held).length > 0;
  if (grace === undefined && !waits) return removeObject(core, call, current);
  const { generation } = current.metadata;
  const marked = withMetadata(held, {
    deletionTimestamp: timestamp(now + (grace ?? 0) * 1000),
    ...(kind.setsGracePeriod ? { deletionGracePeriodSeconds: grace ?? 0 } : {}),
    // The generation changes so that controllers see the deletion.
    ...(generation === undefined || !kind.setsGracePeriod ? {} : { generation: generation + 1 }),
  });
  const object = store(core, call, kind.markDeleted(marked, timestamp(now)));
  return waits || (grace ?? 0) > 0 ? { object, gone: false } : { ...removeObject(core, call, object), object };
}

/** A second delete can only shorten the grace period or change the propagation policy. */
function deleteAgain(core: Core, call: Call, current: StoredObject, options: DeleteOptions): Deleted {
  const { kind } = call;
  const { deletionGracePeriodSeconds: grace = 0, deletionTimestamp = '' } = current.metadata;
  const asked = options.gracePeriodSeconds;
  const graceful = kind.graceSeconds(current, 0) !== undefined;
  if (graceful && grace > 0 && (asked === undefined || asked >= grace)) return { object: current, gone: false };
  const held = withMetadata(current, { finalizers: finalizersAfter(current, options) });
  const waits = kind.deletionBlockers(held).length > 0;
  if (!graceful) return waits ? { object: store(core, call, held), gone: false } : removeObject(core, call, current);
  const shorter = Math.min(asked ?? 0, grace);
  const object = store(
    core,
    call,
    withMetadata(held, {
      deletionTimestamp: timestamp(Date.parse(deletionTimestamp) - (grace - shorter) * 1000),
      deletionGracePeriodSeconds: shorter,
    }),
  );
  return waits || shorter > 0 ? { object, gone: false } : { ...removeObject(core, call, object), object };
}

function store(core: Core, call: Call, next: StoredObject): StoredObject {
  const current = findObject(core, call);
  const same = current !== undefined && JSON.stringify(current) === JSON.stringify(next);
  return call.dryRun || same ? next : core.store.write(call.kind.storageKey, next);
}

function removeObject(core: Core, call: Call, object: StoredObject): Deleted {
  if (!call.dryRun) core.store.remove(call.kind.storageKey, { namespace: call.namespace, name: call.name });
  return { object, gone: true };
}

function isDeleting(object: StoredObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** The propagation policy is stored as a finalizer for the garbage collector. */
function finalizersAfter({ metadata }: StoredObject, { propagationPolicy }: DeleteOptions): string[] | undefined {
  const { finalizers = [] } = metadata;
  if (propagationPolicy === undefined) return metadata.finalizers;
  const others = finalizers.filter(name => name !== 'orphan');
  const next = propagationPolicy === 'Orphan' ? [...others, 'orphan'] : others;
  return next.length === 0 ? undefined : next;
}

function checkPreconditions(call: Call, { preconditions }: DeleteOptions, { metadata }: StoredObject): void {
  // This message contains the kind instead of the plural.
  const subject = { group: call.kind.group, plural: call.kind.kind };
  const { uid, resourceVersion } = preconditions ?? {};
  if (uid !== undefined && uid !== metadata.uid)
    throw conflict(
      subject,
      call.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw conflict(
      subject,
      call.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
}
