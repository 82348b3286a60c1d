import type { KubeList, KubeResource, Resource, WatchEvent } from './resource.ts';

export interface CallOptions {
  signal?: AbortSignal;
  /** Deadline of this call; default: that of the client. For a watch, of its start. */
  timeoutMs?: number;
  /** How often the call is retried when the server sends Retry-After; default: that of the client. */
  maxRetries?: number;
}

export interface ObjectOptions extends CallOptions {
  namespace?: string;
}

export interface ListOptions extends ObjectOptions {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Objects per page. */
  limit?: number;
  continue?: string;
}

export interface WatchOptions extends ObjectOptions {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  /** How long the server keeps the stream open. */
  timeoutSeconds?: number;
  allowWatchBookmarks?: boolean;
  /** Sends the existing objects first and marks their end with a bookmark; servers since 1.27, where enabled. */
  sendInitialEvents?: boolean;
}

export interface WriteOptions extends ObjectOptions {
  subresource?: string;
  /** Asks for an answer without spec and status, for callers that do not read them. Some servers send all the same. */
  answer?: 'metadata';
}

/** A patch; the type decides the content type of its body. */
export type Patch =
  | { type: 'merge'; body: unknown }
  | { type: 'json'; body: readonly JsonPatchOperation[] }
  | { type: 'strategic'; body: unknown }
  /** Server-side apply: creates a missing object, for which RBAC can limit `create` to a name. */
  | { type: 'apply'; body: KubeResource };

export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; from: string; path: string };

export interface DeleteOptions extends ObjectOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  gracePeriodSeconds?: number;
}

/**
 * A client of an API server. An error of the server is an ApiError (see api-error.ts); a lost connection, a deadline
 * and an abort have their own errors. Objects are plain JSON as the server sent them; only lists and watches drop
 * `metadata.managedFields`, a third of every object.
 */
export interface Client {
  get<T extends KubeResource>(
    resource: Resource<T>,
    name: string,
    options?: ObjectOptions & { subresource?: string },
  ): Promise<T>;
  /** Like `get`, but undefined when the object does not exist. */
  find<T extends KubeResource>(resource: Resource<T>, name: string, options?: ObjectOptions): Promise<T | undefined>;
  /** One page. */
  list<T extends KubeResource>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** All pages together; restarts without pages when the continue token expires. */
  listAll<T extends KubeResource>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** Ends when the server ends the stream; throws an ApiError for an ERROR event (410: reason Expired or Gone). */
  watch<T extends KubeResource>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeResource>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions & { name?: string },
  ): Promise<T>;
  replace<T extends KubeResource>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeResource>(resource: Resource<T>, name: string, patch: Patch, options?: WriteOptions): Promise<T>;
  delete(resource: Resource, name: string, options?: DeleteOptions): Promise<void>;
  /** Any path of the server, such as /version; a JSON response is parsed. */
  raw<T = unknown>(
    method: string,
    path: string,
    options?: CallOptions & { body?: unknown; contentType?: string },
  ): Promise<T>;
  /** Closes all connections; pending calls fail. */
  close(): Promise<void>;
}
