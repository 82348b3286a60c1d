import type { Clock } from '#base/clock.ts';
import { apiVersionOf, type Key } from '#kube/resource.ts';
import type { Core } from './core.ts';
import type { Kind } from './kind.ts';
import { isSelected, type ListOptions } from './list-options.ts';
import type { StoredObject } from './ports.ts';
import { expired, statusBody } from './status.ts';
import type { Written } from './store.ts';

export interface WatchScope {
  kind: Kind;
  /** Empty for all. */
  namespace: string;
}

export interface WatchMessage {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: StoredObject | Record<string, unknown>;
}

/** Receives the events of one watch. */
export interface WatchSink {
  send(message: WatchMessage): void;
  end(): void;
}

/** Default timeout of a watch and interval of bookmarks. */
const defaultTimeoutSeconds = 1800;
const bookmarkPeriodMs = 60_000;
/** A last bookmark is sent before the timeout so that clients can resume. */
const lastBookmarkMs = 2000;

/** Sends existing objects and changes until the timeout; returns a function that stops the watch. */
export function startWatch(core: Core, scope: WatchScope, options: ListOptions, sink: WatchSink): () => void {
  const { store, clock } = core;
  const { resourceVersion } = options;
  const stopping = new AbortController();
  const fromNow = options.sendInitialEvents || resourceVersion === undefined || resourceVersion === 0;
  const past = fromNow ? [] : store.writesAfter(scope.kind.storageKey, resourceVersion);
  if (past === undefined) {
    const oldest = store.oldestRevision(scope.kind.storageKey);
    sink.send({
      type: 'ERROR',
      object: statusBody(expired(`too old resource version: ${resourceVersion} (${oldest})`).status),
    });
    sink.end();
    return () => undefined;
  }
  if (fromNow) sendExisting(core, scope, options, sink);
  for (const written of past) sendChange(scope, options, written, sink);
  const onWrite = (written: Written) => {
    // A client may have a later revision, for example after a restart of the server.
    if (written.revision > (resourceVersion ?? 0)) sendChange(scope, options, written, sink);
  };
  const stopListening = store.listen(scope.kind.storageKey, onWrite, singleKey(scope, options));
  const stop = (): void => {
    stopListening();
    stopping.abort();
  };
  const finish = (): void => {
    stop();
    sink.end();
  };
  const seconds = options.timeoutSeconds ?? defaultTimeoutSeconds;
  callAtTimes(clock, bookmarkTimes(options, seconds * 1000), stopping.signal, () =>
    sink.send(bookmark(scope.kind, String(store.revision))),
  );
  callAtTimes(clock, [seconds * 1000], stopping.signal, finish);
  return stop;
}

function sendExisting({ store }: Core, scope: WatchScope, options: ListOptions, sink: WatchSink): void {
  const { kind } = scope;
  const single = singleKey(scope, options);
  const objects =
    single === undefined
      ? store.list(kind.storageKey, scope.namespace)
      : [store.get(kind.storageKey, single) ?? []].flat();
  for (const object of objects)
    if (isSelected(options, object, kind)) sink.send({ type: 'ADDED', object: kind.fromStored(object) });
  if (!options.sendInitialEvents || !options.bookmarks) return;
  sink.send(bookmark(kind, String(store.revision), { 'k8s.io/initial-events-end': 'true' }));
}

/** The only object that can match; undefined when there may be several. */
function singleKey({ kind, namespace }: WatchScope, { fields }: ListOptions): Key | undefined {
  const name = fields.find(({ field, equal }) => field === 'metadata.name' && equal)?.value;
  return name === undefined || (kind.namespaced && namespace === '') ? undefined : { namespace, name };
}

/** An object that starts or stops matching the selectors is ADDED or DELETED. */
function sendChange({ kind, namespace }: WatchScope, options: ListOptions, written: Written, sink: WatchSink): void {
  const { object, old } = written;
  if (namespace !== '' && object.metadata.namespace !== namespace) return;
  const before = old !== undefined && isSelected(options, old, kind);
  const after = written.type !== 'DELETED' && isSelected(options, object, kind);
  if (after) sink.send({ type: before ? 'MODIFIED' : 'ADDED', object: kind.fromStored(object) });
  else if (before) {
    // The last state that the client has seen, with the revision of the change.
    const { resourceVersion } = object.metadata;
    const last = {
      ...old,
      metadata: { ...old.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    };
    sink.send({ type: 'DELETED', object: kind.fromStored(last) });
  }
}

function bookmark(kind: Kind, resourceVersion: string, annotations?: Record<string, string>): WatchMessage {
  const metadata = { resourceVersion, ...(annotations === undefined ? {} : { annotations }) };
  return { type: 'BOOKMARK', object: { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata } };
}

function bookmarkTimes({ bookmarks }: ListOptions, totalMs: number): number[] {
  if (!bookmarks) return [];
  const count = Math.floor(Math.max(0, totalMs - lastBookmarkMs) / bookmarkPeriodMs);
  const regular = Array.from({ length: count }, (_, index) => (index + 1) * bookmarkPeriodMs);
  return totalMs > lastBookmarkMs ? [...regular, totalMs - lastBookmarkMs] : regular;
}

/** Calls `act` at each time, counted from now, until aborted. */
function callAtTimes(clock: Clock, timesMs: readonly number[], signal: AbortSignal, act: () => void): void {
  const run = async (): Promise<void> => {
    let elapsed = 0;
    for (const time of timesMs) {
      await clock.sleep(time - elapsed, signal);
      elapsed = time;
      act();
    }
  };
  run().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
