import { timestamp } from '#base/clock.ts';
import { isBeingRemoved } from '#cluster/instance-removal.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { InventoryIdentity, Inventory } from '#contract/inventory.ts';
import { nodeAnnotation, nodeLabel, serviceName } from '#contract/names.ts';
import { isVersionText, unknownVersion } from '#contract/version.ts';
import type {
  InstanceHost,
  InstanceIdentity,
  InstanceRecord,
  WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import { printPublicKey } from '#host/keys/public-key.ts';
import { appliedSettings } from '../refresh/setting-record.ts';
import type { ConfigureJourney } from './journey.ts';
import { missingFiles, staleFiles } from './stage.ts';

/** An operator configured the Node completely, and this instance has no record of it. */
export function isAdoptable({ node, record }: ConfigureJourney, reportedName: string): boolean {
  const { host, agent } = record.known;
  const isRecorded = host !== undefined || agent !== undefined;
  // A host that is yet to be renamed is not the host of that Node.
  if (isRecorded || node?.name !== reportedName) return false;
  return Object.hasOwn(node.annotations, nodeAnnotation.version);
}

/**
 * The Go operator was ended while it upgraded the Node: the cordon is that of an operator, which the label shows, and not of an
 * administrator. This operator always sets the other annotation with the label.
 */
export function isLeftCordoned({ node, record }: ConfigureJourney): boolean {
  if (node === undefined || record.known.host !== undefined) return false;
  const { labels, annotations, unschedulable } = node;
  const isOurs = Object.hasOwn(annotations, nodeAnnotation.desiredServices);
  return unschedulable && Object.hasOwn(labels, nodeLabel.upgrading) && !isOurs;
}

/** Records the Node and what the agent on the host uses. The version that a Node reports is trusted this once. */
export async function adoptNode(
  journey: ConfigureJourney,
  host: InstanceHost,
  predecessors: readonly WindowsInstance[],
): Promise<void> {
  const { joinedNode: node, inventory, deps, record } = journey;
  const version = versionOf(journey);
  const found = { host, nodeUID: node.uid, version, ...identitiesOf(inventory, deps.clock.now()) };
  await record.save({ ...found, ...inheritedRecord(predecessors), ...(await foundSettings(journey)) });
  journey.adoption = {
    version,
    isNewKey: predecessors.length === 0 && (node.annotations[nodeAnnotation.sshHostKey] ?? '') === '',
    predecessors: predecessors.map(({ metadata }) => metadata.name ?? ''),
  };
}

/**
 * Files and a key of ours are on every host that this version has set up. An agent of the Go operator, which can write every Node, could
 * otherwise have all hosts changed at once, without a drain.
 */
function versionOf({ joinedNode, inventory, basics }: ConfigureJourney): string {
  const claimed = (joinedNode.annotations[nodeAnnotation.version] ?? '').slice(0, maxVersionLength);
  const isOurs = inventory.stagedVersion !== '' || inventory.identities?.agent !== undefined;
  // It becomes part of names and messages.
  if (claimed !== '' && !isVersionText(claimed)) return unknownVersion;
  return claimed === basics.facts.version && !isOurs ? unknownVersion : claimed;
}

/** Settings of the cluster that the host has already need no further connection. An agent of the Go operator has none. */
async function foundSettings(journey: ConfigureJourney): Promise<Pick<InstanceRecord, 'settings'>> {
  const { instance, inventory, deps, joinedNode } = journey;
  const desired = inventory.identities?.agent && deps.inputs.desiredSettings?.(instance);
  if (desired === undefined) return {};
  const texts = await desired.texts();
  const lacks = (use: 'live' | 'start') => {
    const wanted = texts.filter(file => file.use === use);
    return missingFiles(wanted, inventory).length > 0;
  };
  const isLive = !lacks('live') && staleFiles(texts, desired.ownedDirectories, inventory).length === 0;
  const isApplied = !lacks('start') && deps.nodes.appliedServices(joinedNode) === desired.services;
  const { liveHash, mirrors, services, hasProxy } = desired;
  const has = { ...(isLive && { liveHash, mirrors }), ...(isApplied && { services, hasProxy }) };
  return appliedSettings(has, timestamp(deps.clock.now()));
}

/** An annotation can be long, and its host can write it. */
const maxVersionLength = 64;

/** Stores the record before the others are deleted: after a crash in between, they have a successor and are deleted later. */
export async function takeOver(
  { record, deps }: ConfigureJourney,
  host: InstanceHost,
  predecessors: readonly WindowsInstance[],
  signal: AbortSignal,
): Promise<void> {
  if (predecessors.length === 0) return;
  await record.save({ ...inheritedRecord(predecessors), host });
  for (const predecessor of predecessors) await deps.names.discard(predecessor, signal);
}

/** Instances with this name that give up their host, which showed the same SSH host key here. */
export function findPredecessors(journey: ConfigureJourney, name: string): readonly WindowsInstance[] {
  const { hostKey, inventory, instance, deps } = journey;
  if (hostKey === undefined) return [];
  const shown = printPublicKey(hostKey);
  return deps.names.predecessors(name, instance, ({ status = {} }) => isSameHost(status, shown, inventory));
}

/** Clones of a template may have one host key. A clone has no kubelet of ours, or another key of the agent. */
function isSameHost(status: WindowsInstanceStatus, hostKey: string, { services, identities }: Inventory): boolean {
  const { agent, nodeUID } = status;
  if (status.hostKey !== hostKey || isBeingRemoved(status)) return false;
  const hasKubelet = services.some(({ name, isManaged }) => name === serviceName.kubelet && isManaged);
  const found = identities?.agent?.keyHash;
  const hasSameAgent = found === undefined || agent === undefined || found === agent.keyHash;
  return hasSameAgent && (hasKubelet || nodeUID === undefined);
}

/** What earlier instances recorded about the host. The newest one counts. */
function inheritedRecord(predecessors: readonly WindowsInstance[]): InstanceRecord {
  const { nodeUID, certifiedName, tokens, agent, cloudNode, version } = predecessors.at(-1)?.status ?? {};
  return {
    ...(nodeUID !== undefined && { nodeUID }),
    ...(certifiedName !== undefined && { certifiedName }),
    ...(tokens !== undefined && { tokens }),
    ...(agent !== undefined && { agent }),
    ...(cloudNode !== undefined && { cloudNode }),
    ...(version !== undefined && { version }),
  };
}

/** None for an agent of the Go operator, which has no key of ours. */
function identitiesOf({ identities = {} }: Inventory, nowMs: number): Pick<InstanceRecord, 'agent' | 'cloudNode'> {
  const { agent, cloudNode } = identities;
  return {
    ...(agent && { agent: identityOf(agent, nowMs) }),
    ...(agent && cloudNode && { cloudNode: identityOf(cloudNode, nowMs) }),
  };
}

/** An expired certificate was last good at its end, so that the agent is reconnected at once. */
function identityOf({ keyHash, certificateEnds }: InventoryIdentity, nowMs: number): InstanceIdentity {
  if (certificateEnds === undefined) return { keyHash, installed: timestamp(nowMs) };
  return { keyHash, installed: timestamp(Math.min(nowMs, Date.parse(certificateEnds))), certificateEnds };
}
