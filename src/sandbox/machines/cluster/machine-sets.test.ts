import { expect, test } from 'vitest';
import type { KubeResource } from '#kube/resource.ts';
import { type Machine, type MachineSet, machineSets, machines } from '#kube/resources-openshift.ts';
import { quiet } from '../../../../test/kit/local-api.ts';
import { startOpenshiftApi } from '../../../../test/kit/openshift-api.ts';
import type { LocalApi } from '../../apiserver/ports.ts';
import { createMachineSets } from './machine-sets.ts';

const namespace = 'openshift-machine-api';
const key = { namespace, name: 'winworker' };
const labels = { 'machine.openshift.io/os-id': 'Windows' };
const template = { metadata: { labels }, spec: { metadata: { labels: { role: 'worker' } } } };

async function scene(replicas: number) {
  const api = await startOpenshiftApi([createMachineSets()]);
  api.create(machineSets, {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'MachineSet',
    metadata: key,
    spec: { replicas, template },
  } as KubeResource);
  await quiet(api);
  return api;
}

const all = (api: LocalApi) => api.list(machines, namespace) as readonly Machine[];
const alive = (api: LocalApi) => all(api).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
const set = (api: LocalApi) => api.get(machineSets, key) as MachineSet & { status?: Record<string, number> };

async function scale(api: LocalApi, replicas: number): Promise<void> {
  const present = set(api);
  api.replace(machineSets, { ...present, spec: { ...present.spec, replicas } } as KubeResource);
  await quiet(api);
}

function setPhase(api: LocalApi, machine: Machine, phase: string, nodeRef?: object): void {
  api.replace(machines, { ...machine, status: { phase, nodeRef } } as KubeResource, { subresource: 'status' });
}

test('makes as many Machines as are wanted, from the template', async () => {
  await using api = await scene(3);
  expect(all(api)).toHaveLength(3);
  for (const machine of all(api)) {
    expect(machine).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^winworker-[123]$/),
        labels,
        ownerReferences: [{ kind: 'MachineSet', name: 'winworker', uid: set(api).metadata.uid, controller: true }],
      },
      spec: { metadata: { labels: { role: 'worker' } } },
    });
  }
});

test('names fit into the fifteen characters that Windows has for a computer', async () => {
  await using api = await scene(5);
  for (const { metadata } of all(api)) expect(metadata.name?.length).toBeLessThanOrEqual(15);
});

test('one without a number of replicas wants one', async () => {
  await using api = await startOpenshiftApi([createMachineSets()]);
  const object = { apiVersion: 'machine.openshift.io/v1beta1', kind: 'MachineSet', metadata: key, spec: { template } };
  api.create(machineSets, object);
  await quiet(api);
  expect(all(api)).toHaveLength(1);
});

test('follows scaling up, down and to zero', async () => {
  await using api = await scene(1);
  for (const count of [4, 2, 0, 1]) {
    await scale(api, count);
    expect(alive(api)).toHaveLength(count);
  }
});

test('a Machine that is deleted is replaced', async () => {
  await using api = await scene(2);
  const [first] = all(api);
  api.delete(machines, { namespace, name: first?.metadata.name ?? '' });
  await quiet(api);
  expect(alive(api)).toHaveLength(2);
  expect(alive(api).map(({ metadata }) => metadata.name)).not.toContain(first?.metadata.name);
});

test('one that is going counts no more, though it is still there', async () => {
  await using api = await scene(1);
  const [first] = all(api);
  const metadata = { ...first?.metadata, finalizers: ['machine.machine.openshift.io'] };
  api.replace(machines, { ...first, metadata });
  api.delete(machines, { namespace, name: first?.metadata.name ?? '' });
  await quiet(api);
  expect([all(api).length, alive(api).length]).toEqual([2, 1]);
});

test('scaling down deletes Machines without a Node first', async () => {
  await using api = await scene(3);
  const [one, two, three] = all(api);
  if (one === undefined || two === undefined || three === undefined) throw new Error('three Machines');
  setPhase(api, one, 'Running', { name: 'a' });
  setPhase(api, two, 'Provisioning');
  setPhase(api, three, 'Provisioned');
  await scale(api, 2);
  const left = new Set(alive(api).map(({ metadata }) => metadata.name));
  expect(left).toEqual(new Set([one.metadata.name, three.metadata.name]));
  await scale(api, 1);
  expect(alive(api).map(({ metadata }) => metadata.name)).toEqual([one.metadata.name]);
});

test('reports replicas and ready replicas', async () => {
  await using api = await scene(2);
  expect(set(api).status).toEqual({ replicas: 2, readyReplicas: 0, availableReplicas: 0 });
  const [first] = all(api);
  if (first !== undefined) setPhase(api, first, 'Running', { name: 'a' });
  await quiet(api);
  expect(set(api).status).toMatchObject({ replicas: 2, readyReplicas: 1 });
});

test('Machines of others are none of its business', async () => {
  await using api = await scene(1);
  const object = { apiVersion: 'machine.openshift.io/v1beta1', kind: 'Machine', metadata: { namespace, name: 'own' } };
  api.create(machines, object);
  await scale(api, 0);
  expect(alive(api).map(({ metadata }) => metadata.name)).toEqual(['own']);
});

test('a MachineSet that is being deleted creates no Machines', async () => {
  await using api = await scene(1);
  const present = set(api);
  const metadata = { ...present.metadata, finalizers: ['wait'] };
  api.replace(machineSets, { ...present, metadata });
  api.delete(machineSets, key, { propagationPolicy: 'Orphan' });
  await quiet(api);
  const before = all(api).length;
  for (const { metadata: each } of all(api)) api.delete(machines, { namespace, name: each.name ?? '' });
  await quiet(api);
  expect(all(api).length).toBeLessThan(before);
});
