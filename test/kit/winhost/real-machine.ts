import { setTimeout as delay } from 'node:timers/promises';
import { textFromBase64 } from '../../../src/base/bytes.ts';
import { machineLabel, namespaceName, nodeLabel, secretKey, secretName } from '../../../src/contract/names.ts';
import { isNotFound } from '../../../src/kube/api-error.ts';
import type { Client } from '../../../src/kube/client.ts';
import { secrets } from '../../../src/kube/resources.ts';
import { type Machine, machineSets, machines } from '../../../src/kube/resources-openshift.ts';

const namespace = namespaceName.machineApi;
const userDataMs = 60_000;
const set = 'e2e-wm';
const setLabels = {
  'machine.openshift.io/cluster-api-cluster': 'east-7x2kq',
  'machine.openshift.io/cluster-api-machineset': set,
  [machineLabel.osId]: 'Windows',
};
const machineSpec = {
  metadata: { labels: { [nodeLabel.worker]: '' } },
  providerSpec: { value: { userDataSecret: { name: secretName.userData } } },
};

/** A MachineSet for Windows; the test creates its Machines. */
export async function createMachineSet(client: Client): Promise<{ name: string; uid: string }> {
  const template = { metadata: { labels: setLabels }, spec: machineSpec };
  const selector = { matchLabels: setLabels };
  const spec = { replicas: 1, selector, template };
  const made = await client.create(machineSets, { metadata: { name: set, namespace }, spec });
  return { name: set, uid: made.metadata.uid ?? '' };
}

export interface NewMachine {
  name: string;
  address: string;
  owner: { name: string; uid: string };
  labels?: Readonly<Record<string, string>>;
  /** Gives the host its user data. */
  boot(userData: string): Promise<void>;
}

/**
 * A Machine as a cloud makes it: first without an address, then with one, its name, and the id of the host. The host lets in
 * whom the user data name, which are waited for.
 */
export async function createMachine(client: Client, machine: NewMachine): Promise<Machine> {
  const { name, address, owner, labels } = machine;
  const ownerReferences = [
    { apiVersion: 'machine.openshift.io/v1beta1', kind: 'MachineSet', controller: true, ...owner },
  ];
  const metadata = { name, namespace, labels: { ...setLabels, ...labels }, ownerReferences };
  await client.create(machines, { metadata, spec: machineSpec });
  await setStatus(client, name, { phase: 'Provisioning' });
  await machine.boot(await userData(client));
  const spec = { providerID: `vsphere://${name}` };
  await client.patch(machines, name, { type: 'merge', body: { spec } }, { namespace });
  const addresses = [
    { type: 'InternalIP', address },
    { type: 'InternalDNS', address: name },
    { type: 'Hostname', address: name },
  ];
  return setStatus(client, name, { phase: 'Provisioned', addresses });
}

function setStatus(client: Client, name: string, status: object): Promise<Machine> {
  return client.patch(machines, name, { type: 'merge', body: { status } }, { namespace, subresource: 'status' });
}

async function userData(client: Client): Promise<string> {
  for (const endMs = performance.now() + userDataMs; ; await delay(100)) {
    try {
      const { data } = await client.get(secrets, secretName.userData, { namespace });
      return textFromBase64(data?.[secretKey.userData] ?? '') ?? '';
    } catch (error) {
      if (!isNotFound(error) || performance.now() > endMs) throw error;
    }
  }
}
