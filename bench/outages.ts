import { systemClock } from '../src/base/clock.ts';
import { silentLog } from '../src/base/log.ts';
import type { Client } from '../src/kube/client.ts';
import { Informers } from '../src/kube/informer/informers.ts';
import { type Node, nodes } from '../src/kube/resources.ts';

/** Times from cordon to uncordon of Nodes, as a client of the cluster sees them. */
export class Outages implements AsyncDisposable {
  /** Of outages that are over. */
  readonly seconds: number[] = [];
  /** The largest number of Nodes that were cordoned at once. */
  most = 0;
  readonly #sinceMs = new Map<string, number>();
  readonly #informers: Informers;

  private constructor(client: Client) {
    this.#informers = new Informers({ client, clock: systemClock, log: silentLog, random: Math.random });
    const note = (node: Node) => this.#note(node.metadata.name ?? '', node.spec?.unschedulable === true);
    this.#informers.get(nodes, {}).addHandler({ added: note, updated: (_, node) => note(node), deleted: note });
    this.#informers.start();
  }

  static async watch(client: Client): Promise<Outages> {
    const outages = new Outages(client);
    await outages.#informers.synced(new AbortController().signal);
    return outages;
  }

  #note(name: string, isCordoned: boolean): void {
    const sinceMs = this.#sinceMs.get(name);
    if (isCordoned === (sinceMs !== undefined)) return;
    if (sinceMs === undefined) this.#sinceMs.set(name, performance.now());
    else this.seconds.push((performance.now() - sinceMs) / 1000);
    if (sinceMs !== undefined) this.#sinceMs.delete(name);
    this.most = Math.max(this.most, this.#sinceMs.size);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#informers.stop();
  }
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const [lower = Number.NaN, upper = lower] = sorted.slice(sorted.length % 2 === 0 ? middle - 1 : middle, middle + 1);
  return (lower + upper) / 2;
}
