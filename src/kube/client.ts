import type { KubeList, KubeResource, Resource, WatchEvent } from './resource.ts';

export interface CallOptions {
  signal?: AbortSignal;
  /** Deadline of this call; the client's default when absent. For a watch, of its beginning. */
  timeoutMs?: number;
  /** How often the call is repeated when a busy server says when to come again; the client's default when absent. */
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
  /** Objects of one page; the server decides when absent. */
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
  /** Streams the existing objects first and marks their end with a bookmark; servers from 1.27 on, where enabled. */
  sendInitialEvents?: boolean;
}

export interface WriteOptions extends ObjectOptions {
  subresource?: string;
}

/** The three forms of a patch that are used; each is the body that its content type wants. */
export type Patch =
  | { type: 'merge'; body: unknown }
  | { type: 'json'; body: readonly JsonPatchOperation[] }
  | { type: 'strategic'; body: unknown };

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
 * Talks to an API server. Every failure of the server is an ApiError (see api-error.ts); a broken connection, a deadline and
 * an abort are errors of their own. Objects come as the server sent them: plain JSON, times as texts; only lists and watches
 * leave out `metadata.managedFields`, a third of every object that nobody reads.
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
  /** All pages, put together; starts over once when the continue token expires on the way. */
  listAll<T extends KubeResource>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** Ends when the server ends the stream; throws an ApiError for an ERROR event (410 is reason Expired or Gone). */
  watch<T extends KubeResource>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeResource>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions & { name?: string },
  ): Promise<T>;
  replace<T extends KubeResource>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeResource>(resource: Resource<T>, name: string, patch: Patch, options?: WriteOptions): Promise<T>;
  delete(resource: Resource, name: string, options?: DeleteOptions): Promise<void>;
  /** Any path of the server, such as /version; the body parsed as JSON. */
  raw<T = unknown>(
    method: string,
    path: string,
    options?: CallOptions & { body?: unknown; contentType?: string },
  ): Promise<T>;
  /** Ends all connections; calls under way fail. */
  close(): Promise<void>;
}
