import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { instanceCondition, type WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { type Condition, findCondition } from '#base/condition.ts';
import { type ClusterView, duplicatePhase, type HostProblem, type HostView } from './host-view.ts';
import { notReady, problemOf, slowStep } from './instance-problem.ts';
import { nodeNamed } from './lookups.ts';
import { pinnedKeyOf } from './pinned-key.ts';

type InstanceFacts = Pick<ClusterView, 'nodes' | 'hostKeys' | 'unread'>;

export function hostOfInstance(instance: WindowsInstance, facts: InstanceFacts): HostView {
  const { status = {} } = instance;
  const { timeline = [], conditions = [] } = status;
  const node = nodeNamed(facts.nodes, boundNode(instance));
  const failing = timeline.findLast(({ lastError, finished }) => lastError !== undefined && finished === undefined);
  const isNodeGone = node === undefined && isNodeMissed(instance, facts);
  const problem = isNodeGone ? undefined : problemOf(instance, failing, node);
  const at = isNodeGone ? nodeDeleted : phaseOf(instance, problem);
  return {
    ...namesOf(instance, node),
    ...at,
    ...activityOf(instance, node, isNodeGone),
    ...(timedPhases.has(at.phase) ? timesOf(status) : noTimes),
    problem,
    attempts: failing?.attempts ?? 0,
    hostKey: pinnedKeyOf(instance, node, facts.hostKeys),
    node,
    nodeName: node?.name ?? (facts.unread.includes('nodes') ? status.node : undefined),
    instance,
    timeline,
    conditions,
  };
}

const nodeDeleted = { phase: 'NodeDeleted', tone: 'busy' } as const;

/** A configured host must have a Node. */
function isNodeMissed(instance: WindowsInstance, { unread }: InstanceFacts): boolean {
  const isReady = instance.status?.phase === 'Ready' && boundNode(instance) !== undefined;
  return isReady && instance.metadata.deletionTimestamp === undefined && !unread.includes('nodes');
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

function activityOf(instance: WindowsInstance, node: NodeView | undefined, isNodeGone: boolean): Activity {
  const { step, progress, activity, phase, conditions = [] } = instance.status ?? {};
  const none = { step: undefined, progress: undefined, activity: undefined };
  if (isNodeGone) {
    return { ...none, note: `Node ${boundNode(instance)} does not exist; the operator configures the host again` };
  }
  if (phase === 'Ready') return { ...none, note: readyNote(node, conditions) };
  return { step, progress, activity, note: phase === 'Paused' ? pausedNote(instance, node) : undefined };
}

function pausedNote(instance: WindowsInstance, node: NodeView | undefined): string {
  const isGone = node === undefined && boundNode(instance) !== undefined;
  return `spec.paused is true${isGone ? `; Node ${boundNode(instance)} does not exist` : ''}`;
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

type Phase = Pick<HostView, 'phase' | 'tone'>;

function phaseOf(instance: WindowsInstance, problem: HostProblem | undefined): Phase {
  const { metadata, status = {} } = instance;
  const accepted = findCondition(status.conditions, instanceCondition.accepted);
  if (metadata.deletionTimestamp !== undefined) return { phase: 'Removing', tone: 'busy' };
  const tone = problem === undefined ? 'good' : 'bad';
  if (status.phase === 'Ready') return { phase: problem?.code === notReady ? notReady : 'Ready', tone };
  if (status.phase === 'Paused') return { phase: 'Paused', tone: 'idle' };
  if (accepted?.status !== 'False') return journeyPhase(instance, problem);
  return { phase: accepted.reason === 'INSTANCE_DUPLICATE' ? duplicatePhase : 'Rejected', tone: 'bad' };
}

function journeyPhase(instance: WindowsInstance, problem: HostProblem | undefined): Phase {
  const { phase } = instance.status ?? {};
  if (problem === undefined) return { phase: phase ?? 'Pending', tone: 'busy' };
  if (problem.code === slowStep) return { phase: 'Slow', tone: 'slow' };
  if (mayNeedTime(instance)) return { phase: 'Waiting', tone: 'busy' };
  return { phase: phase === 'Configuring' ? 'Retrying' : 'Failed', tone: 'bad' };
}

function readyNote(node: NodeView | undefined, conditions: readonly Condition[]): string | undefined {
  const configured = findCondition(conditions, instanceCondition.configured);
  if (configured?.reason === 'OtherVersion') return configured.message;
  if (node === undefined || !node.unschedulable) return undefined;
  return node.annotations[nodeAnnotation.cordoned] === undefined ? 'cordoned by a user' : 'cordoned by the operator';
}
