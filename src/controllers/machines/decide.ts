import { AppError } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { machineLabel, nodeAnnotation } from '#contract/names.ts';
import type { NodeAddress, NodeView } from '#contract/node.ts';
import { isUpToDate } from '#contract/node-marks.ts';
import type { KubeObject } from '#contract/object.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { OutsideBudget } from '#node/rollout/budget.ts';

/** The fields used of a Machine. */
export interface MachineView {
  kind: string;
  name: string;
  labels: Record<string, string>;
  phase: string | undefined;
  addresses: NodeAddress[];
  nodeRef: { name: string; uid: string } | undefined;
  providerId: string | undefined;
  /** Name of the MachineSet that owns it. */
  machineSet: string | undefined;
  deleting: boolean;
}

export function readMachine(object: KubeObject): MachineView {
  const status = object.fields.object('status');
  const nodeRef = status.object('nodeRef');
  const owners = object.fields.object('metadata').objects('ownerReferences');
  return {
    kind: object.kind,
    name: object.meta.name,
    labels: object.meta.labels,
    phase: status.string('phase'),
    addresses: status.objects('addresses').map(item => ({
      type: item.string('type') ?? '',
      address: item.string('address') ?? '',
    })),
    nodeRef:
      nodeRef.names().length === 0
        ? undefined
        : { name: nodeRef.string('name') ?? '', uid: nodeRef.string('uid') ?? '' },
    providerId: object.fields.object('spec').string('providerID'),
    machineSet: owners.find(owner => owner.string('kind') === 'MachineSet')?.string('name'),
    deleting: object.meta.deletionTimestamp !== undefined,
  };
}

export function machineAccepted(machine: MachineView): boolean {
  return whyNotAccepted(machine) === undefined;
}

/** What decides whether a Machine can be replaced. */
export interface MachineFleet {
  /** All Windows Machines, this one among them. */
  machines: readonly MachineView[];
  nodes: readonly NodeView[];
  /** Of the owning MachineSet; undefined when that does not exist. */
  replicas: number | undefined;
  /**
   * Names of Machines whose configuration is not finished, by the records. Annotations on Nodes do not count: a host that removes them
   * from its own Node would block the replacement of all others.
   */
  unfinished: ReadonlySet<string>;
  /** How many nodes may be out of service at once; default: 1. */
  maxUnavailable?: number;
}

/** What the decision depends on besides the Machine. */
export interface MachineFacts extends MachineFleet {
  platform: string;
  /** Version of this operator, and hash of the public key it uses. */
  version: string;
  pubKeyHash: string;
  /** Of the key that last worked on its host, by the record; the annotation of its Node counts without one. */
  acceptedKeyHash?: string;
  /** The Secret windows-user-data is up to date. */
  userDataIsCurrent: boolean;
}

/** How to reach the host of a Machine, and its new name. */
export interface MachineHost {
  address: string;
  username: string;
  newHostname: string | undefined;
}

export type MachineDecision =
  | ({ do: 'configure'; node: NodeView | undefined } & MachineHost)
  /** Without `outside` it has no working node, and needs no grant. */
  | { do: 'replace'; why: string; outside?: OutsideBudget }
  | { do: 'wait'; why: string; event?: EventText }
  /** With its host while its Node exists; `isLost` when its Node was deleted. */
  | { do: 'skip'; why: string; error?: AppError; host?: MachineHost; isLost?: true };

export function decideMachine(machine: MachineView, facts: MachineFacts): MachineDecision {
  if (machine.deleting) return { do: 'skip', why: 'it is being deleted' };
  const unfit = whyNotAccepted(machine);
  if (unfit !== undefined) return { do: 'skip', why: unfit };
  if (machine.phase === 'Provisioned') return configure(machine, facts);
  if (machine.phase !== 'Running') return { do: 'skip', why: `its phase is ${machine.phase}` };
  if (machine.nodeRef === undefined) return { do: 'wait', why: 'it is Running, but the Machine API names no Node yet' };
  const node = nodeOf(machine, facts.nodes);
  if (node === undefined) {
    return { do: 'skip', why: `its Node ${machine.nodeRef.name} does not exist`, isLost: true };
  }
  if (!isConfigured(node)) return configure(machine, facts);
  if ((facts.acceptedKeyHash ?? node.annotations[nodeAnnotation.pubKeyHash]) !== facts.pubKeyHash) {
    return decideReplacement(machine, facts, 'its Node was configured with another key');
  }
  if (!isUpToDate(node, facts.version)) return configure(machine, facts);
  const host = hostOf(machine, facts);
  return { do: 'skip', why: 'it is up to date', ...(host && { host }) };
}

/** For a Machine that no retry can help: replace it now, later, or leave it to an administrator. */
export function decideReplacement(machine: MachineView, facts: MachineFacts, why: string): MachineDecision {
  const deletion = deletionAllowed(machine, facts);
  if (deletion.allowed) return { do: 'replace', why, ...(deletion.outside && { outside: deletion.outside }) };
  if (deletion.because === 'limit') {
    return waitForGrant(machine, facts, `${why}; ${deletion.why}`);
  }
  if (deletion.because === 'deleting') return { do: 'skip', why: deletion.why };
  const error = new AppError('MACHINE_OWNER_MISSING', `Machine ${machine.name}: ${why}, but ${deletion.why}`, {
    remedy: `Run \`oc delete machine ${machine.name} -n openshift-machine-api\` when the node can go, or use a MachineSet.`,
  });
  return { do: 'skip', why: deletion.why, error };
}

/** The Machine has to wait until fewer nodes are out of service. */
export function waitForGrant(
  { name }: MachineView,
  { maxUnavailable = 1 }: Pick<MachineFleet, 'maxUnavailable'>,
  why: string,
): MachineDecision {
  return { do: 'wait', why, event: eventText.machineDeletionRestricted(name, maxUnavailable) };
}

export type Deletion =
  | { allowed: true; outside?: OutsideBudget }
  | { allowed: false; because: 'deleting' | 'owner' | 'limit'; why: string };

/**
 * Whether the operator may delete a Machine so that its MachineSet creates a new one. A Machine without such a MachineSet is never
 * deleted, because it would not be replaced. A Machine without a working node can be deleted at any time. One with a working node
 * needs a grant of the disruption budget, for which Machines of the set that are not healthy count, and is not the last of its set.
 */
export function deletionAllowed(machine: MachineView, fleet: MachineFleet): Deletion {
  const { machineSet } = machine;
  const { machines, replicas, nodes, unfinished, maxUnavailable = 1 } = fleet;
  if (machine.deleting) return { allowed: false, because: 'deleting', why: 'it is being deleted' };
  if (machineSet === undefined) return { allowed: false, because: 'owner', why: 'no MachineSet owns it' };
  if (replicas === undefined || replicas < 1) {
    return { allowed: false, because: 'owner', why: `MachineSet ${machineSet} would not replace it` };
  }
  const works = nodeOf(machine, nodes) !== undefined && !unfinished.has(machine.name);
  if (!works) return { allowed: true };
  if (replicas === 1) return { allowed: true, outside: { machineSet, nodes: [], missing: 0 } };
  const others = machines.filter(one => one.machineSet === machineSet && one.name !== machine.name);
  const broken = others.filter(one => !isHealthyMachine(one, fleet));
  const unhealthy = Math.max(0, replicas - 1 - (others.length - broken.length));
  if (unhealthy < Math.min(maxUnavailable, replicas - 1)) {
    // Their Nodes may count already.
    const named = broken.flatMap(({ nodeRef }) => (nodeRef === undefined ? [] : [nodeRef.name])).slice(0, unhealthy);
    return { allowed: true, outside: { machineSet, nodes: named, missing: unhealthy - named.length } };
  }
  const why = `${unhealthy} of ${replicas} Machines of MachineSet ${machineSet} are not healthy`;
  return { allowed: false, because: 'limit', why };
}

/** Running, not being deleted, with a Node whose configuration is finished. */
export function isHealthyMachine(
  machine: MachineView,
  { nodes, unfinished }: Omit<MachineFleet, 'machines' | 'replicas'>,
): boolean {
  if (machine.deleting || machine.phase !== 'Running') return false;
  return nodeOf(machine, nodes) !== undefined && !unfinished.has(machine.name);
}

/**
 * Whether the configuration of the host has started and not finished, or its Node was registered again since. A host without a record
 * has not started: its name is recorded before its Node can exist.
 */
export function isUnfinished(
  { nodeRef }: MachineView,
  { host, version, nodeUID = '' }: WindowsInstanceStatus,
): boolean {
  const { uid = '' } = nodeRef ?? {};
  const isOther = nodeUID !== '' && uid !== '' && nodeUID !== uid;
  return host !== undefined && (version === undefined || isOther);
}

export function sshUserFor(platform: string): string {
  return platform === 'Azure' ? 'capi' : 'Administrator';
}

/** The new computer name; undefined where the platform sets it. */
export function newHostnameFor(platform: string, machineName: string): string | undefined {
  return ['VSphere', 'Nutanix'].includes(platform) ? machineName : undefined;
}

function configure(machine: MachineView, facts: MachineFacts): MachineDecision {
  const host = hostOf(machine, facts);
  if (!facts.userDataIsCurrent) return { do: 'wait', why: 'the Secret windows-user-data is not up to date' };
  if (host === undefined) return { do: 'wait', why: 'it has no internal IPv4 address yet' };
  if ((machine.providerId ?? '') === '') return { do: 'wait', why: 'it has no provider ID yet' };
  return { do: 'configure', ...host, node: nodeOf(machine, facts.nodes) };
}

function hostOf(machine: MachineView, { platform }: MachineFacts): MachineHost | undefined {
  const address = internalIpv4(machine);
  if (address === undefined) return undefined;
  return { address, username: sshUserFor(platform), newHostname: newHostnameFor(platform, machine.name) };
}

function whyNotAccepted(machine: MachineView): string | undefined {
  if (machine.kind !== 'Machine') return `it is a ${machine.kind}`;
  if (machine.labels[machineLabel.osId] !== 'Windows') return `its label ${machineLabel.osId} is not Windows`;
  if (machine.labels[machineLabel.ignore] === 'true') return `its label ${machineLabel.ignore} is true`;
  if ((machine.phase ?? '') === '') return 'it has no phase yet';
  return internalIpv4(machine) === undefined ? 'it has no internal IPv4 address yet' : undefined;
}

function internalIpv4(machine: MachineView): string | undefined {
  return machine.addresses.find(({ type, address }) => type === 'InternalIP' && isIpv4(address))?.address;
}

function isConfigured(node: NodeView): boolean {
  return Object.hasOwn(node.annotations, nodeAnnotation.version);
}

/** A Node that was registered again has another UID and does not belong to this Machine. */
function nodeOf({ nodeRef }: MachineView, nodes: readonly NodeView[]): NodeView | undefined {
  if (nodeRef === undefined) return undefined;
  const sameUid = (node: NodeView) => nodeRef.uid === '' || node.uid === '' || nodeRef.uid === node.uid;
  return nodes.find(node => node.name === nodeRef.name && sameUid(node));
}
