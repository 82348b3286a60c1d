import { type Clock, systemClock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { isExpired } from '../api-error.ts';
import type { Client } from '../client.ts';
import { Backoff, type BackoffBounds, reflectorBackoff } from './reflector-backoff.ts';
import { judge, judgeStreaming, StreamError } from './reflector-failure.ts';
import { listPages } from './reflector-list.ts';
import { admit } from './reflector-objects.ts';
import { type Scope, watchOnce } from './reflector-watch.ts';
import type { KubeResource, Resource, WatchEvent } from '../resource.ts';

/** Where the reflector puts what it sees. Objects arrive frozen. */
export interface Sink<T> {
  /** These objects are all there are. */
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
  /** Numbers from 0 up to 1, for jitter. */
  random?: () => number;
  log?: Log;
  backoff?: BackoffBounds;
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
/** To list anew at once is right when history is lost, and a storm when it is lost again and again. */
const minRelistPauseMs = 30_000;
/** After so many failures without any progress the position itself is doubted, e.g. after a restore from a backup. */
const maxFailuresAtPosition = 8;

/** Keeps a sink equal to what the server has, whatever happens to server and network, until its signal is aborted. */
export class Reflector<T extends KubeResource> {
  readonly counts: ReflectorCounts = { lists: 0, watches: 0, events: 0, failures: 0, ignored: 0 };
  readonly #options: ReflectorOptions<T>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: Log;
  readonly #backoff: Backoff;
  /** How far the sink has come; undefined when it has to be filled anew. */
  #position: string | undefined;
  #streaming: 'try' | 'not now' | 'never' = 'try';
  /** A server's cache may answer the very first list; any later one must not take us back in time. */
  #mayBeStale = true;
  #isPaged = true;
  #failuresInRow = 0;
  #nextQuickRelistMs = 0;
  #trouble: string | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#log = (options.log ?? silentLog).with({ resource: options.resource.plural, ...options.scope });
    this.#backoff = new Backoff(options.backoff ?? reflectorBackoff, this.#random);
  }

  /** Why it fails, in one line; undefined since the last sign of life of the server. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Resolves after the abort, when nothing is under way any more; never rejects. */
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

  /** A watch that begins with all objects, for servers that can; others are told by how they refuse. */
  async #stream(signal: AbortSignal): Promise<void> {
    try {
      await this.#watch(signal);
    } catch (error) {
      if (this.#position !== undefined || signal.aborted) throw error;
      const verdict = judgeStreaming(error);
      this.#streaming = verdict === 'never again' ? 'never' : 'not now';
      if (verdict === 'failure') throw error;
      this.#log.debug('Listing, since the server does not stream all objects', { error });
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
      // The pages came too slowly for the server, which forgot their moment; next time all at once.
      if (isExpired(error)) this.#isPaged = false;
      throw error;
    });
    this.counts.ignored += listed.ignored;
    sink.replaceAll(listed.objects);
    this.#position = listed.resourceVersion;
    this.#isPaged = true;
    if (this.#streaming === 'not now') this.#streaming = 'try';
    this.#noteLife();
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
    this.#noteLife();
  }

  #apply({ type, object }: WatchEvent<T>): void {
    this.counts.events += 1;
    if (type !== 'BOOKMARK') {
      const admitted = admit(this.#options.resource, object);
      if (admitted === undefined) this.counts.ignored += 1;
      else if (type === 'DELETED') this.#options.sink.remove(admitted);
      else this.#options.sink.put(admitted);
    }
    // Only now: an event that could not be applied must come again.
    this.#advance(object.metadata?.resourceVersion);
  }

  #advance(resourceVersion = ''): void {
    this.#noteLife();
    // Never back: some servers date the last state of a deleted object by its last change.
    if (resourceVersion === '' || Number(resourceVersion) < Number(this.#position)) return;
    this.#position = resourceVersion;
  }

  #noteLife(): void {
    this.#mayBeStale = false;
    this.#failuresInRow = 0;
    this.#trouble = undefined;
  }

  /** The server is well and only its history does not go back far enough, as after its restart: no reason to wait. */
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
    this.#log[level]('Trying again to follow the server', { error, waitMs: Math.round(waitMs), relist });
    this.#trouble = trouble;
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal).catch(() => undefined);
  }
}
