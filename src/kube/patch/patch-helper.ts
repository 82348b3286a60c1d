import { isRecord } from '#base/fields.ts';
import { isConflict } from '../api-error.ts';
import type { CallOptions, Client } from '../client.ts';
import { mergePatch } from './merge-patch.ts';
import { type Key, type KubeResource, keyOf, type Resource } from '../resource.ts';

export interface PatchOptions extends CallOptions {
  /**
   * When a concurrent write is a conflict. By default only if a list changes: a merge patch replaces the whole list and
   * would drop entries of other writers.
   */
  lock?: 'always' | 'lists';
  /** The server need not send what it was just sent: the result has its metadata, and the rest as written. */
  answer?: 'metadata';
}

/** Metadata that the server sets. */
const serverMembers = new Set([
  'resourceVersion',
  'uid',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
]);

/**
 * Writes the difference of two states of an object; sends no request when they are equal. The status is written first,
 * because the object may be gone after its last finalizer is removed. Returns the object of the server.
 */
export async function patchObject<T extends KubeResource>(
  client: Pick<Client, 'patch'>,
  resource: Resource<T>,
  { before, after }: { before: T; after: T },
  options: PatchOptions = {},
): Promise<T> {
  // What other writers changed meanwhile is not in the answer, so that they must not have changed anything.
  const lock = options.answer === 'metadata' ? 'always' : options.lock;
  let current = before;
  for (const { body, subresource } of patchesBetween(before, after)) {
    const { namespace, name } = keyOf(before);
    const write = {
      ...callOptions(options),
      ...(namespace !== '' && { namespace }),
      ...(subresource !== undefined && { subresource }),
      ...(options.answer && { answer: options.answer }),
    };
    current = await client.patch(resource, name, { type: 'merge', body: locked(body, current, lock) }, write);
  }
  return options.answer === 'metadata' ? { ...after, metadata: current.metadata } : current;
}

export interface ChangeOptions extends PatchOptions {
  /** How often the change is retried after a conflict. */
  attempts?: number;
}

/** Reads an object, changes it and writes the difference; retries after a conflict. */
export async function changeObject<T extends KubeResource>(
  client: Pick<Client, 'get' | 'patch'>,
  resource: Resource<T>,
  { key, change }: { key: Key; change: (current: T) => T },
  options: ChangeOptions = {},
): Promise<{ before: T; after: T }> {
  const place = key.namespace === '' ? {} : { namespace: key.namespace };
  for (let left = options.attempts ?? 5; ; left -= 1) {
    const before = await client.get(resource, key.name, { ...callOptions(options), ...place });
    try {
      const after = change(structuredClone(before));
      return { before, after: await patchObject(client, resource, { before, after }, { lock: 'always', ...options }) };
    } catch (error) {
      if (!isConflict(error) || left <= 1) throw error;
    }
  }
}

type PatchBody = Record<string, unknown>;

function patchesBetween(before: KubeResource, after: KubeResource): { body: PatchBody; subresource?: string }[] {
  const { status, metadata, ...rest } = (mergePatch(before, after) ?? {}) as PatchBody;
  const ownMetadata = Object.entries(isRecord(metadata) ? metadata : {}).filter(([name]) => !serverMembers.has(name));
  const main = { ...rest, ...(ownMetadata.length > 0 && { metadata: Object.fromEntries(ownMetadata) }) };
  return [
    ...(status !== undefined ? [{ body: { status }, subresource: 'status' }] : []),
    ...(Object.keys(main).length > 0 ? [{ body: main }] : []),
  ];
}

function locked(body: PatchBody, current: KubeResource, lock: PatchOptions['lock'] = 'lists'): PatchBody {
  const { resourceVersion } = current.metadata;
  if (resourceVersion === undefined || (lock === 'lists' && !hasList(body))) return body;
  return { ...body, metadata: { ...(isRecord(body['metadata']) && body['metadata']), resourceVersion } };
}

function hasList(value: unknown): boolean {
  return Array.isArray(value) || (isRecord(value) && Object.values(value).some(hasList));
}

function callOptions({ signal, timeoutMs }: PatchOptions): CallOptions {
  return { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
}
