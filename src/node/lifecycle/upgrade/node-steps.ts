import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeLabel } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { isLeftBehind } from '#contract/windows-instance/upgrade-state.ts';
import { checkCluster, checkPods } from '../configure/remedies.ts';
import { evictPods } from '../out-of-service.ts';
import type { Step } from '../step.ts';
import type { SwapJourney } from './swap-journey.ts';

const shortMs = 2 * 60_000;

export const takeGrant: Step<SwapJourney> = {
  name: 'budget',
  description: 'takes a grant of the disruption budget; without one the journey ends here until it is its turn',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  async run(journey, { signal }) {
    const { deps, instance, name, node } = journey;
    journey.wait = undefined;
    if (name === 'rollback' && goesBackWithoutGrant(instance, node)) return;
    const answer = await deps.grants.take(instance, name, signal);
    journey.wait = answer.isGranted || isOutOfService(journey) ? undefined : answer.why;
  },
};

/**
 * An administrator goes on without this host, and its node is out of service already: attempts to bring it back keep no others waiting.
 * A node that only an administrator has cordoned still has its pods.
 */
export function goesBackWithoutGrant(instance: WindowsInstance, node: NodeView | undefined): boolean {
  const isOut = node?.ready !== true || Object.hasOwn(node.labels, nodeLabel.upgrading);
  return isOut && isLeftBehind(instance);
}

/** Waiting would only make it longer. */
function isOutOfService({ node, isOrdered, name }: SwapJourney): boolean {
  const hasBegun = isOrdered || name === 'rollback';
  return hasBegun && (node?.ready !== true || node.unschedulable);
}

export const cordonNode: Step<SwapJourney> = {
  name: 'cordon',
  description: 'cordons the Node and labels it as upgrading; the cordon of an administrator stays as it is',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  isDone: isPast,
  async run({ joinedNode, deps }, { signal }) {
    await deps.nodes.cordonAndLabel(joinedNode.name, { labels: { [nodeLabel.upgrading]: 'true' } }, [], signal);
  },
};

export const drainNode: Step<SwapJourney> = {
  name: 'drain',
  description: 'evicts the pods of the Node; goes on without them only by the setting drainTimeout',
  usualMs: 5 * 60_000,
  // More than the longest setting.
  limitMs: 5 * 3_600_000,
  remedy: checkPods,
  // The kubelet of a Node that is not ready ends no pods; the swap does.
  isDone: journey => isPast(journey) || journey.node?.ready === false,
  run: (journey, turn) => evictPods(journey, turn),
};

/** The Node was drained before, and no pod has come since; or it may have its pods again. */
function isPast({ isInPlace, isOrdered, node }: SwapJourney): boolean {
  return isInPlace || (isOrdered && node?.unschedulable === true);
}

export const uncordonNode: Step<SwapJourney> = {
  name: 'uncordon',
  description: 'uncordons the Node, unless an administrator cordoned it, and removes the label',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  async run(journey, { signal }) {
    await journey.deps.nodes.release(journey.joinedNode.name, signal);
    await journey.recordDone();
  },
};
