import { isServiceAccount } from '#contract/names.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import type { Enqueue, WatchSource, Watch } from '#kube/controller/watches.ts';
import { type Key, keyOf } from '#kube/resource.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';
import { isDecided } from './approve.ts';
import { mayHaveEnd } from '../certificate-ends.ts';
import { type Readings, uidOf } from './readings.ts';

/** A host has one or two pending requests at a time, and some more after a day of refusals. */
const maxOfOne = 20;
/** Joining hosts use tokens of the same accounts; on servers that do not write token ids they share one limit. */
const maxOfShared = 200;

/** The pending requests of one requester, by uid. */
interface RequesterQueue {
  max: number;
  /** Newest last. */
  judged: Map<string, Key>;
  /** Over the limit. */
  waiting: Map<string, Key>;
}

/**
 * Limits how many requests of one requester are judged at a time, because every user can create any number. A new request is
 * judged at once and displaces the oldest, so that old requests cannot keep a host with the same requester from its certificate.
 * Displaced requests return as soon as others are decided.
 */
export class OpenRequests implements Watch {
  readonly #source: WatchSource<CertificateSigningRequest>;
  readonly #readings: Pick<Readings, 'close' | 'forget'>;
  readonly #queues = new Map<string, RequesterQueue>();

  constructor(source: WatchSource<CertificateSigningRequest>, readings: Pick<Readings, 'close' | 'forget'>) {
    this.#source = source;
    this.#readings = readings;
  }

  get synced(): Promise<void> {
    return this.#source.synced;
  }

  start(enqueue: Enqueue): () => void {
    this.#queues.clear();
    return this.#source.addHandler({
      added: request => this.#put(request, enqueue),
      updated: (_old, request) => this.#put(request, enqueue),
      deleted: request => {
        this.#readings.forget(uidOf(request));
        this.#remove(request, enqueue);
      },
    });
  }

  *relist(): Iterable<Key> {
    yield* this.judged();
    for (const request of this.#source.store.list()) if (mayHaveEnd(request)) yield keyOf(request);
  }

  /** Keys of all requests that are judged now. */
  *judged(): Iterable<Key> {
    for (const { judged } of this.#queues.values()) yield* judged.values();
  }

  isJudged(request: CertificateSigningRequest): boolean {
    return this.#queues.get(requesterOf(request))?.judged.has(uidOf(request)) === true;
  }

  /** The limit that the requester exceeds; undefined while it does not. */
  limitPassed(request: CertificateSigningRequest): number | undefined {
    const queue = this.#queues.get(requesterOf(request));
    return queue === undefined || queue.waiting.size === 0 ? undefined : queue.max;
  }

  #put(request: CertificateSigningRequest, enqueue: Enqueue): void {
    if (isDecided(request)) {
      this.#readings.close(uidOf(request));
      this.#remove(request, enqueue);
      if (mayHaveEnd(request)) enqueue(keyOf(request), 'if there is room');
      return;
    }
    const [requester, uid, key] = [requesterOf(request), uidOf(request), keyOf(request)];
    const queue = this.#queues.get(requester) ?? { max: maxOf(request), judged: new Map(), waiting: new Map() };
    this.#queues.set(requester, queue);
    if (!queue.waiting.has(uid)) queue.judged.set(uid, key);
    const [oldest] = queue.judged;
    if (queue.judged.size > queue.max && oldest !== undefined) {
      queue.judged.delete(oldest[0]);
      queue.waiting.set(...oldest);
      this.#readings.close(oldest[0]);
    }
    if (queue.judged.has(uid)) enqueue(key, 'if there is room');
  }

  #remove(request: CertificateSigningRequest, enqueue: Enqueue): void {
    const [requester, uid] = [requesterOf(request), uidOf(request)];
    const queue = this.#queues.get(requester);
    if (queue === undefined) return;
    queue.waiting.delete(uid);
    queue.judged.delete(uid);
    const [next] = queue.waiting;
    if (next !== undefined && queue.judged.size < queue.max) {
      queue.waiting.delete(next[0]);
      queue.judged.set(...next);
      enqueue(next[1], 'if there is room');
    }
    if (queue.judged.size === 0) this.#queues.delete(requester);
  }
}

/** The user, and for service accounts, which many hosts share, also the token. */
export function requesterOf({ spec }: CertificateSigningRequest): string {
  const { username = '' } = spec;
  const token = isServiceAccount(username) ? tokenOf(spec) : undefined;
  return token === undefined ? username : `${username} ${token}`;
}

function maxOf({ spec }: CertificateSigningRequest): number {
  const isShared = isServiceAccount(spec.username ?? '') && tokenOf(spec) === undefined;
  return isShared ? maxOfShared : maxOfOne;
}

function tokenOf({ extra }: CertificateSigningRequest['spec']): string | undefined {
  return extra?.[credentialIdKey]?.[0];
}
