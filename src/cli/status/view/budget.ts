import { timestamp } from '#base/clock.ts';
import { parseRollout } from '#contract/rollout.ts';
import type { ClusterView, HostView } from './host-view.ts';
import { waitsForBudget } from './removal.ts';

/** The disruption budget: who is out of service, and who waits. */
export interface BudgetView {
  /** As written; `unknown` while it is invalid, because only the operator knows its last valid value. */
  maxUnavailable: string;
  holds: readonly { instance: string; node: string; journey: string; since: string }[];
  waits: readonly { host: string; message: string }[];
}

export function budgetOf(view: ClusterView, hosts: readonly HostView[]): BudgetView {
  const waits = hosts.flatMap(({ name, conditions }) => {
    const waiting = waitsForBudget(conditions);
    return waiting === undefined ? [] : [{ host: name, message: waiting.message ?? '' }];
  });
  return {
    maxUnavailable: maxUnavailableOf(view) ?? 'unknown',
    holds: view.grants
      .toSorted((one, other) => one.sinceMs - other.sinceMs)
      .map(({ instance, node, journey, sinceMs }) => ({ instance, node, journey, since: timestamp(sinceMs) })),
    waits,
  };
}

/** Undefined while the setting is invalid. */
function maxUnavailableOf({ rollout }: Pick<ClusterView, 'rollout'>): string | undefined {
  if (parseRollout(rollout).invalid.has('maxUnavailable')) return undefined;
  return rollout['maxUnavailable'] || defaultMaxUnavailable;
}

/** For sentences: a number or percentage, or the name of the setting while it is invalid. */
export function budgetText(view: Pick<ClusterView, 'rollout'>): string {
  return maxUnavailableOf(view) ?? 'maxUnavailable';
}

/** Of the operator, when the ConfigMap windows-rollout sets none. */
const defaultMaxUnavailable = '1';

/** Notes about hosts that were removed by force, as data. */
export function removedHostsOf({
  removedHosts,
  nodes,
}: Pick<ClusterView, 'removedHosts' | 'nodes'>): (ClusterView['removedHosts'][number] & { isBack: boolean })[] {
  const present = new Set(nodes.map(({ name }) => name));
  return removedHosts.map(note => ({ ...note, isBack: present.has(note.node) }));
}
