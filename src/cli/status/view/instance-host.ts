import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import {
  type InstanceActivity,
  instanceCondition,
  type TimelineStep,
  type WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import { type Condition, findCondition } from '#base/condition.ts';
import { shortDuration } from '#base/short-duration.ts';
import { type ClusterView, duplicatePhase, type HostProblem, type HostView } from './host-view.ts';
import { pinnedKeyOf } from './pinned-key.ts';

type InstanceFacts = Pick<ClusterView, 'nodes' | 'hostKeys' | 'unread'>;

export function hostOfInstance(instance: WindowsInstance, { nodes, hostKeys, unread }: InstanceFacts): HostView {
  const { status = {} } = instance;
  const { timeline = [], conditions = [] } = status;
  const name = boundNode(instance);
  const node = nodes.find(each => each.name === name);
  const isRemoved = instance.metadata.deletionTimestamp !== undefined;
  const mayBeGone = status.phase === 'Ready' && name !== undefined && !unread.includes('nodes');
  const isNodeGone = mayBeGone && node === undefined && !isRemoved;
  const failing = timeline.findLast(({ lastError, finished }) => lastError !== undefined && finished === undefined);
  const problem = isNodeGone ? undefined : problemOf(instance, failing);
  const at = isNodeGone ? ({ phase: 'NodeDeleted', tone: 'busy' } as const) : phaseOf(instance, problem);
  return {
    ...namesOf(instance, node),
    ...at,
    ...(status.phase === 'Ready' ? readyActivity(node, conditions) : configuringActivity(status)),
    ...(isNodeGone && { note: `Node ${name} does not exist; the operator configures the host again` }),
    ...(timedPhases.has(at.phase) ? timesOf(status) : noTimes),
    problem,
    attempts: failing?.attempts ?? 0,
    hostKey: pinnedKeyOf(instance, node, hostKeys),
    node,
    nodeName: node?.name ?? (unread.includes('nodes') ? status.node : undefined),
    instance,
    timeline,
    conditions,
  };
}

/** In other phases the times are those of an earlier journey. */
const timedPhases: ReadonlySet<string> = new Set([
  'Configuring',
  'Reconnecting',
  'Slow',
  'Retrying',
  'Failed',
  'Waiting',
  'Ready',
  'NodeNotReady',
]);
const noTimes = { startedMs: undefined, endedMs: undefined, nextAttemptMs: undefined };

function namesOf(
  { metadata, spec, status }: WindowsInstance,
  node: NodeView | undefined,
): Pick<HostView, 'name' | 'aliases' | 'address' | 'source'> {
  const { name = '' } = metadata;
  const { address, source } = spec;
  return {
    name,
    aliases: [address, status?.ipv4, source?.name, status?.node, status?.host?.name, node?.name].filter(isText),
    address,
    source: { kind: source?.kind ?? 'Direct', name: source?.name ?? name },
  };
}

type Activity = Pick<HostView, 'step' | 'note' | 'progress' | 'activity'>;

function configuringActivity({ step, progress, activity, phase }: WindowsInstanceStatus): Activity {
  const note = phase === 'Paused' ? 'spec.paused is true' : undefined;
  return { step, progress, activity, note };
}

function readyActivity(node: NodeView | undefined, conditions: readonly Condition[]): Activity {
  return { step: undefined, progress: undefined, activity: undefined, note: readyNote(node, conditions) };
}

function timesOf({
  phase,
  nextAttempt,
  timeline = [],
}: WindowsInstanceStatus): Pick<HostView, 'startedMs' | 'endedMs' | 'nextAttemptMs'> {
  const started = timesIn(timeline.map(step => step.firstStarted ?? step.started));
  const finished = timesIn(timeline.map(step => step.finished));
  return {
    startedMs: started.length === 0 ? undefined : Math.min(...started),
    endedMs: phase !== 'Ready' || finished.length === 0 ? undefined : Math.max(...finished),
    nextAttemptMs: phase === 'Failed' ? timesIn([nextAttempt])[0] : undefined,
  };
}

function timesIn(texts: readonly (string | undefined)[]): number[] {
  return texts.map(text => Date.parse(text ?? '')).filter(Number.isFinite);
}

function isText(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

/** The host may only need time, for example to boot. */
function mayNeedTime({ status }: WindowsInstance): boolean {
  return findCondition(status?.conditions, instanceCondition.configured)?.status === 'Unknown';
}

function phaseOf(instance: WindowsInstance, problem: HostProblem | undefined): Pick<HostView, 'phase' | 'tone'> {
  const { metadata, status = {} } = instance;
  const accepted = findCondition(status.conditions, instanceCondition.accepted);
  if (metadata.deletionTimestamp !== undefined) return { phase: 'Removing', tone: 'busy' };
  const tone = problem === undefined ? 'good' : 'bad';
  if (status.phase === 'Ready') return { phase: problem?.code === notReady ? notReady : 'Ready', tone };
  if (status.phase === 'Paused') return { phase: 'Paused', tone: 'idle' };
  if (accepted?.status === 'False') {
    return { phase: accepted.reason === 'INSTANCE_DUPLICATE' ? duplicatePhase : 'Rejected', tone: 'bad' };
  }
  if (problem?.code === slowStep) return { phase: 'Slow', tone: 'slow' };
  if (problem === undefined) return { phase: status.phase ?? 'Pending', tone: 'busy' };
  if (mayNeedTime(instance)) return { phase: 'Waiting', tone: 'busy' };
  return { phase: status.phase === 'Configuring' ? 'Retrying' : 'Failed', tone: 'bad' };
}

const [notReady, slowStep] = ['NodeNotReady', 'SlowStep'];
/** Reasons in other forms are not failures. */
const errorCode = /^[A-Z][A-Z0-9_]+$/;

function problemOf({ status = {} }: WindowsInstance, failing: TimelineStep | undefined): HostProblem | undefined {
  const { conditions } = status;
  const accepted = findCondition(conditions, instanceCondition.accepted);
  if (accepted?.status === 'False') return conditionProblem(accepted);
  if (status.phase === 'Ready') {
    const ready = findCondition(conditions, instanceCondition.ready);
    if (ready?.reason !== notReady || ready.status === 'True') return undefined;
    const remedy = `Run \`kubectl describe node ${status.node}\` and check its conditions and events.`;
    return { ...conditionProblem(ready), remedy };
  }
  // The timeline is written before the condition, which decides whether it is a failure or only needs time.
  const configured = findCondition(conditions, instanceCondition.configured);
  if (configured === undefined || configured.status === 'True' || !errorCode.test(configured.reason ?? '')) {
    return slowProblem(status);
  }
  return failing?.lastError ?? conditionProblem(configured);
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
export function timesText({ usualSeconds, limitSeconds }: InstanceActivity): string {
  const limit = `limit ${shortDuration(limitSeconds * 1000)}`;
  return usualSeconds === undefined ? limit : `usually ${shortDuration(usualSeconds * 1000)}, ${limit}`;
}

/** The message of a condition contains the remedy. */
function conditionProblem({ reason = '', message = '' }: Condition): HostProblem {
  return { code: reason, message, remedy: '' };
}

function readyNote(node: NodeView | undefined, conditions: readonly Condition[]): string | undefined {
  const configured = findCondition(conditions, instanceCondition.configured);
  if (configured?.reason === 'OtherVersion') return configured.message;
  if (node === undefined || !node.unschedulable) return undefined;
  return node.annotations[nodeAnnotation.cordoned] === undefined ? 'cordoned by a user' : 'cordoned by the operator';
}
