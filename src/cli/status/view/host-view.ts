import { normalHostName } from '#base/dns-name.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EntryResult, parseEntries } from '#contract/instances.ts';
import { configMapName, machineLabel } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type {
  InstanceCondition,
  InstanceProgress,
  InstanceSource,
  TimelineStep,
} from '#contract/windows-instance/resource.ts';
import type { Machine } from '#kube/resources-openshift.ts';
import { hostOfInstance } from './instance-host.ts';
import type { Tone } from '../screen/paint.ts';
import type { PinnedKey } from './pinned-key.ts';

/** What a cluster says of Windows hosts, as it was read. */
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
  /** What people should know beside the hosts, such as that something may not be read. */
  notes: readonly string[];
}

export interface HostProblem {
  code: string;
  message: string;
  /** Empty where the message says it. */
  remedy: string;
}

/** All that is told of one host, ready to be shown. */
export interface HostView {
  name: string;
  /** Other names under which people look for it. */
  aliases: readonly string[];
  address: string;
  source: { kind: InstanceSource; name: string };
  /** One word; the phase of the instance, or closer to the truth. */
  phase: string;
  tone: Extract<Tone, 'good' | 'busy' | 'bad' | 'still'>;
  step: string | undefined;
  /** What the step waits for, or anything else that is good to know. */
  note: string | undefined;
  progress: InstanceProgress | undefined;
  problem: HostProblem | undefined;
  /** How often the step that fails was tried. */
  attempts: number;
  /** When it is tried again at the latest. */
  nextAttemptMs: number | undefined;
  startedMs: number | undefined;
  /** When it became Ready. */
  endedMs: number | undefined;
  hostKey: PinnedKey | undefined;
  node: NodeView | undefined;
  nodeName: string | undefined;
  /** Absent while there is no WindowsInstance. */
  instance: WindowsInstance | undefined;
  timeline: readonly TimelineStep[];
  conditions: readonly InstanceCondition[];
}

const order = new Intl.Collator('en', { numeric: true });

/** Every host once: those with a WindowsInstance, entries that have none, and Machines that have none yet. */
export function hostViews(view: ClusterView): HostView[] {
  const hosts = [
    ...view.instances.map(instance => hostOfInstance(instance, view)),
    ...parseEntries(view.entries).flatMap(entry => hostOfEntry(entry, view.instances)),
    ...view.machines.flatMap(machine => hostOfMachine(machine, view.instances)),
  ];
  return inOrder(hosts);
}

export function inOrder(hosts: readonly HostView[]): HostView[] {
  return hosts.toSorted((a, b) => order.compare(a.name, b.name));
}

/** Whether nothing has to be done about it: what is paused is so because somebody wants it. */
export function isGood({ tone }: HostView): boolean {
  return tone === 'good' || tone === 'still';
}

/** How long it has been on its way, or took. */
export function travelMs({ startedMs, endedMs }: HostView, nowMs: number): number | undefined {
  return startedMs === undefined ? undefined : Math.max(0, (endedMs ?? nowMs) - startedMs);
}

const nothingKnown = {
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

/** An entry for which there is no instance: a bad one, or one that nobody has taken up yet. */
function hostOfEntry(entry: EntryResult, instances: readonly WindowsInstance[]): HostView[] {
  const { address } = entry;
  const hasInstance = instances.some(({ spec }) => isOfEntry(spec.source, address));
  // The condition of an instance tells what is wrong with its entry, but not that there is a second one.
  if (hasInstance && (entry.ok || entry.error.code !== 'INSTANCE_DUPLICATE')) return [];
  const source = { kind: 'ConfigMap', name: address } as const;
  const known = { ...nothingKnown, name: normalHostName(address), address, source };
  if (entry.ok) {
    const note = `listed in ${configMapName.instances}; the operator has yet to take it up`;
    return [{ ...known, phase: 'Pending', tone: 'busy', note }];
  }
  const { code, message, remedy } = entry.error;
  return [{ ...known, phase: 'Refused', tone: 'bad', problem: { code, message, remedy } }];
}

function isOfEntry(source: WindowsInstance['spec']['source'], address: string): boolean {
  return source?.kind === 'ConfigMap' && normalHostName(source.name ?? '') === normalHostName(address);
}

/** A Machine for which there is no instance: mostly because it has yet to be made. */
function hostOfMachine(machine: Machine, instances: readonly WindowsInstance[]): HostView[] {
  const { name = '', labels = {}, deletionTimestamp } = machine.metadata;
  const hasInstance = instances.some(({ spec: { source } }) => source?.kind === 'Machine' && source.name === name);
  if (hasInstance || labels[machineLabel.ignore] === 'true') return [];
  const { phase = 'Pending', addresses = [], nodeRef } = machine.status ?? {};
  const known = {
    ...nothingKnown,
    name,
    address: addresses.find(({ type }) => type === 'InternalIP')?.address ?? '',
    source: { kind: 'Machine', name } as const,
    nodeName: nodeRef?.name,
  };
  if (deletionTimestamp !== undefined) return [{ ...known, phase: 'Deleting', tone: 'busy' }];
  if (phase === 'Failed') return [{ ...known, phase, tone: 'bad', problem: failedMachine(name) }];
  if (phase === 'Running') return [{ ...known, phase, tone: 'bad', problem: lostNode(name) }];
  return [{ ...known, phase, tone: 'busy', note: 'waits for its cloud' }];
}

function failedMachine(name: string): HostProblem {
  const message = `Machine ${name} has failed`;
  return { code: 'MachineFailed', message, remedy: `See \`oc describe machine ${name} -n openshift-machine-api\`.` };
}

function lostNode(name: string): HostProblem {
  const message = `Machine ${name} runs, and the operator does not look after it: it has lost its Node`;
  return { code: 'MachineWithoutNode', message, remedy: 'Delete the Machine; its MachineSet makes a new one.' };
}
