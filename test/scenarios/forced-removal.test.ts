import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import {
  configMapName,
  namespaceName,
  nodeAnnotation,
  nodeLabel,
  removedTaint,
  secretName,
} from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import { certificateSigningRequests, configMaps, type Node, nodes, secrets } from '../../src/kube/resources.ts';
import { machineSets, machines } from '../../src/kube/resources-openshift.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { hostTraces } from '../kit/host-traces.ts';
import { administratorOf, type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { objectsNaming } from '../kit/secret-check.ts';
import { startWmco } from '../kit/wmco-process.ts';

/** A dead host, an orphan Node and a Machine leave the cluster. */

const [dead, orphan] = ['win-1', 'win-2'] as const;

let folder: string;
let sandbox: Sandbox;
let operator: SandboxOperator;
let before: unknown;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-forced-'));
  sandbox = await startSandbox({ hosts: 2, machines: 1, speed: 20, listsNames: true });
  writeFileSync(join(folder, 'kubeconfig'), sandbox.kubeconfig, { mode: 0o600 });
  before = await hostTraces(sandbox.host(orphan));
  operator = startOperator(sandbox, { payloadBytes: 200_000 });
  await operator.allReady(3);
}, 120_000);
afterAll(async () => {
  await operator?.stop();
  await sandbox?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const inNamespace = () => ({ namespace: sandbox.namespace });
const inMachineApi = { namespace: namespaceName.machineApi };

async function wmco(...words: string[]): Promise<{ code: number | string; out: string; err: string }> {
  await using process = startWmco(words, { environment: { KUBECONFIG: join(folder, 'kubeconfig') } });
  const code = await process.ended();
  return { code, out: process.out(), err: process.err() };
}

async function findNode(name: string): Promise<Node | undefined> {
  return (await operator.client.list(nodes)).items.find(({ metadata }) => metadata.name === name);
}

async function setEntry(client: Client, name: string, value: string | null): Promise<void> {
  const patch = { type: 'merge', body: { data: { [name]: value } } } as const;
  await client.patch(configMaps, configMapName.instances, patch, inNamespace());
}

const instanceNames = async () => (await operator.instances()).map(({ metadata }) => metadata.name);
const noteOf = async (name: string) =>
  (await operator.client.get(configMaps, configMapName.removedHosts, inNamespace())).data?.[name];
const approvedRequests = async () =>
  (await operator.client.list(certificateSigningRequests)).items.filter(({ status }) =>
    status?.conditions?.some(({ type }) => type === 'Approved'),
  ).length;

test('a dead host is removed by force, and a note about it stays', async () => {
  sandbox.host(dead).switchOff();
  const { code, out, err } = await wmco('remove', dead, '--force', '--yes');
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('The host was not cleaned.');
  expect([await findNode(dead), await instanceNames()]).toEqual([undefined, expect.not.arrayContaining([dead])]);
  expect(JSON.parse((await noteOf(dead)) ?? '')).toMatchObject({ instance: dead });
});

test('a host that was removed by force and comes back gets no pod, and is shown', async () => {
  const approved = await approvedRequests();
  sandbox.host(dead).switchOn();
  const taints = async () => (await findNode(dead))?.spec?.taints ?? [];
  await expect.poll(taints).toContainEqual(expect.objectContaining(removedTaint));
  expect((await findNode(dead))?.spec?.unschedulable).toBe(true);
  const { out } = await wmco('status');
  expect(out).toMatch(new RegExp(`^${dead} .* RemovedByForce `, 'm'));
  expect(out).toContain(`wmco remove --forget ${dead}`);
  expect([await approvedRequests(), await instanceNames()]).toEqual([approved, expect.not.arrayContaining([dead])]);
});

test('a host that was removed by force and is listed again is back in service', async () => {
  await setEntry(operator.client, dead, 'username=Administrator');
  await operator.allReady(3);
  await expect.poll(() => noteOf(dead)).toBeUndefined();
  const state = async () => {
    const { spec, metadata } = (await findNode(dead)) ?? {};
    const isTainted = spec?.taints?.some(({ key }) => key === removedTaint.key);
    return [isTainted, spec?.unschedulable ?? false, metadata?.annotations?.[nodeAnnotation.version]];
  };
  await expect.poll(state).toEqual([false, false, operator.version]);
});

test('DEL-04: an orphan Node is shown, stays, and is removed by command', async () => {
  await operator.stop();
  {
    await using administrator = administratorOf(sandbox);
    await setEntry(administrator.client, orphan, null);
    await administrator.client.delete(windowsInstances, orphan, inNamespace());
  }
  operator = startOperator(sandbox, { payloadBytes: 200_000 });
  await operator.allReady(2);
  const { out: shown } = await wmco('status');
  expect(shown).toMatch(new RegExp(`^${orphan} .* Unmanaged `, 'm'));
  expect(shown).toContain(`wmco remove ${orphan} --username NAME`);
  expect((await findNode(orphan))?.spec?.unschedulable ?? false).toBe(false);
  const { code, out, err } = await wmco('remove', orphan, '--username', 'Administrator', '--yes');
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain(`Node ${orphan} is gone`);
  expect([await findNode(orphan), await instanceNames()]).toEqual([undefined, expect.not.arrayContaining([orphan])]);
  expect(await hostTraces(sandbox.host(orphan))).toEqual(before);
});

test('DEL-01: the Nodes of a MachineSet that is scaled to 0 are gone, and nothing names them', async () => {
  const name = sandbox.hosts.map(({ spec }) => spec.name).find(each => each.startsWith('winworker')) ?? '';
  const patch = { type: 'merge', body: { spec: { replicas: 0 } } } as const;
  await operator.client.patch(machineSets, 'winworker', patch, inMachineApi);
  const selector = { labelSelector: `${nodeLabel.os}=windows,!${nodeLabel.byoh}` };
  await expect.poll(async () => (await operator.client.list(nodes, selector)).items).toEqual([]);
  await expect.poll(() => objectsNaming(operator.client, name)).toEqual([]);
});

test('DEL-06: MachineSet, Machines and their Secrets can be deleted', async () => {
  const { client } = operator;
  await client.delete(machineSets, 'winworker', inMachineApi);
  await expect.poll(async () => (await client.list(machines, inMachineApi)).items).toEqual([]);
  const places = [
    [secretName.privateKey, inNamespace()],
    [secretName.userData, inMachineApi],
  ] as const;
  for (const [name, place] of places) {
    const { metadata } = await client.get(secrets, name, place);
    await client.delete(secrets, name, place);
    // The operator may create the user data once more.
    const left = async () => (await client.listAll(secrets)).items.map(each => each.metadata.uid);
    await expect.poll(left).not.toContain(metadata.uid);
  }
});
