import { isAlreadyExists, unless } from '../../src/kube/api-error.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import {
  configMapName,
  instanceAnnotation,
  machineLabel,
  namespaceName,
  nodeAnnotation,
  operatorName,
  secretName,
} from '../../src/contract/names.ts';
import { publicKeyHash } from '../../src/host/keys/public-key.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import type { Connect } from '../../src/host/host.ts';
import type { Client, WatchOptions } from '../../src/kube/client.ts';
import type { KubeResource, Resource, WatchEvent } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import { machines } from '../../src/kube/resources-openshift.ts';
import { installDefinitions } from './cluster/openshift-crds.ts';
import { installedRights } from './install-manifests.ts';
import { apply, makeSecret, type OperatorScene, operatorVersion } from './operator-scene.ts';
import { newPrivateKey } from './new-private-key.ts';

export const crdName = 'windowsinstances.windowsmachineconfig.openshift.io';
export const listed = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
export const machine = 'machine-4';
export const direct = 'direct-5';
export const nodeNames = ['win-1', 'win-2', 'win-3', 'win-4', 'win-5'];
const inMachineApi = { namespace: namespaceName.machineApi };
const privateKey = newPrivateKey();

/** Five configured hosts with their Nodes: three entries, a Machine, and one that an administrator created. */
export async function addConfiguredHosts({ admin, namespace }: OperatorScene): Promise<void> {
  // None of them answers: without a complete set of settings, none is connected to.
  await admin.delete(kinds.secrets, secretName.tls, { namespace });
  await makeSecret(admin, namespace, secretName.privateKey, { 'private-key.pem': privateKey });
  const map = await listHosts(admin, namespace);
  const mapUid = map.metadata.uid ?? '';
  const uids: string[] = [];
  for (const name of nodeNames) uids.push(await addNode(admin, name));
  const [, , , machineNode = ''] = uids;
  const machineUid = await addMachine(admin, machineNode);
  for (const [index, address] of listed.entries())
    await addInstance(admin, namespace, {
      index,
      uid: uids[index] ?? '',
      name: address,
      source: ['ConfigMap', mapUid],
    });
  await addInstance(admin, namespace, { index: 3, uid: machineNode, name: machine, source: ['Machine', machineUid] });
  await addInstance(admin, namespace, { index: 4, uid: uids[4] ?? '', name: direct });
}

/** Applies all manifests again, and lists the hosts again. */
export async function installAgain({ admin, namespace }: OperatorScene): Promise<void> {
  await installDefinitions(admin, [crdName]);
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: operatorName, namespace } };
  const objects = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, account];
  for (const object of [...objects, ...installedRights('openshift')])
    await apply(admin, object).catch(unless(isAlreadyExists));
  await makeSecret(admin, namespace, secretName.privateKey, { 'private-key.pem': privateKey }).catch(
    unless(isAlreadyExists),
  );
  await listHosts(admin, namespace).catch(unless(isAlreadyExists));
}

/** Counts the connections that the operator opens to hosts, none of which answers. */
export function countConnections(): { connect: Connect; opened: () => number } {
  let count = 0;
  const connect: Connect = () => {
    count += 1;
    return Promise.reject(new Error('no host answers'));
  };
  return { connect, opened: () => count };
}

/** A client whose watches hold back changes and deletions until they are released. */
export function withLateWatches(client: Client): { client: Client; release: () => void } {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const watch = async function* <T extends KubeResource>(
    resource: Resource<T>,
    options?: WatchOptions,
  ): AsyncIterable<WatchEvent<T>> {
    for await (const event of client.watch(resource, options)) {
      // The objects that exist come at once, so that the operator starts.
      if (event.type === 'MODIFIED' || event.type === 'DELETED') await released;
      yield event;
    }
  };
  const late = new Proxy(client, {
    get: (target, member: keyof Client) => {
      if (member === 'watch') return watch;
      const value: unknown = target[member];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { client: late, release };
}

function listHosts(admin: Client, namespace: string): Promise<kinds.ConfigMap> {
  const data = Object.fromEntries(listed.map(address => [address, 'username=Administrator']));
  return admin.create(kinds.configMaps, { metadata: { name: configMapName.instances, namespace }, data });
}

async function addNode(admin: Client, name: string): Promise<string> {
  const annotations = {
    [nodeAnnotation.version]: operatorVersion,
    [nodeAnnotation.pubKeyHash]: publicKeyHash(parsePrivateKey(privateKey).publicKey),
  };
  const made = await admin.create(kinds.nodes, {
    metadata: { name, labels: { 'kubernetes.io/os': 'windows' }, annotations },
  });
  return made.metadata.uid ?? '';
}

async function addMachine(admin: Client, nodeUid: string): Promise<string> {
  const made = await admin.create(machines, {
    metadata: { name: machine, ...inMachineApi, labels: { [machineLabel.osId]: 'Windows' } },
    spec: { providerID: 'aws:///zone/4' },
  });
  const status = {
    phase: 'Running',
    addresses: [{ type: 'InternalIP', address: '10.0.0.4' }],
    nodeRef: { kind: 'Node', name: 'win-4', uid: nodeUid },
  };
  const body = { status };
  await admin.patch(machines, machine, { type: 'merge', body }, { ...inMachineApi, subresource: 'status' });
  return made.metadata.uid ?? '';
}

interface NewInstance {
  index: number;
  /** Of its Node. */
  uid: string;
  name: string;
  source?: readonly ['ConfigMap' | 'Machine', uid: string];
}

async function addInstance(admin: Client, namespace: string, { index, uid, name, source }: NewInstance): Promise<void> {
  const address = `10.0.0.${index + 1}`;
  const node = nodeNames[index] ?? '';
  await admin.create(windowsInstances, {
    metadata: { name, namespace, ...(source && { annotations: { [instanceAnnotation.sourceUid]: source[1] } }) },
    spec: { address, username: 'Administrator', ...(source && { source: { kind: source[0], name } }) },
  });
  const agent = { keyHash: 'a'.repeat(64), installed: '2026-01-01T00:00:00Z', certificateEnds: '2099-01-01T00:00:00Z' };
  const record = { node, nodeUID: uid, host: { name: node, addresses: [address] }, version: operatorVersion, agent };
  const body = { status: { phase: 'Ready', ...record } };
  await admin.patch(windowsInstances, name, { type: 'merge', body }, { namespace, subresource: 'status' });
}
