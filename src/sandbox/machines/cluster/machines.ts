import { textFromBase64 } from '#base/bytes.ts';
import type { Log } from '#base/log.ts';
import { machineLabel, nodeLabel, secretKey, secretName } from '#contract/names.ts';
import { type Key, keyOf } from '#kube/resource.ts';
import { type Node, nodes, secrets } from '#kube/resources.ts';
import { type Machine, machines } from '#kube/resources-openshift.ts';
import { isKind } from '../../apiserver/auth/is-kind.ts';
import { createController } from '../../apiserver/controllers/worker.ts';
import { textAt, textsAt } from '../../apiserver/object.ts';
import type { Controller, LocalApi, StoredObject } from '../../apiserver/ports.ts';
import type { Waits } from './waits.ts';

/** Creates hosts for Machines. */
export interface Cloud {
  /** Creates a host that boots with the user data. */
  create(machine: string, userData: string): CloudHost;
  remove(machine: string): void;
}

export interface CloudHost {
  address: string;
  providerId: string;
}

export interface MachinesOptions {
  cloud: Cloud;
  waits: Waits;
  provisionMs: number;
  log?: Log;
}

type StoredMachine = StoredObject & Machine;

const finalizer = 'machine.machine.openshift.io';
const machineAnnotation = 'machine.openshift.io/machine';
const retryMs = 500;

/** Creates the host of every Windows Machine, links its Node, and deletes the host with the Machine. */
export function createMachines(options: MachinesOptions): Controller {
  return createController(
    {
      name: 'machines',
      resource: machines,
      affected: ({ resource, object }, api) => (isKind(resource, nodes) ? machinesAt(object, api) : []),
      reconcile: (key, api) => {
        const machine: StoredMachine | undefined = api.get(machines, key);
        const isWindows = machine?.metadata.labels?.[machineLabel.osId] === 'Windows';
        if (machine === undefined || !isWindows) return undefined;
        return machine.metadata.deletionTimestamp === undefined
          ? advance(machine, options, api)
          : remove(machine, options, api);
      },
    },
    options.log,
  );
}

/** Advances by one phase; returns the requeue delay. */
function advance(machine: StoredMachine, options: MachinesOptions, api: LocalApi): number | undefined {
  const { name = '', finalizers = [] } = machine.metadata;
  if (!finalizers.includes(finalizer)) {
    api.replace(machines, { ...machine, metadata: { ...machine.metadata, finalizers: [...finalizers, finalizer] } });
    return undefined;
  }
  switch (machine.status?.phase) {
    case undefined:
      setStatus(machine, { phase: 'Provisioning' }, api);
      return undefined;
    case 'Provisioning': {
      const leftMs = options.waits.left(name, options.provisionMs);
      return leftMs > 0 ? leftMs : provision(machine, options.cloud, api);
    }
    case 'Provisioned':
      linkNode(machine, api);
      return undefined;
    default:
      return undefined;
  }
}

/** Waits for the user data, without which the host is not accessible. */
function provision(machine: StoredMachine, cloud: Cloud, api: LocalApi): number | undefined {
  const { name = '' } = machine.metadata;
  const userData = userDataOf(machine, api);
  if (userData === undefined) return retryMs;
  const { address, providerId } = cloud.create(name, userData);
  const spec = { ...machine.spec, providerID: providerId };
  const stored: StoredMachine = api.replace(machines, { ...machine, spec } as StoredMachine);
  const addresses = [
    { type: 'InternalIP', address },
    { type: 'InternalDNS', address: name },
    { type: 'Hostname', address: name },
  ];
  setStatus(stored, { phase: 'Provisioned', addresses }, api);
  return undefined;
}

function remove(machine: StoredMachine, { cloud, waits }: MachinesOptions, api: LocalApi): undefined {
  const { name = '', finalizers = [] } = machine.metadata;
  if (machine.status?.phase !== 'Deleting') {
    setStatus(machine, { phase: 'Deleting' }, api);
    return;
  }
  cloud.remove(name);
  waits.forget(name);
  const node = { namespace: '', name: machine.status.nodeRef?.name ?? '' };
  if (api.get(nodes, node) !== undefined) api.delete(nodes, node);
  if (!finalizers.includes(finalizer)) return;
  const metadata = { ...machine.metadata, finalizers: finalizers.filter(each => each !== finalizer) };
  api.replace(machines, { ...machine, metadata });
}

function setStatus(machine: StoredMachine, status: Machine['status'], api: LocalApi): void {
  const merged = { ...machine.status, ...status };
  api.replace(machines, { ...machine, status: merged } as StoredMachine, { subresource: 'status' });
}

/** Links the Node with the same address and copies labels to it. */
function linkNode(machine: StoredMachine, api: LocalApi): void {
  const address = addressOf(machine);
  const node = (api.list(nodes) as (StoredObject & Node)[]).find(each => addressOf(each) === address);
  if (node === undefined || address === undefined) return;
  const { namespace = '', name = '' } = machine.metadata;
  const { labels, annotations } = node.metadata;
  api.replace(nodes, {
    ...node,
    metadata: {
      ...node.metadata,
      labels: { ...labels, ...textsAt(machine, 'spec.metadata.labels') },
      annotations: { ...annotations, [machineAnnotation]: `${namespace}/${name}` },
    },
  });
  const nodeRef = { kind: 'Node', name: node.metadata.name ?? '', uid: node.metadata.uid ?? '' };
  setStatus(machine, { phase: 'Running', nodeRef }, api);
}

function machinesAt(node: Node, api: LocalApi): Key[] {
  if (node.metadata.labels?.[nodeLabel.os] !== 'windows') return [];
  const address = addressOf(node);
  const owners = (api.list(machines) as StoredMachine[]).filter(machine => addressOf(machine) === address);
  return owners.map(keyOf);
}

function addressOf({ status }: Machine | Node): string | undefined {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
}

function userDataOf(machine: StoredMachine, api: LocalApi): string | undefined {
  const { namespace = '' } = machine.metadata;
  const name = textAt(machine, 'spec.providerSpec.value.userDataSecret.name') || secretName.userData;
  const secret = api.get(secrets, { namespace, name });
  return textFromBase64(textAt(secret, `data.${secretKey.userData}`)) || undefined;
}
