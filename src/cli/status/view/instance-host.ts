import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import {
  instanceCondition,
  isSettingPhase,
  type TimelineStep,
  type WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import { pinnedVersionOf } from '#contract/windows-instance/upgrade-state.ts';
import { type Condition, findCondition } from '#base/condition.ts';
import { valueText } from './amounts.ts';
import { type ClusterView, duplicatePhase, type HostProblem, type HostView, type Removal } from './host-view.ts';
import { notReady, problemOf, settingsFailure, slowStep } from './instance-problem.ts';
import { nodeNamed } from './lookups.ts';
import { pinnedKeyOf } from './pinned-key.ts';
import { rollbackProblem, upgradeOf, upgradeText, type UpgradeView } from './upgrade.ts';
import { removalNote, removalOf, removalPhase, removalProblem, waitOf } from './removal.ts';

type InstanceFacts = Pick<ClusterView, 'nodes' | 'hostKeys' | 'unread' | 'operatorVersion' | 'settingsProblem'>;

export function hostOfInstance(instance: WindowsInstance, facts: InstanceFacts): HostView {
  const { status = {} } = instance;
  const { timeline = [], conditions = [] } = status;
  const node = nodeNamed(facts.nodes, boundNode(instance));
  const failing = timeline.findLast(({ lastError, finished }) => lastError !== undefined && finished === undefined);
  const removal = removalOf(instance);
  const isNodeGone = removal === undefined && node === undefined && isNodeMissed(instance, facts);
  const upgrade = upgradeOf(instance);
  const pinnedVersion = pinnedVersionOf(instance);
  const isPinned = pinnedVersion !== undefined;
  const rollback = rollbackProblem(upgrade, { name: instance.metadata.name ?? '', isPinned, ...facts });
  const state =
    removal === undefined
      ? withRollback(hostState(instance, failing, node, { isNodeGone, upgrade, pinnedVersion }), rollback)
      : removalState(instance, failing, removal);
  return {
    ...namesOf(instance, node),
    ...state,
    upgrade,
    pinnedVersion,
    removal,
    ...(timedPhases.has(state.phase) ? timesOf(status) : noTimes),
    attempts: failing?.attempts ?? 0,
    hostKey: pinnedKeyOf(instance, node, facts.hostKeys),
    node,
    nodeName: node?.name ?? (facts.unread.includes('nodes') ? status.node : undefined),
    instance,
    settingsProblem: facts.settingsProblem,
    timeline,
    conditions,
  };
}

interface KnownFacts extends Pick<HostView, 'upgrade' | 'pinnedVersion'> {
  isNodeGone: boolean;
}

type State = Pick<HostView, 'phase' | 'tone' | 'problem' | 'step' | 'note' | 'progress' | 'activity'>;

function hostState(
  instance: WindowsInstance,
  failing: TimelineStep | undefined,
  node: NodeView | undefined,
  known: KnownFacts,
): State {
  const { isNodeGone } = known;
  const problem = isNodeGone ? undefined : problemOf(instance, failing, node);
  const at = isNodeGone ? nodeDeleted : phaseOf(instance, problem);
  return { ...at, ...activityOf(instance, node, known), problem };
}

/** The Node works, but the roll-out waits for a decision. */
function withRollback(state: State, problem: HostProblem | undefined): State {
  if (problem === undefined || state.phase !== 'Ready' || state.problem !== undefined) return state;
  return { ...state, phase: 'RolledBack', tone: 'bad', problem };
}

function removalState(instance: WindowsInstance, failing: TimelineStep | undefined, removal: Removal): State {
  const problem = removalProblem(instance, failing, removal);
  const { status = {} } = instance;
  const { step, progress, activity } = status;
  // Before it starts, step and progress are those of another journey.
  const doing = status.journey?.name === 'remove' ? { step, progress, activity } : noActivity;
  return { ...removalPhase(instance, problem), ...doing, note: removalNote(instance), problem };
}

const noActivity = { step: undefined, progress: undefined, activity: undefined };
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
  'Adopting',
  'Removing',
  'Upgrading',
  'RollingBack',
  'Rebooting',
  'Refreshing',
  'Restarting',
  'Rekeying',
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

function activityOf(instance: WindowsInstance, node: NodeView | undefined, known: KnownFacts): Activity {
  const { step, progress, activity, phase, conditions = [] } = instance.status ?? {};
  if (known.isNodeGone) {
    return {
      ...noActivity,
      note: `Node ${boundNode(instance)} does not exist; the operator configures the host again`,
    };
  }
  if (phase === 'Ready') return { ...noActivity, note: readyNote(node, conditions, known) };
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
    nextAttemptMs: phase === 'Failed' || isSettingPhase(phase) ? timesIn([nextAttempt])[0] : undefined,
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
  const { status = {} } = instance;
  const accepted = findCondition(status.conditions, instanceCondition.accepted);
  const tone = problem === undefined ? 'good' : 'bad';
  if (status.phase === 'Ready') return { phase: problem?.code === notReady ? notReady : 'Ready', tone };
  if (status.phase === 'Paused') return { phase: 'Paused', tone: 'idle' };
  if (accepted?.status !== 'False') return journeyPhase(instance, problem);
  return { phase: accepted.reason === 'INSTANCE_DUPLICATE' ? duplicatePhase : 'Rejected', tone: 'bad' };
}

/** A journey with a failed step that still runs. */
const runningPhases: ReadonlySet<string | undefined> = new Set([
  'Configuring',
  'Adopting',
  'Upgrading',
  'RollingBack',
  'Rebooting',
  'Refreshing',
  'Restarting',
  'Rekeying',
]);

function journeyPhase(instance: WindowsInstance, problem: HostProblem | undefined): Phase {
  const { status = {} } = instance;
  const { phase } = status;
  if (problem === undefined) return { phase: phase ?? 'Pending', tone: 'busy' };
  if (problem.code === slowStep) return { phase: 'Slow', tone: 'slow' };
  if (settingsFailure(status) !== undefined) return { phase: unsettledPhase(status), tone: 'bad' };
  if (mayNeedTime(instance)) return { phase: 'Waiting', tone: 'busy' };
  return { phase: runningPhases.has(phase) ? 'Retrying' : 'Failed', tone: 'bad' };
}

/** A node that works without its new settings has not failed. */
function unsettledPhase({ phase = 'Failed', conditions, nextAttempt }: WindowsInstanceStatus): string {
  if (findCondition(conditions, instanceCondition.ready)?.status === 'True') return phase;
  return nextAttempt === undefined ? 'Retrying' : 'Failed';
}

function readyNote(
  node: NodeView | undefined,
  conditions: readonly Condition[],
  { upgrade, pinnedVersion }: KnownFacts,
): string | undefined {
  const configured = findCondition(conditions, instanceCondition.configured);
  const waiting = waitOf(conditions);
  const isLimited = findCondition(conditions, instanceCondition.ready)?.reason === 'REBOOT_LIMIT';
  if (isLimited) return ['REBOOT_LIMIT', upgradeNote(upgrade)].filter(isText).join('; ');
  if (waiting !== undefined) return waitNote(waiting, upgrade);
  const upgraded = upgradeNote(upgrade);
  if (upgraded !== undefined) return upgraded;
  if (pinnedVersion !== undefined) return `pinned to ${valueText(pinnedVersion)}`;
  if (configured?.reason === 'OtherVersion') return configured.message;
  if (node === undefined || !node.unschedulable) return undefined;
  return node.annotations[nodeAnnotation.cordoned] === undefined ? 'cordoned by a user' : 'cordoned by the operator';
}

/** Says which upgrade waits, unless the operator has said it. Which version the Node runs has its own place. */
function waitNote({ message: whole = '' }: Condition, upgrade: UpgradeView | undefined): string {
  const message = whole.replace(/^Node [^ ;]+ (?:runs|claims|has) [^;]+; /, '');
  if (upgrade?.state !== 'staged' || message.includes(upgrade.to)) return message;
  return `${upgradeText(upgrade)} is staged: ${message}`;
}

function upgradeNote(upgrade: UpgradeView | undefined): string | undefined {
  if (upgrade === undefined) return undefined;
  const { state, from, to, isRetried, failed } = upgrade;
  if (state === 'soaking') return `${upgradeText(upgrade)} is soaking`;
  if (state === 'staged') return `${upgradeText(upgrade)} is staged`;
  if (state !== 'rolled back') return undefined;
  const again = isRetried ? '; it is tried again' : '';
  return `${upgradeText({ from, to })} was rolled back: ${failed?.code ?? ''}${again}`;
}
