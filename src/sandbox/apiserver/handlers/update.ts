import { timestamp } from '#base/clock.ts';
import { sameData } from '#base/compare.ts';
import { type Call, type Core, findObject } from '../core.ts';
import { changedMetadataCauses, sameContent } from '../metadata.ts';
import { withMetadata } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { badRequest, cause, conflict, internal, invalid, notFound } from '../status.ts';
import { requireNamespace, storeNew } from './create.ts';
import { decodeObject } from './decode.ts';
import { validateContent } from './prepare.ts';
import { rejectUnknownFields } from './unknown-fields.ts';

export interface Updated {
  object: StoredObject;
  created: boolean;
}

/** Handles PUT. */
export function replaceObject(core: Core, call: Call, body: unknown): Updated {
  rejectUnknownFields(call, body);
  const sent = decodeObject(call.kind, body);
  checkNames(call, sent);
  const current = findObject(core, call);
  if (current === undefined) return { object: createByUpdate(core, call, sent), created: true };
  checkUid(call, sent, current);
  checkVersion(call, sent, current);
  return { object: updateObject(core, call, current, sent), created: false };
}

/** Stores a changed object. `sent` is in the requested version, `current` in the storage version. */
export function updateObject(core: Core, call: Call, current: StoredObject, sent: StoredObject): StoredObject {
  const { kind } = call;
  const next = kind.toStored(withKeptMetadata(sent, current));
  const prepared = kind.prepareUpdate(next, current, call.subresource);
  const stamped = kind.stamp(prepared, current, timestamp(core.clock.now()));
  const { object: checked, causes } = validateContent(call, stamped, current);
  const counted = withGeneration(call, checked, current);
  const all = [...changedMetadataCauses(counted.metadata, current.metadata, kind), ...causes];
  if (all.length > 0) throw invalid(kind, call.name, all);
  core.identity.admission?.admit({
    user: call.user,
    operation: 'update',
    resource: kind,
    subresource: call.subresource,
    object: counted,
    old: current,
  });
  return kind.fromStored(storeChanged(core, call, counted, current));
}

/** Deletes an object with its last finalizer; does not write an unchanged one. */
function storeChanged(core: Core, call: Call, next: StoredObject, current: StoredObject): StoredObject {
  const { storageKey } = call.kind;
  if (sameContent(next, current)) return current;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = next.metadata;
  const isDeleted =
    deletionTimestamp !== undefined &&
    deletionGracePeriodSeconds === 0 &&
    call.kind.deletionBlockers(next).length === 0;
  if (call.dryRun) return next;
  if (!isDeleted) return core.store.write(storageKey, next);
  core.store.remove(storageKey, { namespace: call.namespace, name: call.name });
  return next;
}

/** Metadata that a client can leave out or cannot change. */
function withKeptMetadata(sent: StoredObject, current: StoredObject): StoredObject {
  const old = current.metadata;
  return withMetadata(sent, {
    namespace: old.namespace,
    uid: sent.metadata.uid ?? old.uid,
    resourceVersion: old.resourceVersion,
    generation: old.generation,
    creationTimestamp: old.creationTimestamp,
    deletionTimestamp: old.deletionTimestamp,
    deletionGracePeriodSeconds: old.deletionGracePeriodSeconds,
  });
}

function withGeneration(call: Call, next: StoredObject, current: StoredObject): StoredObject {
  const { kind } = call;
  const apart = kind.subresources.some(({ name }) => name === 'status');
  const content = ({ metadata: _metadata, status, ...rest }: StoredObject): unknown =>
    apart ? rest : { ...rest, status };
  if (!kind.countsGenerations || sameData(content(next), content(current))) return next;
  return withMetadata(next, { generation: (current.metadata.generation ?? 0) + 1 });
}

function createByUpdate(core: Core, call: Call, sent: StoredObject): StoredObject {
  if (!call.kind.createsOnUpdate || call.subresource !== '') throw notFound(call.kind, call.name);
  if (call.kind.namespaced) requireNamespace(core, call, call.name);
  return storeNew(core, call, withMetadata(sent, { namespace: call.namespace || undefined }));
}

/** Name and namespace must match the path. */
export function checkNames(call: Call, { metadata }: StoredObject): void {
  const { name = '', namespace = '' } = metadata;
  if (name === '')
    throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`);
  if (name !== call.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.name})`);
  if (call.kind.namespaced && namespace !== '' && namespace !== call.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

function checkUid(call: Call, sent: StoredObject, current: StoredObject): void {
  const { uid } = sent.metadata;
  if (uid === undefined || uid === current.metadata.uid) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`;
  throw conflict(call.kind, call.name, why);
}

/** Rejects an update of an outdated object. */
export function checkVersion(call: Call, sent: StoredObject, current: StoredObject): void {
  const { resourceVersion: asked } = sent.metadata;
  if (asked === undefined || asked === '0') {
    if (call.kind.updatesUnconditionally) return;
    const missing = { ...cause.invalid('metadata.resourceVersion', 0, ''), message: unspecified };
    throw invalid({ group: call.kind.group, kind: call.kind.plural }, call.name, [missing]);
  }
  if (!/^\d+$/.test(asked)) throw internal(`strconv.ParseUint: parsing "${asked}": invalid syntax`);
  if (asked !== current.metadata.resourceVersion) throw conflict(call.kind, call.name);
}

const unspecified = 'Invalid value: 0x0: must be specified for an update';
