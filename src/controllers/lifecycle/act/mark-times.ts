import { setRecent } from '#base/recent-map.ts';

/** Whoever controls a Node could otherwise have its operator write without end. */
const markEveryMs = 300_000;
const maxKnown = 10_000;

/** When the journey `rekey` last ended, by UID of the instance and the monotonic clock: it marks the Node. */
export class MarkTimes {
  readonly #endedMs = new Map<string, number>();

  ended(uid: string, nowMs: number): void {
    setRecent(this.#endedMs, uid, nowMs, maxKnown);
  }

  /** How long a Node whose mark was changed meanwhile waits; undefined when it need not. */
  delayMs(uid: string, nowMs: number): number | undefined {
    const leftMs = (this.#endedMs.get(uid) ?? -Infinity) + markEveryMs - nowMs;
    return leftMs > 0 ? leftMs : undefined;
  }
}
