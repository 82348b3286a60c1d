/** Since when watched nodes are unhealthy, by the monotonic clock of this process. */
export class BrokenTimes {
  readonly #sinceMs = new Map<string, number>();

  /** For how long the node is unhealthy; undefined if it is not. */
  note(key: string, isBroken: boolean, nowMs: number): number | undefined {
    if (!isBroken) {
      this.#sinceMs.delete(key);
      return undefined;
    }
    const sinceMs = this.#sinceMs.get(key) ?? nowMs;
    this.#sinceMs.set(key, sinceMs);
    return nowMs - sinceMs;
  }

  /** It is not watched, or a journey has changed the host. */
  forget(key: string): void {
    this.#sinceMs.delete(key);
  }
}
