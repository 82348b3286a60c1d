import { ApiError, isNotFound, unless } from '#kube/api-error.ts';
import type { Client, DeleteOptions, ListOptions, ObjectOptions, Patch, WriteOptions } from '#kube/client.ts';
import { isRecord } from '#base/fields.ts';
import { apiVersionOf, type KubeList, type KubeResource, keyText, type Resource } from '#kube/resource.ts';

export interface ApiCall {
  verb: 'get' | 'list' | 'create' | 'replace' | 'patch' | 'delete' | 'raw';
  /** Plural of the resource, with its subresource: `pods/eviction`. */
  resource: string;
  name: string;
  namespace: string;
  body?: unknown;
}

export const refused = (code: number, reason: string, details = {}): ApiError =>
  new ApiError({ code, reason, message: `refused: ${reason}`, details }, 'TEST /things');

/** An API server in memory for single objects: versions, conflicts, uids, merge patches, and faults that a test injects. */
export class MemoryApi implements Pick<Client, ApiCall['verb'] | 'listAll'> {
  readonly calls: ApiCall[] = [];
  /** Called before each call; what it throws, or returns unless undefined, is the answer. */
  before: (call: ApiCall, signal: AbortSignal | undefined) => unknown = () => undefined;
  /** Answers to raw requests, by path. */
  readonly paths = new Map<string, unknown>();
  readonly #objects = new Map<string, KubeResource>();
  #version = 100;

  /** Stores an object without a call. */
  put<T extends KubeResource>(resource: Resource<T>, object: T): T {
    this.#version += 1;
    const uid = object.metadata.uid ?? `uid-${this.#version}`;
    const made = {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      ...object,
      metadata: { ...object.metadata, uid, resourceVersion: String(this.#version) },
    };
    this.#objects.set(placeOf(resource, object.metadata), structuredClone(made));
    return made;
  }

  peek<T extends KubeResource>(resource: Resource<T>, name: string, namespace = ''): T | undefined {
    return this.#objects.get(placeOf(resource, { name, namespace })) as T | undefined;
  }

  all<T extends KubeResource>(resource: Resource<T>): T[] {
    const prefix = `${resource.group}/${resource.plural} `;
    return [...this.#objects].filter(([place]) => place.startsWith(prefix)).map(([, object]) => object as T);
  }

  remove(resource: Resource, name: string, namespace = ''): void {
    this.#objects.delete(placeOf(resource, { name, namespace }));
  }

  async get<T extends KubeResource>(resource: Resource<T>, name: string, options: ObjectOptions = {}): Promise<T> {
    await this.#enter('get', resource, { ...options, name });
    return structuredClone(this.#require(resource, name, options.namespace));
  }

  find<T extends KubeResource>(resource: Resource<T>, name: string, options?: ObjectOptions): Promise<T | undefined> {
    return this.get(resource, name, options).catch(unless(isNotFound));
  }

  async list<T extends KubeResource>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    await this.#enter('list', resource, { ...options, name: options.fieldSelector ?? '' });
    const { namespace = '' } = options;
    const items = this.all(resource)
      .filter(({ metadata }) => namespace === '' || metadata.namespace === namespace)
      .filter(object => fitsFields(object, options.fieldSelector ?? ''));
    return { metadata: { resourceVersion: String(this.#version) }, items: structuredClone(items) };
  }

  listAll<T extends KubeResource>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    return this.list(resource, options);
  }

  async create<T extends KubeResource>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions & { name?: string } = {},
  ): Promise<T> {
    const { name = '', namespace = '' } = { ...object.metadata, ...options };
    const answer = await this.#enter('create', resource, { ...options, name, namespace, body: object });
    if (answer !== undefined) return answer as T;
    if (this.peek(resource, name, namespace) !== undefined) throw refused(409, 'AlreadyExists');
    return structuredClone(this.put(resource, object));
  }

  async replace<T extends KubeResource>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { name = '', namespace = '' } = object.metadata;
    await this.#enter('replace', resource, { ...options, name, namespace, body: object });
    const present = this.#require(resource, name, namespace);
    const { resourceVersion = present.metadata.resourceVersion } = object.metadata;
    if (resourceVersion !== present.metadata.resourceVersion) throw refused(409, 'Conflict');
    return structuredClone(this.put(resource, object));
  }

  async patch<T extends KubeResource>(
    resource: Resource<T>,
    name: string,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    await this.#enter('patch', resource, { ...options, name, body: patch.body });
    if (patch.type === 'apply' && this.peek(resource, name, options.namespace) === undefined)
      return structuredClone(this.put(resource, patch.body as T));
    const present = this.#require(resource, name, options.namespace);
    const patched = merged(present, patch.body) as T;
    if (patched.metadata.resourceVersion !== present.metadata.resourceVersion) throw refused(409, 'Conflict');
    return structuredClone(this.put(resource, patched));
  }

  async delete(resource: Resource, name: string, options: DeleteOptions = {}): Promise<void> {
    await this.#enter('delete', resource, { ...options, name });
    const { metadata } = this.#require(resource, name, options.namespace);
    const { uid = metadata.uid, resourceVersion = metadata.resourceVersion } = options.preconditions ?? {};
    if (uid !== metadata.uid || resourceVersion !== metadata.resourceVersion) throw refused(409, 'Conflict');
    this.remove(resource, name, options.namespace);
  }

  async raw<T = unknown>(method: string, path: string): Promise<T> {
    await this.#enter('raw', undefined, { name: `${method} ${path}` });
    if (!this.paths.has(path)) throw refused(404, 'NotFound');
    return structuredClone(this.paths.get(path)) as T;
  }

  async #enter(
    verb: ApiCall['verb'],
    resource: Resource | undefined,
    options: WriteOptions & { name: string; body?: unknown },
  ): Promise<unknown> {
    const { name, namespace = '', subresource, signal, body } = options;
    const plural = [resource?.plural ?? '', subresource].filter(Boolean).join('/');
    const call: ApiCall = { verb, resource: plural, name, namespace, ...(body !== undefined && { body }) };
    this.calls.push(structuredClone(call));
    signal?.throwIfAborted();
    return await this.before(call, signal);
  }

  #require<T extends KubeResource>(resource: Resource<T>, name: string, namespace = ''): T {
    const object = this.peek(resource, name, namespace);
    if (object === undefined) throw refused(404, 'NotFound');
    return object;
  }
}

function placeOf(
  { group, plural }: Resource,
  { name = '', namespace = '' }: { name?: string; namespace?: string },
): string {
  return `${group}/${plural} ${keyText({ name, namespace })}`;
}

function fitsFields(object: unknown, selector: string): boolean {
  return selector.split(',').every(term => {
    const [path = '', value = ''] = term.split('=');
    let found = object;
    for (const name of path === '' ? [] : path.split('.')) found = isRecord(found) ? found[name] : undefined;
    return path === '' || found === value;
  });
}

function merged(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
