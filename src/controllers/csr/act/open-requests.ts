import { isServiceAccount } from '#contract/names.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import type { Feed, Source, Watch } from '#kube/controller/watches.ts';
import { type Key, keyOf } from '#kube/resource.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';
import { isDecided } from './approve.ts';
import { mayHaveEnd } from '../certificate-ends.ts';

/** A host has one or two undecided requests at a time, and some more after a day of refusals. */
const maxOfOne = 20;
/** All hosts that join show tokens of the same accounts; where the server does not tell these apart, they share the places. */
const maxOfShared = 200;

/** The undecided requests of one requester, by uid. */
interface Crowd {
  max: number;
  /** Those that are judged, the newest last. */
  judged: Map<string, Key>;
  /** Those that wait until there is room. */
  rest: Map<string, Key>;
}

/**
 * Which requests are judged: of one requester only so many at a time, because everybody may make as many as he likes. One that comes
 * is judged at once, and the oldest gives way to it, so nobody can keep a host that shares his name from its certificate by what
 * he left lying about. Whoever had to give way comes back as soon as others are decided.
 */
export class OpenRequests implements Watch {
  readonly #source: Source<CertificateSigningRequest>;
  readonly #crowds = new Map<string, Crowd>();

  constructor(source: Source<CertificateSigningRequest>) {
    this.#source = source;
  }

  get synced(): Promise<void> {
    return this.#source.synced;
  }

  start(feed: Feed): () => void {
    this.#crowds.clear();
    return this.#source.addHandler({
      added: request => this.#put(request, feed),
      updated: (_old, request) => this.#put(request, feed),
      deleted: request => this.#remove(request, feed),
    });
  }

  *relist(): Iterable<Key> {
    yield* this.judged();
    for (const request of this.#source.store.list()) if (mayHaveEnd(request)) yield keyOf(request);
  }

  /** Keys of all requests that are judged now. */
  *judged(): Iterable<Key> {
    for (const { judged } of this.#crowds.values()) yield* judged.values();
  }

  isJudged(request: CertificateSigningRequest): boolean {
    return this.#crowds.get(requesterOf(request))?.judged.has(uidOf(request)) === true;
  }

  /** More than are judged at a time; undefined while the requester has no more than that. */
  limitPassed(request: CertificateSigningRequest): number | undefined {
    const crowd = this.#crowds.get(requesterOf(request));
    return crowd === undefined || crowd.rest.size === 0 ? undefined : crowd.max;
  }

  #put(request: CertificateSigningRequest, feed: Feed): void {
    if (isDecided(request)) {
      this.#remove(request, feed);
      if (mayHaveEnd(request)) feed(keyOf(request), 'if there is room');
      return;
    }
    const [requester, uid, key] = [requesterOf(request), uidOf(request), keyOf(request)];
    const crowd = this.#crowds.get(requester) ?? { max: maxOf(request), judged: new Map(), rest: new Map() };
    this.#crowds.set(requester, crowd);
    if (!crowd.rest.has(uid)) crowd.judged.set(uid, key);
    const [oldest] = crowd.judged;
    if (crowd.judged.size > crowd.max && oldest !== undefined) {
      crowd.judged.delete(oldest[0]);
      crowd.rest.set(...oldest);
    }
    if (crowd.judged.has(uid)) feed(key, 'if there is room');
  }

  #remove(request: CertificateSigningRequest, feed: Feed): void {
    const [requester, uid] = [requesterOf(request), uidOf(request)];
    const crowd = this.#crowds.get(requester);
    if (crowd === undefined) return;
    crowd.rest.delete(uid);
    crowd.judged.delete(uid);
    const [next] = crowd.rest;
    if (next !== undefined && crowd.judged.size < crowd.max) {
      crowd.rest.delete(next[0]);
      crowd.judged.set(...next);
      feed(next[1], 'if there is room');
    }
    if (crowd.judged.size === 0) this.#crowds.delete(requester);
  }
}

/** Who made it: the user, and for an account that many hosts use the token as well. */
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

function uidOf({ metadata }: CertificateSigningRequest): string {
  return metadata.uid ?? metadata.name ?? '';
}
