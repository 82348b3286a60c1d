import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { InstancePhase, TimelineStep } from '#contract/windows-instance/resource.ts';
import { stoppedVersion } from '#contract/windows-instance/upgrade-state.ts';

export interface ConditionFacts {
  instances: readonly WindowsInstance[];
  /** The roll-out is paused. */
  isPaused: boolean;
  /** Of this operator. */
  version: string;
  nowMs: number;
}

export interface ConditionDecision {
  /** Whether OLM can upgrade the operator now. */
  isSafe: boolean;
  /** Time until the decision changes by itself. */
  againMs?: number;
}

/** A host that is out of service longer waits for something that an upgrade of the operator may bring. */
export const longestMs = 3_600_000;

/** Clocks of two leaders may differ by so much. */
const skewMs = 60_000;

/**
 * Not safe only while a node is between cordon and uncordon by a journey that makes progress. When the roll-out is stopped or paused,
 * the fix must be able to arrive. The records decide: what a Node or its host reports has no effect.
 */
export function decide({ instances, isPaused, version, nowMs }: ConditionFacts): ConditionDecision {
  const isStopped = instances.some(instance => stoppedVersion(instance) === version);
  if (isPaused || isStopped) return { isSafe: true };
  const left = instances.flatMap(instance => {
    const elapsedMs = nowMs - (cordonedMs(instance) ?? Number.NaN);
    return elapsedMs > -skewMs && elapsedMs < longestMs ? [longestMs - elapsedMs] : [];
  });
  return left.length === 0 ? { isSafe: true } : { isSafe: false, againMs: Math.max(...left) };
}

/** Phases of running journeys that cordon their Node. */
const changing: readonly (InstancePhase | undefined)[] = [
  'Configuring',
  'Upgrading',
  'RollingBack',
  'Rebooting',
  'Removing',
];

/** When the journey of the host first cordoned its Node; undefined when the Node is in service, or the journey is not progressing. */
export function cordonedMs({ metadata, spec, status = {} }: WindowsInstance): number | undefined {
  const { phase, timeline = [] } = status;
  if (metadata.deletionTimestamp !== undefined || spec.paused === true || !changing.includes(phase)) return undefined;
  // A failure stays in the timeline until its step succeeds, so that attempts that fail again change nothing.
  if (timeline.some(({ lastError }) => lastError !== undefined)) return undefined;
  const cordons = timeline.filter(step => cordonSteps.includes(step.name) && hasCordoned(step));
  const lastMs = Math.max(...cordons.map(({ started }) => Date.parse(started)));
  const backMs = Math.max(...timeline.filter(({ name }) => endSteps.includes(name)).map(endMs));
  if (cordons.length === 0 || backMs >= lastMs) return undefined;
  return Math.min(...cordons.map(({ firstStarted, started }) => Date.parse(firstStarted ?? started)));
}

/** The step of joins that cordons the Node is `mark node`. */
export const cordonSteps: readonly string[] = ['cordon', 'mark node'];

/** Steps after which the Node is in service, or there is none. */
export const endSteps: readonly string[] = ['uncordon', 'delete node'];

/** Also in an attempt that repeats the step: the first one was interrupted after it. */
function hasCordoned({ finished, attempts }: TimelineStep): boolean {
  return finished !== undefined || attempts > 1;
}

function endMs({ finished }: TimelineStep): number {
  return finished === undefined ? -Infinity : Date.parse(finished);
}
