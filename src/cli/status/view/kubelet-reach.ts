import { findCondition } from '#base/condition.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import type { HostView } from './host-view.ts';

/** Adds advice to a Ready host whose kubelet the operator could not reach: the Node works, but its logs cannot be read. */
export function withKubeletReach(host: HostView): HostView {
  const { tone, problem, conditions, note } = host;
  const condition = findCondition(conditions, instanceCondition.kubeletReachable);
  if (tone !== 'good' || problem !== undefined || condition?.status !== 'False') return host;
  const { reason = '', message = '' } = condition;
  // The message contains the remedy.
  return { ...host, note: note ?? 'kubelet not reachable', problem: { code: reason, message, remedy: '' } };
}
