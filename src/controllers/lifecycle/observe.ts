import { normalHostName } from '#base/dns-name.ts';
import { byAddress, byNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { isReportName } from '#contract/agent-report.ts';
import { configMapName, instanceAnnotation, prefix } from '#contract/names.ts';
import { isWindowsNode } from '#contract/node.ts';
import { isHeldByPin, stoppedVersion, upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import { changed, matching, type Predicate } from '#kube/controller/predicate.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { ConfigMap, Node } from '#kube/resources.ts';
import { isRejected } from './condition.ts';

/** What administrators and sources change; not the status, which the lifecycle writes itself. */
export const specChanges = changed(({ metadata }: WindowsInstance) => [
  metadata.generation,
  metadata.deletionTimestamp,
  metadata.annotations?.[instanceAnnotation.retry],
  metadata.annotations?.[instanceAnnotation.removal],
  metadata.annotations?.[instanceAnnotation.forceRemoval],
  metadata.annotations?.[instanceAnnotation.pinnedVersion],
  metadata.annotations?.[instanceAnnotation.reboot],
]);

/** What stops the roll-out for other hosts, or lets it go on. */
export const rolloutChanges: Predicate<WindowsInstance> = {
  added: () => false,
  updated: (old, now) => stoppedText(old) !== stoppedText(now),
  deleted: instance => stoppedVersion(instance) !== undefined,
  relisted: () => false,
};

/** What other hosts say about the stop depends on the pin, too. */
function stoppedText(instance: WindowsInstance): string | undefined {
  const version = stoppedVersion(instance);
  return version === undefined ? undefined : `${version} ${isHeldByPin(instance, version)}`;
}

/** Hosts that the settings of the roll-out, or its stop, can concern: others stay asleep. */
export function isChanging({ status }: WindowsInstance, version: string): boolean {
  const { version: recorded, upgrade } = status ?? {};
  return recorded !== version || (upgrade !== undefined && upgradeState(upgrade) !== 'soaked');
}

/** A host that held others back, because it failed with changed settings of its services or was the first with them, and does not any more. */
export const endedHolds: Predicate<WindowsInstance> = {
  added: () => false,
  updated: (old, now) => {
    const before = holdOf(old);
    // Those that wait for the first host are told by its success.
    const isDone =
      before === 'first' && old.status?.settings?.services?.desired === now.status?.settings?.services?.applied;
    return before !== undefined && holdOf(now) === undefined && !isDone;
  },
  deleted: instance => holdOf(instance) !== undefined,
  relisted: () => false,
};

function holdOf(instance: WindowsInstance): 'failed' | 'first' | undefined {
  if (instance.spec.paused === true) return undefined;
  if (instance.status?.settings?.services?.failed !== undefined) return 'failed';
  return isGettingServices(instance) ? 'first' : undefined;
}

/** The Node may have been told to apply them. One that could not be reached has not: its next attempt is due later. */
export function isGettingServices({ status }: WindowsInstance, desired = status?.settings?.services?.desired): boolean {
  const { journey, nextAttempt, settings } = status ?? {};
  if (journey?.name !== 'restart' || nextAttempt !== undefined) return false;
  return settings?.services?.desired === desired && settings?.services?.applied === undefined;
}

/** A host that has changed settings of its services. */
export const appliedServices: Predicate<WindowsInstance> = {
  added: () => false,
  updated: (old, now) => old.status?.settings?.services?.applied !== now.status?.settings?.services?.applied,
  deleted: () => false,
  relisted: () => false,
};

export const settingsChanges: Predicate<ConfigMap> = matching(
  ({ metadata }) => metadata.name === configMapName.rollout,
);

export const reportChanges: Predicate<ConfigMap> = {
  added: () => false,
  updated: (old, now) => isReportName(now.metadata.name ?? '') && old.data?.['events'] !== now.data?.['events'],
  deleted: () => false,
  relisted: () => false,
};

/** What decides which of several instances of one host is accepted. */
export const hostChanges = changed(({ metadata, status }: WindowsInstance) => [
  metadata.generation,
  metadata.deletionTimestamp,
  status?.ipv4,
  status?.host !== undefined && status.hostKey !== undefined,
  isRejected({ metadata, status } as WindowsInstance),
]);

/** Ignores Linux nodes, heartbeats and images. */
export const nodeChanges: Predicate<Node> = {
  added: isWindows,
  deleted: isWindows,
  updated: (old, now) => isWindows(now) && JSON.stringify(relevantOf(old)) !== JSON.stringify(relevantOf(now)),
};

function isWindows({ metadata }: Node): boolean {
  return isWindowsNode({ labels: metadata.labels ?? {} });
}

function relevantOf({ metadata, spec, status }: Node): unknown {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([name]) => name.startsWith(`${prefix}/`));
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return [metadata.labels?.['kubernetes.io/os'], annotations, spec?.unschedulable, ready, status?.addresses];
}

/** By name; also by address, because address conflicts are reported. */
export function instancesOf({ metadata, status }: Node, instances: StoreView<WindowsInstance>): WindowsInstance[] {
  const addresses = new Set(status?.addresses?.map(({ address }) => normalHostName(address)));
  const named = instances.byIndex(byNode, metadata.name ?? '');
  return [...new Set([...named, ...[...addresses].flatMap(address => instances.byIndex(byAddress, address))])];
}
