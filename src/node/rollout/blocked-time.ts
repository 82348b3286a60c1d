import type { RolloutGrants } from '#contract/rollout-grants.ts';
import { chargeNodes, unavailableLimitMs } from './unavailable-time.ts';

/** Stored this often while a host waits, and when a node has used up its hour. */
const storeEveryMs = 60_000;

type Times = RolloutGrants['unavailable'];

/** How long nodes have kept hosts waiting since this was last stored, by the monotonic clock. */
export class BlockedTime {
  #nodes: readonly string[] = [];
  #sinceMs = 0;
  readonly #unstored = new Map<string, number>();

  /** These nodes keep hosts waiting from now on. */
  block(nodes: readonly string[], nowMs: number): void {
    this.#nodes = nodes;
    this.#sinceMs = nowMs;
  }

  /** Charges the nodes for the time since the last call. */
  charge(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    for (const node of this.#nodes) this.#unstored.set(node, (this.#unstored.get(node) ?? 0) + elapsedMs);
  }

  /** The stored times and what is not stored yet. */
  added(stored: Times, nowMs: number): Times {
    return [...this.#unstored].reduce((times, [node, ms]) => chargeNodes(times, [node], ms, nowMs), stored);
  }

  isStoreDue(stored: Times): boolean {
    return [...this.#unstored].some(([node, ms]) => {
      const storedMs = stored.get(node)?.ms ?? 0;
      return ms >= storeEveryMs || (storedMs < unavailableLimitMs && storedMs + ms >= unavailableLimitMs);
    });
  }

  stored(): void {
    this.#unstored.clear();
  }
}
