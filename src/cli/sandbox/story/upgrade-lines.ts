import { nodeLabel } from '#contract/names.ts';
import type { InstanceUpgrade } from '#contract/windows-instance/resource.ts';
import { durationText } from '../../status/view/amounts.ts';
import type { ClusterView } from '../../status/view/host-view.ts';

/** What a line says about a host. */
export interface UpgradeLine {
  host: string;
  text: string;
}

type Seen = Pick<ClusterView, 'instances' | 'nodes'>;

type Milestone = readonly [at: (upgrade: InstanceUpgrade) => string | undefined, text: Text];

const swapped: readonly Milestone[] = [
  [({ staged }) => staged, ({ to }) => `has the files of ${to}; its Node is still in service`],
  [({ activated }) => activated, ({ from, to }) => `swaps the files of ${from} for those of ${to}`],
];
/** A host of the Go operator has no set of files that it could swap. */
const setUpAgain: readonly Milestone[] = [
  [({ staged }) => staged, ({ from }) => `is adopted with ${from}; its Node is still in service`],
  [({ activated }) => activated, ({ from, to }) => `is cleaned of ${from} and set up with ${to}`],
];

/** When it happened, if it has, and what to say about it. */
const later: readonly Milestone[] = [
  [({ failed }) => failed?.at, ({ failed }) => `failed: ${failed?.code}: ${failed?.message}`],
  [({ rolledBack }) => rolledBack, ({ from }) => `runs ${from} again`],
  [({ soaked }) => soaked, ({ to }) => `has soaked: ${to} works here`],
];
type Text = (upgrade: InstanceUpgrade) => string;

/** Tells the upgrades of hosts, and measures how long their Nodes are out of service. */
export class UpgradeLines {
  /** Total time out of service by Node. */
  readonly outMs = new Map<string, number>();
  /** The largest number of Nodes that were out of service at once. */
  mostOut = 0;
  readonly #milestones: readonly Milestone[];
  readonly #told = new Set<string>();
  readonly #outSinceMs = new Map<string, number>();

  constructor(how: 'swap' | 'set up again' = 'swap') {
    this.#milestones = [...(how === 'swap' ? swapped : setUpAgain), ...later];
  }

  /** Lines for the changes since the last call. */
  next({ instances, nodes }: Seen, nowMs: number): UpgradeLine[] {
    const reached = instances.flatMap(({ metadata, status }) =>
      status?.upgrade === undefined ? [] : this.#reached(metadata.name ?? '', status.upgrade),
    );
    const moved = nodes.flatMap(node => this.#service(node, nowMs));
    this.mostOut = Math.max(this.mostOut, this.#outSinceMs.size);
    // Files are staged before the Node goes out of service; the swap and its end come after it.
    const isStaged = ({ milestone }: { milestone: number }) => milestone === 0;
    const before = reached.filter(isStaged);
    const after = reached.filter(each => !isStaged(each));
    return [...before, ...moved, ...after].map(({ host, text }) => ({ host, text }));
  }

  #reached(host: string, upgrade: InstanceUpgrade): (UpgradeLine & { milestone: number })[] {
    return this.#milestones.flatMap(([at, text], milestone) => {
      const key = `${host} ${upgrade.to} ${milestone} ${at(upgrade)}`;
      if (at(upgrade) === undefined || this.#told.has(key)) return [];
      this.#told.add(key);
      return [{ host, text: text(upgrade), milestone }];
    });
  }

  #service({ name, labels, unschedulable }: Seen['nodes'][number], nowMs: number): UpgradeLine[] {
    const sinceMs = this.#outSinceMs.get(name);
    if (unschedulable === (sinceMs !== undefined)) return [];
    if (sinceMs === undefined) {
      this.#outSinceMs.set(name, nowMs);
      const { upgrading } = nodeLabel;
      const label = labels[upgrading] === undefined ? '' : `, label ${upgrading}=${labels[upgrading]}`;
      return [{ host: name, text: `is out of service: cordoned${label}` }];
    }
    this.#outSinceMs.delete(name);
    const ms = nowMs - sinceMs;
    this.outMs.set(name, (this.outMs.get(name) ?? 0) + ms);
    return [{ host: name, text: `is in service again after ${durationText(ms)}` }];
  }
}
