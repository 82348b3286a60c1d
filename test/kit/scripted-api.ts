import { ApiError } from '#kube/api-error.ts';
import type { Client, ListOptions, WatchOptions } from '#kube/client.ts';
import type { KubeList, KubeResource, Metadata, Resource, WatchEvent } from '#kube/resource.ts';

export interface Thing extends KubeResource {
  data: { value: number };
}

export const things: Resource<Thing> = {
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
};

type Call = { verb: 'list'; options: ListOptions } | { verb: 'watch'; options: WatchOptions };

/** How the server answers a watch that asks for the initial objects. */
type Streaming = 'offered' | 'ignored' | 'silent' | 'ends early' | ApiError;

interface Stream {
  isDead: boolean;
  end?: { error?: Error };
  wake(): void;
}

export const refusal = (code: number, reason = 'Reason', details = {}): ApiError =>
  new ApiError({ code, reason, message: `refused with ${code}`, details }, 'GET /things');

/** The bookmark after the initial objects. */
export function endOfInitialEvents(resourceVersion: string): WatchEvent<Thing> {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return { type: 'BOOKMARK', object: { metadata: { resourceVersion, annotations }, data: { value: 0 } } };
}

/** An API server in memory with list, watch, a history and injected failures. */
export class ScriptedApi implements Pick<Client, 'list' | 'watch'> {
  readonly objects = new Map<string, Thing>();
  readonly calls: Call[] = [];
  streaming: Streaming = refusal(422, 'Invalid');
  readonly #history: { version: number; event: WatchEvent<Thing> }[] = [];
  readonly #streams = new Set<Stream>();
  readonly #failures: { list: Error[]; watch: Error[] } = { list: [], watch: [] };
  #version = 100;
  #compactedTo = 0;
  #uids = 0;

  get openStreams(): number {
    return this.#streams.size;
  }

  get version(): string {
    return String(this.#version);
  }

  put(name: string, value = 0, metadata: Partial<Metadata> = {}): void {
    const old = this.objects.get(name);
    this.#version += 1;
    const uid = old?.metadata.uid ?? `uid-${(this.#uids += 1)}`;
    const managed = { managedFields: [{ manager: 'test' }] };
    const object: Thing = {
      metadata: { name, namespace: 'ns', uid, resourceVersion: this.version, ...managed, ...metadata },
      data: { value },
    };
    this.objects.set(name, object);
    this.#record(old === undefined ? 'ADDED' : 'MODIFIED', object);
  }

  remove(name: string): void {
    const old = this.objects.get(name);
    if (old === undefined) return;
    this.#version += 1;
    this.objects.delete(name);
    this.#record('DELETED', { ...old, metadata: { ...old.metadata, resourceVersion: this.version } });
  }

  /** Another object in the cluster changed: a watch gets only a bookmark. */
  bookmark(): void {
    this.#version += 1;
    this.#record('BOOKMARK', { metadata: { resourceVersion: this.version } } as Thing);
  }

  /** Sends an event unchanged, even an invalid one. */
  send(event: WatchEvent<Thing>): void {
    this.#version += 1;
    this.#record(event.type, event.object);
  }

  fail(verb: Call['verb'], ...errors: Error[]): void {
    this.#failures[verb].push(...errors);
  }

  /** Compacts the history up to now: older watches get a 410. */
  compact(): void {
    this.#compactedTo = this.#version;
  }

  /** Ends all streams, cleanly or with an error; undelivered events are lost. */
  endStreams(error?: Error): void {
    for (const stream of this.#streams) {
      if (stream.isDead) continue;
      stream.end = error === undefined ? {} : { error };
      stream.wake();
    }
  }

  /** Open streams stay open but get no more events, as when a cable is cut. */
  cutStreams(): void {
    for (const stream of this.#streams) stream.isDead = true;
  }

  async list<T extends KubeResource>(_: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    this.calls.push({ verb: 'list', options });
    await turn();
    options.signal?.throwIfAborted();
    const failure = this.#failures.list.shift();
    if (failure !== undefined) throw failure;
    const start = Number(options.continue ?? 0);
    const all = [...this.objects.values()];
    const end = options.limit === undefined ? all.length : start + options.limit;
    return {
      metadata: { resourceVersion: this.version, ...(end < all.length ? { continue: String(end) } : {}) },
      items: structuredClone(all.slice(start, end)) as unknown as T[],
    };
  }

  async *watch<T extends KubeResource>(_: Resource<T>, options: WatchOptions = {}): AsyncIterable<WatchEvent<T>> {
    this.calls.push({ verb: 'watch', options });
    await turn();
    const failure = this.#failures.watch.shift();
    if (failure !== undefined) throw failure;
    const stream: Stream = { isDead: false, wake: () => undefined };
    const onAbort = () => {
      stream.end ??= { error: options.signal?.reason as Error };
      stream.wake();
    };
    this.#streams.add(stream);
    options.signal?.addEventListener('abort', onAbort);
    if (options.signal?.aborted) onAbort();
    try {
      yield* this.#events(stream, options) as AsyncIterable<WatchEvent<T>>;
    } finally {
      options.signal?.removeEventListener('abort', onAbort);
      this.#streams.delete(stream);
    }
  }

  async *#events(stream: Stream, options: WatchOptions): AsyncIterable<WatchEvent<Thing>> {
    let reached = Number(options.resourceVersion ?? this.version);
    if (options.sendInitialEvents === true) {
      if (this.streaming instanceof ApiError) throw this.streaming;
      yield* this.#initialEvents();
      if (this.streaming === 'ends early') return;
    } else if (reached < this.#compactedTo) throw refusal(410, 'Expired');
    for (;;) {
      const isMute = stream.isDead || (options.sendInitialEvents === true && this.streaming === 'silent');
      const next = isMute ? undefined : this.#history.find(({ version }) => version > reached);
      if (stream.end !== undefined) {
        if (stream.end.error === undefined) return;
        throw stream.end.error;
      }
      if (next === undefined) {
        await new Promise<void>(resolve => {
          stream.wake = resolve;
        });
        continue;
      }
      reached = next.version;
      yield structuredClone(next.event);
      await turn();
    }
  }

  *#initialEvents(): Iterable<WatchEvent<Thing>> {
    if (this.streaming === 'silent') return;
    for (const object of this.objects.values()) yield { type: 'ADDED', object: structuredClone(object) };
    if (this.streaming !== 'offered') return;
    yield endOfInitialEvents(this.version);
  }

  #record(type: WatchEvent<Thing>['type'], object: Thing): void {
    this.#history.push({ version: this.#version, event: { type, object } });
    for (const stream of this.#streams) stream.wake();
  }
}

function turn(): Promise<void> {
  return new Promise(resolve => queueMicrotask(resolve));
}
