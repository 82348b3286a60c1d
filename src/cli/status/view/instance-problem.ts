import { type Condition, findCondition } from '#base/condition.ts';
import { shortDuration } from '#base/short-duration.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import {
  type InstanceActivity,
  instanceCondition,
  isSettingPhase,
  type TimelineStep,
  type WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import type { NodeView } from '#contract/node.ts';
import { file } from '#contract/paths.ts';
import { conditionReason } from '#node/lifecycle/instance-status.ts';
import type { HostProblem } from './host-view.ts';

export const { nodeNotReady: notReady, slowStep } = conditionReason;
/** Reasons in other forms are not failures. */
const errorCode = /^[A-Z][A-Z0-9_]+$/;

/** What is wrong with the host, by its conditions and the failing step. */
export function problemOf(
  { status = {} }: WindowsInstance,
  failing: TimelineStep | undefined,
  node: NodeView | undefined,
): HostProblem | undefined {
  const { conditions } = status;
  const accepted = findCondition(conditions, instanceCondition.accepted);
  if (accepted?.status === 'False') return conditionProblem(accepted);
  if (status.phase === 'Ready') {
    const ready = findCondition(conditions, instanceCondition.ready);
    if (ready?.reason !== notReady || ready.status === 'True') return undefined;
    return notReadyProblem(status.node ?? '', node);
  }
  const unsettled = settingsFailure(status);
  return unsettled === undefined ? journeyProblem(status, failing) : settingsProblem(unsettled, failing);
}

/** During a retry the timeline may be ahead of the condition. */
function settingsProblem(unsettled: Condition, failing: TimelineStep | undefined): HostProblem {
  const { lastError } = failing ?? {};
  return lastError !== undefined && lastError.code === unsettled.reason ? lastError : conditionProblem(unsettled);
}

function journeyProblem(status: WindowsInstanceStatus, failing: TimelineStep | undefined): HostProblem | undefined {
  // The timeline is written before the condition, which decides whether it is a failure or only needs time.
  const configured = findCondition(status.conditions, instanceCondition.configured);
  if (configured === undefined || configured.status === 'True' || !errorCode.test(configured.reason ?? '')) {
    return slowProblem(status);
  }
  return failing?.lastError ?? conditionProblem(configured);
}

/** Why the host does not get its new settings. In other phases the condition may be that of settings long replaced. */
export function settingsFailure({ phase, conditions }: WindowsInstanceStatus): Condition | undefined {
  const { settingsApplied, keyCurrent } = instanceCondition;
  const condition = findCondition(conditions, phase === 'Rekeying' ? keyCurrent : settingsApplied);
  return isSettingPhase(phase) && condition?.status === 'False' ? condition : undefined;
}

function notReadyProblem(name: string, node: NodeView | undefined): HostProblem {
  const why = node?.readyMessage ?? '';
  return {
    code: notReady,
    message: `Node ${name} is not ready${why === '' ? '' : `: ${why}`}`,
    remedy:
      `Run \`kubectl describe node ${name}\`, and on the host \`Get-Service kubelet, containerd\` and ` +
      `\`Get-Content ${file.kubeletLog} -Tail 20\`.`,
  };
}

/** The operator gives a remedy when the step has taken more than twice the usual time. */
function slowProblem({ step = '', activity }: WindowsInstanceStatus): HostProblem | undefined {
  if (activity?.remedy === undefined) return undefined;
  const { waitsFor = step, since, remedy } = activity;
  return {
    code: slowStep,
    message: `${waitsFor.replace(/\.$/, '')}, since ${since.slice(11, 19)} UTC (${timesText(activity)})`,
    remedy,
  };
}

/** `usually 30 s, limit 10 min`. */
export function timesText({
  usualSeconds,
  limitSeconds,
}: Pick<InstanceActivity, 'usualSeconds' | 'limitSeconds'>): string {
  const limit = `limit ${shortDuration(limitSeconds * 1000)}`;
  return usualSeconds === undefined ? limit : `usually ${shortDuration(usualSeconds * 1000)}, ${limit}`;
}

/** The message of a condition contains the remedy. */
function conditionProblem({ reason = '', message = '' }: Condition): HostProblem {
  return { code: reason, message, remedy: '' };
}
