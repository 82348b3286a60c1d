import type { GrantRequest } from './budget.ts';

interface Waiting {
  request: GrantRequest;
  /** What it was told to wait for. */
  why: string;
  askedMs: number;
  /** When it was woken, unless it has asked since. */
  wokenMs?: number;
}

/** A host that was woken asks within seconds, unless it does not need the grant any more. */
const answerMs = 2 * 60_000;
/** Safety net for hosts that are never woken. */
const silenceMs = 3_600_000;

/** Who waits for a grant, since when. Times are those of the monotonic clock. */
export class WaitingLine {
  readonly #waiting = new Map<string, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  list(): GrantRequest[] {
    return [...this.#waiting.values()].map(({ request }) => request);
  }

  /** The request with the time of the first one; it does not wait yet. */
  timed(request: Omit<GrantRequest, 'sinceMs'>, nowMs: number): GrantRequest {
    return { ...request, sinceMs: this.#waiting.get(request.uid)?.request.sinceMs ?? nowMs };
  }

  wait(request: GrantRequest, why: string, nowMs: number): void {
    this.#waiting.set(request.uid, { request, why, askedMs: nowMs });
  }

  /** Those that were told something else. */
  misinformed(whys: ReadonlyMap<GrantRequest, string>): GrantRequest[] {
    return [...whys].flatMap(([request, why]) => (this.#waiting.get(request.uid)?.why === why ? [] : [request]));
  }

  /** True if it waited. */
  leave(uid: string): boolean {
    return this.#waiting.delete(uid);
  }

  woken(uid: string, nowMs: number): void {
    const waiting = this.#waiting.get(uid);
    if (waiting !== undefined) waiting.wokenMs ??= nowMs;
  }

  /** Drops hosts that need no grant any more, so that none waits for them. */
  prune(isPresent: (uid: string) => boolean, nowMs: number): void {
    for (const [uid, { askedMs, wokenMs = nowMs }] of this.#waiting) {
      const isSilent = nowMs - wokenMs >= answerMs || nowMs - askedMs >= silenceMs;
      if (isSilent || !isPresent(uid)) this.#waiting.delete(uid);
    }
  }
}
