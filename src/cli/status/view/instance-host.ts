import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import {
  type InstanceCondition,
  instanceCondition,
  type TimelineStep,
  type WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import { findCondition } from '#kube/conditions.ts';
import type { ClusterView, HostProblem, HostView } from './host-view.ts';
import { pinnedKeyOf } from './pinned-key.ts';

/** What a WindowsInstance and its Node say. */
export function hostOfInstance(
  instance: WindowsInstance,
  { nodes, hostKeys }: Pick<ClusterView, 'nodes' | 'hostKeys'>,
): HostView {
  const { status = {} } = instance;
  const { timeline = [], conditions = [] } = status;
  const name = boundNode(instance);
  const node = nodes.find(each => each.name === name);
  const failing = timeline.findLast(({ lastError, finished }) => lastError !== undefined && finished === undefined);
  const problem = problemOf(instance, failing);
  return {
    ...namesOf(instance, node),
    ...phaseOf(instance, problem),
    ...(status.phase === 'Ready' ? arrived(node, conditions) : underWay(status)),
    ...timesOf(status),
    problem,
    attempts: failing?.attempts ?? 0,
    hostKey: pinnedKeyOf(instance, node, hostKeys),
    node,
    nodeName: node?.name ?? status.node,
    instance,
    timeline,
    conditions,
  };
}

function namesOf(
  { metadata, spec, status }: WindowsInstance,
  node: NodeView | undefined,
): Pick<HostView, 'name' | 'aliases' | 'address' | 'source'> {
  const { name = '' } = metadata;
  const { address, source } = spec;
  return {
    name,
    aliases: [address, status?.ipv4, source?.name, status?.node, node?.name].filter(isText),
    address,
    source: { kind: source?.kind ?? 'Direct', name: source?.name ?? name },
  };
}

type Doing = Pick<HostView, 'step' | 'note' | 'progress'>;

function underWay({ step, progress, conditions = [] }: WindowsInstanceStatus): Doing {
  return { step, progress, note: waitOf(step, conditions) };
}

function arrived(node: NodeView | undefined, conditions: readonly InstanceCondition[]): Doing {
  return { step: undefined, progress: undefined, note: readyNote(node, conditions) };
}

function timesOf({
  phase,
  nextAttempt,
  timeline = [],
}: WindowsInstanceStatus): Pick<HostView, 'startedMs' | 'endedMs' | 'nextAttemptMs'> {
  const started = timesIn(timeline.map(step => step.started));
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

/** A host that may simply need time to boot is not one that has failed. */
function isPatient({ status }: WindowsInstance): boolean {
  return findCondition(status?.conditions, instanceCondition.configured)?.status === 'Unknown';
}

function phaseOf(instance: WindowsInstance, problem: HostProblem | undefined): Pick<HostView, 'phase' | 'tone'> {
  const { metadata, status = {} } = instance;
  const accepted = findCondition(status.conditions, instanceCondition.accepted);
  if (metadata.deletionTimestamp !== undefined) return { phase: 'Removing', tone: 'busy' };
  const tone = problem === undefined ? 'good' : 'bad';
  if (status.phase === 'Ready') return { phase: problem?.code === notReady ? notReady : 'Ready', tone };
  if (status.phase === 'Paused') return { phase: 'Paused', tone: 'still' };
  if (accepted?.status === 'False') return { phase: 'Refused', tone: 'bad' };
  if (problem === undefined) return { phase: status.phase ?? 'Pending', tone: 'busy' };
  if (isPatient(instance)) return { phase: 'Waiting', tone: 'busy' };
  return { phase: status.phase === 'Configuring' ? 'Retrying' : 'Failed', tone: 'bad' };
}

const notReady = 'NodeNotReady';
/** Codes are in capitals; other reasons are no failures. */
const errorCode = /^[A-Z][A-Z0-9_]+$/;

function problemOf({ status = {} }: WindowsInstance, failing: TimelineStep | undefined): HostProblem | undefined {
  const { conditions } = status;
  const accepted = findCondition(conditions, instanceCondition.accepted);
  if (accepted?.status === 'False') return conditionProblem(accepted);
  if (status.phase === 'Ready') {
    const ready = findCondition(conditions, instanceCondition.ready);
    if (ready?.reason !== notReady || ready.status === 'True') return undefined;
    const remedy = `See \`kubectl describe node ${status.node}\`: conditions and events there say what its kubelet and its agent miss.`;
    return { ...conditionProblem(ready), remedy };
  }
  // The timeline has a failure first; whether it is one, or a host that needs time, is told by the condition a moment later.
  const configured = findCondition(conditions, instanceCondition.configured);
  if (configured === undefined || configured.status === 'True' || !errorCode.test(configured.reason)) return undefined;
  return failing?.lastError ?? conditionProblem(configured);
}

/** Conditions say in one text what is wrong and what to do. */
function conditionProblem({ reason, message }: InstanceCondition): HostProblem {
  return { code: reason, message, remedy: '' };
}

/** The condition Ready says `step: what it waits for`. */
function waitOf(step: string | undefined, conditions: readonly InstanceCondition[]): string | undefined {
  const { reason, message = '' } = findCondition(conditions, instanceCondition.ready) ?? {};
  const start = `${step}: `;
  return reason === 'Configuring' && step !== undefined && message.startsWith(start)
    ? message.slice(start.length)
    : undefined;
}

function readyNote(node: NodeView | undefined, conditions: readonly InstanceCondition[]): string | undefined {
  const configured = findCondition(conditions, instanceCondition.configured);
  if (configured?.reason === 'OtherVersion') return configured.message;
  if (node === undefined || !node.unschedulable) return undefined;
  return node.annotations[nodeAnnotation.cordoned] === undefined ? 'cordoned by somebody' : 'cordoned by the operator';
}
