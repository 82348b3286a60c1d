import { randomBytes, randomUUID } from 'node:crypto';
import { timestamp } from '#base/clock.ts';
import type { Call, Core } from '../core.ts';
import { newMetadataCauses } from '../metadata.ts';
import { textAt, withMetadata } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { alreadyExists, badRequest, forbidden, internal, invalid, notFound, StatusError } from '../status.ts';
import { decodeObject } from './decode.ts';
import { validateContent } from './prepare.ts';
import { rejectUnknownFields } from './unknown-fields.ts';

/** Creates an object; returns it in the requested version. */
export function createObject(core: Core, call: Call, body: unknown): StoredObject {
  rejectUnknownFields(call, body);
  const sent = inNamespace(call, decodeObject(call.kind, body));
  if (call.kind.namespaced) requireNamespace(core, call, sent.metadata.name ?? '');
  if (sent.metadata.resourceVersion !== undefined)
    throw internal('resourceVersion should not be set on objects to be created');
  return storeNew(core, call, sent);
}

/** Defaults, validates and stores a new object; also for PUT. */
export function storeNew(core: Core, call: Call, sent: StoredObject): StoredObject {
  const { kind } = call;
  const now = core.clock.now();
  const context = { user: call.user, now, store: core.store };
  const fresh = kind.prepareCreate(kind.toStored(withNewMetadata(sent, call, now)), context);
  const stamped = kind.stamp(fresh, undefined, timestamp(now));
  const metadataCauses = newMetadataCauses(stamped.metadata, kind);
  const { object, causes } = validateContent({ ...call, subresource: '' }, stamped, undefined);
  const name = object.metadata.name ?? '';
  if (metadataCauses.length + causes.length > 0) throw invalid(kind, name, [...metadataCauses, ...causes]);
  core.identity.admission?.admit({
    user: call.user,
    operation: 'create',
    resource: kind,
    subresource: '',
    object,
    old: undefined,
  });
  if (core.store.get(kind.storageKey, { namespace: call.namespace, name }) !== undefined)
    throw alreadyExists(kind, name);
  return kind.fromStored(call.dryRun ? object : core.store.write(kind.storageKey, object));
}

/** Rejects new objects in a namespace that is missing or terminating. */
export function requireNamespace(core: Core, call: Call, name: string): void {
  const namespace = core.store.get('namespaces', { namespace: '', name: call.namespace });
  if (namespace === undefined) throw notFound({ group: '', plural: 'namespaces' }, call.namespace);
  if (textAt(namespace, 'status.phase') !== 'Terminating' && namespace.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${call.namespace} because it is being terminated`;
  const { status } = forbidden(call.kind, name, why);
  const causes = [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${call.namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ];
  throw new StatusError({ ...status, details: { ...status.details, causes } });
}

function inNamespace(call: Call, object: StoredObject): StoredObject {
  const { namespace = '' } = object.metadata;
  if (!call.kind.namespaced) return withMetadata(object, { namespace: undefined });
  if (namespace !== '' && namespace !== call.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  return withMetadata(object, { namespace: call.namespace });
}

function withNewMetadata(object: StoredObject, call: Call, now: number): StoredObject {
  const { name = '', generateName = '' } = object.metadata;
  return withMetadata(object, {
    name: name === '' && generateName !== '' ? generatedName(generateName) : object.metadata.name,
    uid: randomUUID(),
    creationTimestamp: timestamp(now),
    resourceVersion: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    ...(call.kind.countsGenerations ? { generation: 1 } : {}),
  });
}

const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const maxNameLength = 63;

function generatedName(base: string): string {
  const letters = [...randomBytes(suffixLength)].map(byte => suffixLetters[byte % suffixLetters.length] ?? '');
  return `${base.slice(0, maxNameLength - suffixLength)}${letters.join('')}`;
}
