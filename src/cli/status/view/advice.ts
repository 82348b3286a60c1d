import { findCondition } from '#base/condition.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import type { HostView } from './host-view.ts';

/** Conditions of hosts that work nevertheless: what does not, in a few words. The first one that is False counts. */
const kinds = [
  { type: instanceCondition.keyCurrent, note: 'uses a former SSH key' },
  { type: instanceCondition.kubeletReachable, note: 'kubelet not reachable' },
] as const;

/** Adds advice to a Ready host that lacks something, such as the current SSH key, or whose logs cannot be read. */
export function withAdvice(host: HostView): HostView {
  const { tone, problem, conditions, note } = host;
  if (tone !== 'good' || problem !== undefined) return host;
  for (const kind of kinds) {
    const condition = findCondition(conditions, kind.type);
    if (condition?.status !== 'False') continue;
    const { reason = '', message = '' } = condition;
    // The message contains the remedy.
    return { ...host, note: note ?? kind.note, problem: { code: reason, message, remedy: '' } };
  }
  return host;
}
