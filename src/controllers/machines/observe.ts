import { normalHostName } from '#base/dns-name.ts';
import type { MachineNames } from '#node/lifecycle/node-names.ts';
import { attempt } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import type { Installation } from '#cluster/installation.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { machineLabel, namespaceName } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import type { Informers } from '#kube/informer/informers.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { Node } from '#kube/resources.ts';
import { type Machine, type MachineSet, machines } from '#kube/resources-openshift.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import type { Rollout } from '#node/rollout/rollout.ts';
import type { OnChange } from '#kube/controller/signal-watch.ts';
import { bySource, sourceText } from '#cluster/instance-source.ts';
import { isUnfinished, type MachineFacts, type MachineFleet, type MachineView, readMachine } from './decide.ts';

/** Only Machines with this label are watched. */
export const windowsMachines = {
  namespace: namespaceName.machineApi,
  labelSelector: `${machineLabel.osId}=Windows`,
};

export interface MachineSettings {
  platform: string;
  /** Of the public key that the operator uses. */
  pubKeyHash: string;
  /** The Secret windows-user-data is up to date for that key. */
  userDataIsCurrent: boolean;
}

export interface MachinesParts extends ControllerParts {
  installation: Pick<Installation, 'problem'>;
  /** Undefined while platform or key are unknown; Machines are skipped then. */
  settings(): MachineSettings | undefined;
  onSettingsChange: OnChange;
  /** The disruption budget; default: one of its own. */
  rollout?: Rollout;
}

export interface MachineStores {
  instances: StoreView<WindowsInstance>;
  machines: StoreView<Machine>;
  machineSets: StoreView<MachineSet>;
  nodes: StoreView<Node>;
}

export function observeMachine(
  machine: MachineView,
  siblings: readonly Machine[],
  stores: Pick<MachineStores, 'machineSets' | 'nodes' | 'instances'>,
  settings: MachineSettings & { version: string },
): MachineFacts {
  const acceptedKeyHash = recordsOf(machine, stores.instances)
    .map(({ key }) => key?.hash)
    .find(hash => hash !== undefined);
  return {
    ...settings,
    ...(acceptedKeyHash !== undefined && { acceptedKeyHash }),
    ...observeFleet(machine.machineSet, siblings, stores),
  };
}

/** The Machines, as far as one of this MachineSet is concerned. */
export function observeFleet(
  name: string | undefined,
  siblings: readonly Machine[],
  stores: Pick<MachineStores, 'machineSets' | 'nodes' | 'instances'>,
): MachineFleet {
  // A Machine that cannot be read does not count as healthy.
  const views = siblings.flatMap(object => {
    const read = attempt(() => readMachine(readObject(object)));
    return read.ok ? [read.value] : [];
  });
  const set = name === undefined ? undefined : stores.machineSets.get({ namespace: namespaceName.machineApi, name });
  return {
    machines: views,
    nodes: nodesOf(views, stores.nodes),
    unfinished: unfinishedMachines(views, stores.instances),
    // The default of the API server.
    replicas: set === undefined ? undefined : (set.spec?.replicas ?? 1),
  };
}

function recordsOf({ name }: MachineView, store: StoreView<WindowsInstance>): WindowsInstanceStatus[] {
  return store.byIndex(bySource, sourceText({ kind: 'Machine', name })).map(({ status = {} }) => status);
}

function unfinishedMachines(views: readonly MachineView[], store: StoreView<WindowsInstance>): Set<string> {
  const unfinished = views.filter(view => recordsOf(view, store).some(record => isUnfinished(view, record)));
  return new Set(unfinished.map(({ name }) => name));
}

function nodesOf(views: readonly MachineView[], store: StoreView<Node>): NodeView[] {
  return views.flatMap(({ nodeRef }) => {
    const node = nodeRef === undefined ? undefined : store.get({ namespace: '', name: nodeRef.name });
    const read = node === undefined ? undefined : attempt(() => readNode(readObject(node)));
    return read?.ok === true ? [read.value] : [];
  });
}

/** Host names that the cloud reports for a Machine; its Node must have one of them. */
export function machineNames(informers: Pick<Informers, 'get'>): MachineNames {
  const source = informers.get(machines, windowsMachines);
  const { store } = source;
  source.addIndex(byHostName, normalNamesOf);
  return {
    of: name => hostNamesOf(store.get({ namespace: namespaceName.machineApi, name })),
    withName: name => store.byIndex(byHostName, name).map(({ metadata }) => metadata.name ?? ''),
  };
}

const byHostName = 'host name';

function normalNamesOf(machine: Machine): string[] {
  return hostNamesOf(machine).map(normalHostName);
}

function hostNamesOf(machine: Machine | undefined): string[] {
  const read = machine && attempt(() => readObject(machine).fields.object('status').objects('addresses'));
  if (read === undefined || !read.ok) return [];
  return read.value
    .filter(item => ['InternalDNS', 'Hostname'].includes(item.string('type') ?? ''))
    .map(item => item.string('address') ?? '');
}

/** Whether the Machine gets a WindowsInstance: it exists, is Windows, is neither ignored nor being deleted. */
export function isEligible(machine: Machine | undefined): machine is Machine {
  if (machine === undefined || machine.metadata.deletionTimestamp !== undefined) return false;
  const labels = machine.metadata.labels ?? {};
  return ownMember(labels, machineLabel.osId) === 'Windows' && ownMember(labels, machineLabel.ignore) !== 'true';
}

const refusals = ['HOST_REFUSED_KEY', 'HOST_WANTS_PASSWORD'];

/** Whether the last SSH login failed because of the key; true also while the login is being retried. */
export function refusesKey({ status }: WindowsInstance): boolean {
  return (status?.timeline ?? []).some(
    ({ finished, lastError }) => finished === undefined && refusals.includes(lastError?.code ?? ''),
  );
}
