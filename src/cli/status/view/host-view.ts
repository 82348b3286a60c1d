import type { Condition } from '#base/condition.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';
import type { RemovedHost } from '#contract/removed-hosts.ts';
import type { Grant } from '#contract/rollout-grants.ts';
import {
  type InstanceActivity,
  type InstanceProgress,
  type InstanceSource,
  isSettingPhase,
  type TimelineStep,
} from '#contract/windows-instance/resource.ts';
import type { Machine, MachineSet } from '#kube/resources-openshift.ts';
import type { PinnedKey } from './pinned-key.ts';
import type { UpgradeView } from './upgrade.ts';

/** The state of a host at a glance; an idle host is left alone on purpose. */
export type Tone = 'good' | 'busy' | 'slow' | 'bad' | 'idle';

/** Lists of the cluster. */
export type ListName =
  | 'instances'
  | 'nodes'
  | 'entries'
  | 'hostKeys'
  | 'machines'
  | 'machineSets'
  | 'lease'
  | 'operatorStatus'
  | 'rollout'
  | 'rolloutGrants'
  | 'removedHosts';

/** Objects of the cluster that describe Windows hosts. */
export interface ClusterView {
  /** Of the operator. */
  namespace: string;
  instances: readonly WindowsInstance[];
  /** Windows nodes only. */
  nodes: readonly NodeView[];
  /** Content of windows-instances. */
  entries: Readonly<Record<string, string>>;
  /** Windows Machines only. */
  machines: readonly Machine[];
  machineSets: readonly MachineSet[];
  /** Content of windows-ssh-host-keys. */
  hostKeys: Readonly<Record<string, string>>;
  /** Content of windows-rollout. */
  rollout: Readonly<Record<string, string>>;
  /** Of the operator that runs, or ran last; empty when it is not known. */
  operatorVersion: string;
  /** Nodes that are out of service by permission of the budget. */
  grants: readonly Pick<Grant, 'instance' | 'node' | 'journey' | 'sinceMs'>[];
  /** Hosts that were removed by force. */
  removedHosts: readonly RemovedHost[];
  /** Lists that could not be read. What is missing in them is no evidence. */
  unread: readonly ListName[];
  /** Whether the namespace has an object of an operator; unknown if such objects cannot be read. */
  hasOperator: 'yes' | 'no' | 'unknown';
  /** Whether an operator holds the Lease. */
  isOperatorRunning: boolean;
  /** Why the cluster does not support Windows nodes, as the operator reports it. */
  clusterProblems: readonly HostProblem[];
  /** Code of what is missing for settings of hosts: what hosts should have is not known. */
  settingsProblem?: string | undefined;
  /** For the user, such as which objects cannot be read. */
  notes: readonly string[];
}

export interface HostProblem {
  code: string;
  message: string;
  /** Empty when the message contains it. */
  remedy: string;
}

/** A requested removal of the host. */
export interface Removal {
  /** Time of the request, as written; empty when it is not known. */
  requested: string;
  /** Skips a host that does not answer, and pods that cannot be evicted. */
  isForced: boolean;
  /** Set once the operator works on it. */
  cause: string | undefined;
}

/** Everything about one host, ready to print. */
export interface HostView {
  name: string;
  /** Other names that `wmco status HOST` accepts. */
  aliases: readonly string[];
  address: string;
  source: { kind: InstanceSource | 'Node'; name: string };
  /** The phase of the instance, or a more precise word. */
  phase: string;
  tone: Tone;
  step: string | undefined;
  /** What the step waits for, and its times. */
  activity: InstanceActivity | undefined;
  /** Other information. */
  note: string | undefined;
  progress: InstanceProgress | undefined;
  /** The last upgrade, and where it stands. */
  upgrade: UpgradeView | undefined;
  /** The version that an administrator keeps the host at. */
  pinnedVersion: string | undefined;
  /** Not set when the host is to stay. */
  removal: Removal | undefined;
  /** With the tone `good` it is advice: the host works. */
  problem: HostProblem | undefined;
  /** Attempts of the failing step. */
  attempts: number;
  /** Deadline of the next attempt. */
  nextAttemptMs: number | undefined;
  startedMs: number | undefined;
  /** When it became Ready. */
  endedMs: number | undefined;
  hostKey: PinnedKey | undefined;
  node: NodeView | undefined;
  /** Not set when the Node does not exist. */
  nodeName: string | undefined;
  /** Not set before the WindowsInstance exists. */
  instance: WindowsInstance | undefined;
  /** Why it is not known which settings the host should have, as a code. */
  settingsProblem: string | undefined;
  timeline: readonly TimelineStep[];
  conditions: readonly Condition[];
}

/** True if there is no problem to fix; hosts are idle only when a user wants it. */
export function isGood({ tone }: HostView): boolean {
  return tone === 'good' || tone === 'idle';
}

/** Unique among the rows; names are not: an instance and a Node can have the same. */
export function rowKey({ source }: HostView): string {
  return `${source.kind}/${source.name}`;
}

/** A second entry or instance of a host that has a row already. */
export function isDuplicate({ phase }: HostView): boolean {
  return phase === duplicatePhase;
}

/** Its Node works, but new settings could not be brought to it. */
export function isUnsettled({ tone, phase }: HostView): boolean {
  return tone === 'bad' && isSettingPhase(phase);
}

export const duplicatePhase = 'Duplicate';

/** How long configuring the host took, or takes so far. */
export function configureMs({ startedMs, endedMs }: HostView, nowMs: number): number | undefined {
  return startedMs === undefined ? undefined : Math.max(0, (endedMs ?? nowMs) - startedMs);
}

/** How long the current attempt of the step takes so far. */
export function stepMs({ activity }: HostView, nowMs: number): number | undefined {
  const sinceMs = Date.parse(activity?.since ?? '');
  return Number.isNaN(sinceMs) ? undefined : Math.max(0, nowMs - sinceMs);
}

/** A host without any facts. */
export const emptyHost = {
  aliases: [],
  step: undefined,
  activity: undefined,
  note: undefined,
  progress: undefined,
  upgrade: undefined,
  pinnedVersion: undefined,
  removal: undefined,
  problem: undefined,
  attempts: 0,
  nextAttemptMs: undefined,
  startedMs: undefined,
  endedMs: undefined,
  hostKey: undefined,
  node: undefined,
  nodeName: undefined,
  instance: undefined,
  settingsProblem: undefined,
  timeline: [],
  conditions: [],
} as const;
