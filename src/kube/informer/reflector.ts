import { type Clock, systemClock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { ApiError, isExpired } from '../api-error.ts';
import type { Client } from '../client.ts';
import { Backoff, type BackoffBounds, reflectorBackoff } from './reflector-backoff.ts';
import { judge, judgeStreaming, StreamError } from './reflector-failure.ts';
import { listPages } from './reflector-list.ts';
import { prepareObject } from './reflector-objects.ts';
import { type Scope, watchOnce } from './reflector-watch.ts';
import type { KubeResource, Resource, WatchEvent } from '../resource.ts';

/** Receives the objects of a reflector, frozen. */
export interface Sink<T> {
  /** These are all objects. */
  replaceAll(objects: readonly T[]): void;
  put(object: T): void;
  remove(object: T): void;
}

export interface ReflectorOptions<T extends KubeResource> {
  client: Pick<Client, 'list' | 'watch'>;
  resource: Resource<T>;
  scope?: Scope;
  sink: Sink<T>;
  clock?: Clock;
  /** For jitter. */
  random?: () => number;
  log?: Log;
  backoff?: BackoffBounds;
  /** Called after several refusals in a row: the right to list is missing. */
  onRefused?: () => void;
}

export interface ReflectorCounts {
  lists: number;
  watches: number;
  events: number;
  failures: number;
  /** Objects without a name. */
  ignored: number;
}

const pageSize = 500;
/** An immediate relist after 410 Gone is allowed once in this time. */
const minRelistPauseMs = 30_000;
/** After so many failures in a row the resourceVersion is dropped, e.g. after a restore from a backup. */
const maxFailuresAtPosition = 8;
/** About 10 s: on a fresh install rights can come after the operator. */
const refusalsInRow = 5;

/** Keeps a sink in sync with the server until its signal is aborted. */
export class Reflector<T extends KubeResource> {
  readonly counts: ReflectorCounts = { lists: 0, watches: 0, events: 0, failures: 0, ignored: 0 };
  readonly #options: ReflectorOptions<T>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: Log;
  readonly #backoff: Backoff;
  /** resourceVersion of the sink; undefined when a new list is needed. */
  #position: string | undefined;
  #streaming: 'try' | 'not now' | 'never' = 'try';
  /** Only the first list may come from the server's cache: a later one must not go back in time. */
  #mayBeStale = true;
  #isPaged = true;
  #failuresInRow = 0;
  #refusalsInRow = 0;
  #nextQuickRelistMs = 0;
  #trouble: string | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#log = (options.log ?? silentLog).with({ resource: options.resource.plural, ...options.scope });
    this.#backoff = new Backoff(options.backoff ?? reflectorBackoff, this.#random);
  }

  /** Why list or watch fails; undefined after a success. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Resolves after the abort, when all work has ended; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#listAndWatch(signal);
      } catch (error) {
        if (!signal.aborted) await this.#pause(signal, error);
      }
    }
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    if (this.#position === undefined && this.#streaming === 'try') await this.#stream(signal);
    else if (this.#position === undefined) await this.#list(signal);
    else await this.#watch(signal);
  }

  /** A watch that begins with all objects, if the server supports it. */
  async #stream(signal: AbortSignal): Promise<void> {
    try {
      await this.#watch(signal);
    } catch (error) {
      if (this.#position !== undefined || signal.aborted) throw error;
      const verdict = judgeStreaming(error);
      this.#streaming = verdict === 'never again' ? 'never' : 'not now';
      if (verdict === 'failure') throw error;
      this.#log.debug('Listing: the server does not send initial events', { error });
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    this.counts.lists += 1;
    const { client, resource, scope, sink } = this.#options;
    const options = {
      ...scope,
      ...(this.#mayBeStale ? { resourceVersion: '0' } : {}),
      ...(this.#isPaged ? { limit: pageSize } : {}),
      signal,
    };
    this.#mayBeStale = false;
    const listed = await listPages(client, resource, options).catch((error: unknown) => {
      // The continue token has expired; the next list is not paged.
      if (isExpired(error)) this.#isPaged = false;
      throw error;
    });
    this.counts.ignored += listed.ignored;
    sink.replaceAll(listed.objects);
    this.#position = listed.resourceVersion;
    this.#isPaged = true;
    if (this.#streaming === 'not now') this.#streaming = 'try';
    this.#noteSuccess();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    this.counts.watches += 1;
    const { client, resource, scope = {}, sink } = this.#options;
    const task = {
      client,
      resource,
      scope,
      clock: this.#clock,
      random: this.#random,
      position: this.#position,
      onAll: (objects: T[], resourceVersion: string) => {
        sink.replaceAll(objects);
        this.#advance(resourceVersion);
      },
      onEvent: (event: WatchEvent<T>) => this.#apply(event),
    };
    await watchOnce(task, signal);
    this.#noteSuccess();
  }

  #apply({ type, object }: WatchEvent<T>): void {
    this.counts.events += 1;
    if (type !== 'BOOKMARK') {
      const admitted = prepareObject(this.#options.resource, object);
      if (admitted === undefined) this.counts.ignored += 1;
      else if (type === 'DELETED') this.#options.sink.remove(admitted);
      else this.#options.sink.put(admitted);
    }
    // After applying: an event that could not be applied must be sent again.
    this.#advance(object.metadata?.resourceVersion);
  }

  #advance(resourceVersion = ''): void {
    this.#noteSuccess();
    // Never back: some servers send a deleted object with the resourceVersion of its last change.
    if (resourceVersion === '' || Number(resourceVersion) < Number(this.#position)) return;
    this.#position = resourceVersion;
  }

  #noteSuccess(): void {
    this.#mayBeStale = false;
    this.#failuresInRow = 0;
    this.#refusalsInRow = 0;
    this.#trouble = undefined;
  }

  /** The server works but its history is too short, as after its restart: no reason to wait. */
  #isFirstExpiry(error: unknown): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (this.#position === undefined || !isExpired(error) || nowMs < this.#nextQuickRelistMs) return false;
    this.#nextQuickRelistMs = nowMs + minRelistPauseMs;
    return true;
  }

  async #pause(signal: AbortSignal, error: unknown): Promise<void> {
    const { relist, notBeforeMs } = judge(error);
    const waitMs = Math.max(
      notBeforeMs,
      this.#isFirstExpiry(error) ? 0 : this.#backoff.next(this.#clock.monotonicMs()),
    );
    this.counts.failures += 1;
    this.#failuresInRow += 1;
    if (relist || this.#failuresInRow >= maxFailuresAtPosition) this.#position = undefined;
    const trouble = messageOf(error);
    const level = trouble === this.#trouble || error instanceof StreamError ? 'debug' : 'warn';
    this.#log[level]('List or watch failed; retrying', { error, waitMs: Math.round(waitMs), relist });
    this.#trouble = trouble;
    this.#refusalsInRow = error instanceof ApiError && error.code === 403 ? this.#refusalsInRow + 1 : 0;
    if (this.#refusalsInRow === refusalsInRow) this.#options.onRefused?.();
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal).catch(() => undefined);
  }
}
