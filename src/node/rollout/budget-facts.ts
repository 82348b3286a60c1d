import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { Node } from '#kube/resources.ts';
import { isLeftBehind } from '#contract/windows-instance/upgrade-state.ts';
import type { BudgetHost, NodeState } from './budget.ts';
import { hostUpgrade } from './version-rollout.ts';

/** The hosts with a Node; `fresh` is newer than the cache. */
export function budgetHosts(cached: readonly WindowsInstance[], fresh?: WindowsInstance): BudgetHost[] {
  const others = cached.filter(({ metadata }) => metadata.uid !== fresh?.metadata.uid);
  return [...others, ...(fresh === undefined ? [] : [fresh])].flatMap(instance => {
    const { metadata, spec, status } = instance;
    const node = boundNode(instance);
    if (node === undefined) return [];
    const upgrade = hostUpgrade(instance);
    const host: BudgetHost = {
      instance: metadata.name ?? '',
      uid: metadata.uid ?? '',
      node,
      isPaused: spec.paused === true,
      isConfigured: status?.version !== undefined,
      ...(status?.journey && !isStuck(instance) && { journey: status.journey.name }),
      ...(upgrade && { upgrade }),
    };
    return [host];
  });
}

/**
 * A removal that fails again and again holds the budget no longer than any other node that is out of service. So does a rollback that
 * an administrator has accepted, also during an attempt, until the step that failed has succeeded.
 */
function isStuck(instance: WindowsInstance): boolean {
  const { journey, phase, timeline = [] } = instance.status ?? {};
  if (journey?.name === 'remove') return phase === 'Failed';
  const hasFailed = phase === 'Failed' || timeline.some(({ lastError }) => lastError !== undefined);
  return journey?.name === 'rollback' && hasFailed && isLeftBehind(instance);
}

export function nodeStates(nodes: readonly Node[]): Map<string, NodeState> {
  return new Map(nodes.map(node => [node.metadata.name ?? '', nodeState(node)]));
}

export function nodeState({ spec, status }: Node): NodeState {
  const conditions: unknown = status?.conditions;
  const ready = Array.isArray(conditions) ? status?.conditions?.find(({ type }) => type === 'Ready') : undefined;
  return { isReady: ready?.status === 'True', isCordoned: spec?.unschedulable === true };
}
