import { isNotFound, unless } from './api-error.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import type {
  CallOptions,
  Client,
  DeleteOptions,
  ListOptions,
  ObjectOptions,
  Patch,
  WatchOptions,
  WriteOptions,
} from './client.ts';
import { parseAnswer } from './http/answer.ts';
import { Caller } from './http/caller.ts';
import { Lister } from './http/lister.ts';
import { objectPath, queryText, requireNamespace, resourcePath } from './http/path.ts';
import { watchEvents } from './http/watch.ts';
import { apiVersionOf, type KubeList, type KubeResource, type Resource, type WatchEvent } from './resource.ts';
import type { Connection } from './transport/connection.ts';
import { requestName } from './transport/failures.ts';
import { Transport, type TransportOptions } from './transport/transport.ts';

export interface ClientOptions extends TransportOptions {
  /** Default deadline of a call. */
  timeoutMs?: number;
  /** How often a call is retried after 429 or 503 with Retry-After. */
  maxRetries?: number;
  userAgent?: string;
  fieldManager?: string;
  /** Objects per page of `listAll`. */
  pageSize?: number;
  /** Longest event of a watch. */
  maxLineBytes?: number;
}

interface Payload extends CallOptions {
  body?: unknown;
  contentType?: string;
  answer?: WriteOptions['answer'];
}

/** Server-side apply needs one. */
const defaultManager = 'wmco';

const patchTypes: Readonly<Record<Patch['type'], string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json';

/** Opens connections when they are needed; `close` ends them. */
export function createClient(connection: Connection, options: ClientOptions = {}): Client {
  return new HttpClient(connection, options);
}

class HttpClient implements Client {
  readonly #transport: Transport;
  readonly #caller: Caller;
  readonly #clock: Clock;
  readonly #lister: Lister;
  readonly #maxLineBytes: number;
  readonly #fieldManager: string | undefined;

  constructor(connection: Connection, options: ClientOptions) {
    const { clock = systemClock, pageSize = 500 } = options;
    const userAgent = options.userAgent ?? `kube-client (${process.platform}/${process.arch})`;
    this.#clock = clock;
    this.#maxLineBytes = options.maxLineBytes ?? 8 * 1024 * 1024;
    this.#fieldManager = options.fieldManager;
    this.#transport = new Transport(connection, options);
    this.#caller = new Caller(connection, this.#transport, {
      clock,
      timeoutMs: options.timeoutMs ?? 30_000,
      maxRetries: options.maxRetries ?? 5,
      userAgent,
    });
    this.#lister = new Lister(this.#caller, pageSize);
  }

  get<T extends KubeResource>(
    resource: Resource<T>,
    name: string,
    options: ObjectOptions & { subresource?: string } = {},
  ): Promise<T> {
    return this.#json('GET', objectPath(resource, { ...options, name }), options);
  }

  find<T extends KubeResource>(resource: Resource<T>, name: string, options?: ObjectOptions): Promise<T | undefined> {
    return this.get(resource, name, options).catch(unless(isNotFound));
  }

  async list<T extends KubeResource>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    return this.#lister.page(resource, options);
  }

  async listAll<T extends KubeResource>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    return this.#lister.all(resource, options);
  }

  watch<T extends KubeResource>(resource: Resource<T>, options: WatchOptions = {}): AsyncIterable<WatchEvent<T>> {
    const path = `${resourcePath(resource, options)}${queryText(watchQuery(options))}`;
    const request = {
      name: requestName('WATCH', path),
      open: () => this.#caller.open({ ...options, method: 'GET', path }),
      clock: this.#clock,
      maxLineBytes: this.#maxLineBytes,
      signal: options.signal,
      timeoutSeconds: options.timeoutSeconds,
    };
    return { [Symbol.asyncIterator]: () => watchEvents<T>(request) };
  }

  create<T extends KubeResource>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions & { name?: string } = {},
  ): Promise<T> {
    const { namespace, name = '' } = { ...object.metadata, ...options };
    requireNamespace(resource, { namespace, name });
    const { subresource } = options;
    const path = resourcePath(resource, subresource === undefined ? { namespace } : { namespace, name, subresource });
    return this.#write('POST', path, withKind(resource, object, subresource), options);
  }

  replace<T extends KubeResource>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { name = '', namespace } = object.metadata;
    const body = withKind(resource, object, options.subresource);
    return this.#write('PUT', objectPath(resource, { namespace, ...options, name }), body, options);
  }

  patch<T extends KubeResource>(
    resource: Resource<T>,
    name: string,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const isApply = patch.type === 'apply';
    const query = isApply
      ? queryText({ fieldManager: this.#fieldManager ?? defaultManager, force: true })
      : this.#writeQuery();
    const body = isApply ? withKind(resource, patch.body, undefined) : patch.body;
    const payload = { ...options, body, contentType: patchTypes[patch.type] };
    return this.#json('PATCH', `${objectPath(resource, { ...options, name })}${query}`, payload);
  }

  async delete(resource: Resource, name: string, options: DeleteOptions = {}): Promise<void> {
    const payload = { ...options, body: deleteBody(options) };
    await this.#json('DELETE', objectPath(resource, { ...options, name }), payload);
  }

  async raw<T = unknown>(method: string, path: string, options: Payload = {}): Promise<T> {
    const { text, contentType } = await this.#caller.text({ ...options, method, path });
    return (contentType.includes('json') ? parseAnswer(text, requestName(method, path)) : text) as T;
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #write<T>(method: string, path: string, body: T, options: WriteOptions): Promise<T> {
    return this.#json(method, `${path}${this.#writeQuery()}`, { ...options, body });
  }

  #writeQuery(): string {
    return queryText({ fieldManager: this.#fieldManager });
  }

  async #json<T>(method: string, path: string, { answer, ...payload }: Payload): Promise<T> {
    const accept = answer === 'metadata' ? { accept: metadataOnly } : {};
    const { text } = await this.#caller.text({ ...payload, ...accept, method, path });
    return parseAnswer(text, requestName(method, path)) as T;
  }
}

/** Custom resources need apiVersion and kind. Some subresources have their own kind. */
function withKind<T extends KubeResource>(resource: Resource<T>, object: T, subresource: string | undefined): T {
  const isSameKind = subresource === undefined || subresource === 'status' || subresource === 'approval';
  return isSameKind ? { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object } : object;
}

function watchQuery(options: WatchOptions) {
  const { labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options;
  const { allowWatchBookmarks, sendInitialEvents } = options;
  return {
    watch: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds,
    allowWatchBookmarks,
    sendInitialEvents,
    // Required by the server; the only allowed value.
    resourceVersionMatch: sendInitialEvents === true ? 'NotOlderThan' : undefined,
  };
}

function deleteBody({ preconditions, propagationPolicy, gracePeriodSeconds }: DeleteOptions): object {
  return { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, propagationPolicy, gracePeriodSeconds };
}
