import type { Condition } from '#base/condition.ts';
import { normalHostName } from '#base/dns-name.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EntryResult, parseEntries } from '#contract/instances.ts';
import { configMapName, machineLabel } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { InstanceProgress, InstanceSource, TimelineStep } from '#contract/windows-instance/resource.ts';
import type { Machine } from '#kube/resources-openshift.ts';
import { hostOfInstance } from './instance-host.ts';
import type { PinnedKey } from './pinned-key.ts';

/** The state of a host at a glance. */
export type Tone = 'good' | 'busy' | 'bad' | 'paused';

/** Objects of the cluster that describe Windows hosts. */
export interface ClusterView {
  instances: readonly WindowsInstance[];
  /** Windows nodes only. */
  nodes: readonly NodeView[];
  /** Content of windows-instances. */
  entries: Readonly<Record<string, string>>;
  /** Windows Machines only. */
  machines: readonly Machine[];
  /** Content of windows-ssh-host-keys. */
  hostKeys: Readonly<Record<string, string>>;
  /** For the user, such as which objects cannot be read. */
  notes: readonly string[];
}

export interface HostProblem {
  code: string;
  message: string;
  /** Empty when the message contains it. */
  remedy: string;
}

/** Everything about one host, ready to print. */
export interface HostView {
  name: string;
  /** Other names that `wmco status HOST` accepts. */
  aliases: readonly string[];
  address: string;
  source: { kind: InstanceSource; name: string };
  /** The phase of the instance, or a more precise word. */
  phase: string;
  tone: Tone;
  step: string | undefined;
  /** What the step waits for, or other information. */
  note: string | undefined;
  progress: InstanceProgress | undefined;
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
  nodeName: string | undefined;
  /** Not set before the WindowsInstance exists. */
  instance: WindowsInstance | undefined;
  timeline: readonly TimelineStep[];
  conditions: readonly Condition[];
}

const order = new Intl.Collator('en', { numeric: true });

/** Every host once: WindowsInstances, and entries and Machines without one. */
export function hostViews(view: ClusterView): HostView[] {
  const hosts = [
    ...view.instances.map(instance => hostOfInstance(instance, view)),
    ...parseEntries(view.entries).flatMap(entry => hostOfEntry(entry, view.instances)),
    ...view.machines.flatMap(machine => hostOfMachine(machine, view.instances)),
  ];
  return sortHosts(hosts);
}

export function sortHosts(hosts: readonly HostView[]): HostView[] {
  return hosts.toSorted((a, b) => order.compare(a.name, b.name));
}

/** True if there is no problem to fix; hosts are paused only by a user. */
export function isGood({ tone }: HostView): boolean {
  return tone === 'good' || tone === 'paused';
}

/** How long configuring the host took, or takes so far. */
export function configureMs({ startedMs, endedMs }: HostView, nowMs: number): number | undefined {
  return startedMs === undefined ? undefined : Math.max(0, (endedMs ?? nowMs) - startedMs);
}

const emptyHost = {
  aliases: [],
  step: undefined,
  note: undefined,
  progress: undefined,
  problem: undefined,
  attempts: 0,
  nextAttemptMs: undefined,
  startedMs: undefined,
  endedMs: undefined,
  hostKey: undefined,
  node: undefined,
  nodeName: undefined,
  instance: undefined,
  timeline: [],
  conditions: [],
} as const;

/** An entry without an instance: invalid, or not yet seen by the operator. */
function hostOfEntry(entry: EntryResult, instances: readonly WindowsInstance[]): HostView[] {
  const { address } = entry;
  const hasInstance = instances.some(({ spec }) => isOfEntry(spec.source, address));
  // The conditions of an instance report problems of its entry, except a second entry of the same host.
  if (hasInstance && (entry.ok || entry.error.code !== 'INSTANCE_DUPLICATE')) return [];
  const source = { kind: 'ConfigMap', name: address } as const;
  const base = { ...emptyHost, name: normalHostName(address), address, source };
  if (entry.ok) {
    const note = `listed in ${configMapName.instances}; waiting for the operator`;
    return [{ ...base, phase: 'Pending', tone: 'busy', note }];
  }
  const { code, message, remedy } = entry.error;
  return [{ ...base, phase: 'Rejected', tone: 'bad', problem: { code, message, remedy } }];
}

function isOfEntry(source: WindowsInstance['spec']['source'], address: string): boolean {
  return source?.kind === 'ConfigMap' && normalHostName(source.name ?? '') === normalHostName(address);
}

/** A Machine without an instance, usually because it is still being created. */
function hostOfMachine(machine: Machine, instances: readonly WindowsInstance[]): HostView[] {
  const { name = '', labels = {}, deletionTimestamp } = machine.metadata;
  const hasInstance = instances.some(({ spec: { source } }) => source?.kind === 'Machine' && source.name === name);
  if (hasInstance || labels[machineLabel.ignore] === 'true') return [];
  const { phase = 'Pending', addresses = [], nodeRef } = machine.status ?? {};
  const base = {
    ...emptyHost,
    name,
    address: addresses.find(({ type }) => type === 'InternalIP')?.address ?? '',
    source: { kind: 'Machine', name } as const,
    nodeName: nodeRef?.name,
  };
  if (deletionTimestamp !== undefined) return [{ ...base, phase: 'Deleting', tone: 'busy' }];
  if (phase === 'Failed') return [{ ...base, phase, tone: 'bad', problem: failedMachine(name) }];
  if (phase === 'Running') return [{ ...base, phase, tone: 'bad', problem: machineWithoutNode(name) }];
  return [{ ...base, phase, tone: 'busy', note: 'waiting for the cloud provider' }];
}

function failedMachine(name: string): HostProblem {
  const message = `Machine ${name} has failed`;
  return { code: 'MachineFailed', message, remedy: `Run \`oc describe machine ${name} -n openshift-machine-api\`.` };
}

function machineWithoutNode(name: string): HostProblem {
  const message = `Machine ${name} is Running, but its Node is gone; the operator does not manage it`;
  return {
    code: 'MachineWithoutNode',
    message,
    remedy: `Run \`oc delete machine ${name} -n openshift-machine-api\`; the MachineSet replaces it.`,
  };
}
