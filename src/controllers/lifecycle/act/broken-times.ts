import type { BrokenTime, Trouble } from '../health.ts';

interface Since {
  brokenMs: number;
  /** Missing while the node is silent. */
  reportedMs?: number;
}

/** Since when watched nodes are unhealthy, by the monotonic clock of this process. */
export class BrokenTimes {
  readonly #since = new Map<string, Since>();

  /** For how long the node is unhealthy; undefined if it is not. */
  note(key: string, trouble: Pick<Trouble, 'isSilent'> | undefined, nowMs: number): BrokenTime | undefined {
    if (trouble === undefined) {
      this.#since.delete(key);
      return undefined;
    }
    const { brokenMs = nowMs, reportedMs = nowMs } = this.#since.get(key) ?? {};
    this.#since.set(key, { brokenMs, ...(!trouble.isSilent && { reportedMs }) });
    return { totalMs: nowMs - brokenMs, ...(!trouble.isSilent && { reportedMs: nowMs - reportedMs }) };
  }

  /** It is not watched, or a journey has changed the host. */
  forget(key: string): void {
    this.#since.delete(key);
  }
}
