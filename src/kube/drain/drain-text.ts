import { shortLine } from '#base/printable.ts';
import { keyText } from '../resource.ts';
import type { BlockedPod } from './drain.ts';

const maxPods = 5;
/** Messages of admission webhooks can be long. */
const maxReason = 160;

/** Names the first pods, with the PodDisruptionBudgets that protect them. */
export function describePods(pods: readonly BlockedPod[]): string {
  const named = pods.slice(0, maxPods).map(({ pod, budgets, message }) => {
    const why = shortLine(message, maxReason);
    return `${keyText(pod)} (${budgets.length === 0 ? why : `PodDisruptionBudget ${budgets.join(', ')}: ${why}`})`;
  });
  const more = pods.length > named.length ? ` and ${pods.length - named.length} more` : '';
  return `${named.join('; ')}${more}`;
}

/** One line about a drain that is not over. */
export function drainProgress(left: readonly BlockedPod[]): string {
  const blocked = left.filter(({ isRejected }) => isRejected);
  const count = `${left.length} ${left.length === 1 ? 'pod' : 'pods'} left`;
  const going = left.length - blocked.length;
  if (blocked.length === 0) return `draining the Node: ${count}: ${describePods(left)}`;
  const others = going === 0 ? '' : `, ${going} of them terminating or not evicted yet`;
  return `draining the Node: ${count}${others}; blocked: ${describePods(blocked)}`;
}

/** Commands for the first blocked pod, preferably of a budget; the others are in the message. */
export function blockedRemedy(blocked: readonly BlockedPod[]): string {
  const [first] = [...blocked.filter(({ budgets }) => budgets.length > 0), ...blocked];
  if (first === undefined) return '';
  const { namespace, name } = first.pod;
  const deletion = `kubectl delete pod ${name} -n ${namespace}`;
  const [budget] = first.budgets;
  if (budget !== undefined) {
    return `Relax the PodDisruptionBudgets: kubectl edit pdb ${budget} -n ${namespace}. Or delete the pods: ${deletion}.`;
  }
  return first.is === 'terminating'
    ? `Check that the kubelet of the Node runs. If it does not, delete the pods: ${deletion} --force.`
    : `Delete the pods: ${deletion}.`;
}
