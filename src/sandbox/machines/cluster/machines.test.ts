import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { machineLabel, nodeLabel } from '#contract/names.ts';
import type { KubeResource } from '#kube/resource.ts';
import { nodes, secrets } from '#kube/resources.ts';
import { type Machine, machines } from '#kube/resources-openshift.ts';
import { quiet } from '../../../../test/kit/local-api.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { startOpenshiftApi } from '../../../../test/kit/openshift-api.ts';
import { type Cloud, createMachines } from './machines.ts';
import { Waits } from './waits.ts';

const namespace = 'openshift-machine-api';
const windows = { [machineLabel.osId]: 'Windows' };

async function scene(speed = 1) {
  const clock = manualClock();
  const made: [string, string][] = [];
  const removed: string[] = [];
  const cloud: Cloud = {
    create: (machine, userData) => {
      made.push([machine, userData]);
      return { address: `10.0.1.${made.length}`, providerId: `sandbox:///${machine}` };
    },
    remove: machine => void removed.push(machine),
  };
  const controller = createMachines({ cloud, waits: new Waits(clock, speed), provisionMs: 5000 });
  const api = await startOpenshiftApi([controller], clock);
  const machine = (name = 'm') => api.get(machines, { namespace, name }) as Machine | undefined;
  return {
    api,
    clock,
    made,
    removed,
    machine,
    async create(members: object = {}, name = 'm') {
      const metadata = { name, namespace, labels: windows };
      const object = { apiVersion: 'machine.openshift.io/v1beta1', kind: 'Machine', metadata, spec: {}, ...members };
      api.create(machines, object);
      await quiet(api);
    },
    async giveUserData(text = 'script', name = 'windows-user-data') {
      const data = { userData: toBase64(text) };
      api.create(secrets, { metadata: { name, namespace }, data } as KubeResource);
      await quiet(api);
    },
    /** The Node that a host with the address becomes. */
    async join(address: string, name = 'node-1', os = 'windows') {
      const metadata = { name, labels: { [nodeLabel.os]: os } };
      const status = { addresses: [{ type: 'InternalIP', address }] };
      api.create(nodes, { metadata, status } as KubeResource);
      await quiet(api);
    },
    async wait(ms: number) {
      await clock.advance(ms);
      await quiet(api);
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

test('a new Machine is provisioned and gets a host with an address', async () => {
  await using made = await scene();
  await made.giveUserData('the script');
  await made.create();
  expect(made.machine()).toMatchObject({
    metadata: { finalizers: ['machine.machine.openshift.io'] },
    status: { phase: 'Provisioning' },
  });
  await made.wait(4999);
  expect(made.made).toEqual([]);
  await made.wait(1);
  expect(made.made).toEqual([['m', 'the script']]);
  expect(made.machine()).toMatchObject({
    spec: { providerID: 'sandbox:///m' },
    status: {
      phase: 'Provisioned',
      addresses: [
        { type: 'InternalIP', address: '10.0.1.1' },
        { type: 'InternalDNS', address: 'm' },
        { type: 'Hostname', address: 'm' },
      ],
    },
  });
});

test('speed makes it faster', async () => {
  await using made = await scene(10);
  await made.giveUserData();
  await made.create();
  await made.wait(500);
  expect(made.machine()?.status?.phase).toBe('Provisioned');
});

test('waits for user data as long as there are none', async () => {
  await using made = await scene();
  await made.create();
  await made.wait(60_000);
  expect([made.machine()?.status?.phase, made.made]).toEqual(['Provisioning', []]);
  await made.giveUserData();
  await made.wait(500);
  expect(made.machine()?.status?.phase).toBe('Provisioned');
});

test('empty user data are none', async () => {
  await using made = await scene();
  await made.giveUserData('');
  await made.create();
  await made.wait(10_000);
  expect(made.made).toEqual([]);
});

test('takes the user data that the Machine names', async () => {
  await using made = await scene();
  await made.giveUserData('other', 'other-data');
  await made.create({ spec: { providerSpec: { value: { userDataSecret: { name: 'other-data' } } } } });
  await made.wait(5000);
  expect(made.made).toEqual([['m', 'other']]);
});

test('a Node with its address makes it run, and gets labels and a mark of it', async () => {
  await using made = await scene();
  await made.giveUserData();
  await made.create({ spec: { metadata: { labels: { 'node-role.kubernetes.io/worker': '' } } } });
  await made.wait(5000);
  await made.join('10.0.1.1');
  const node = made.api.get(nodes, { namespace: '', name: 'node-1' });
  expect(made.machine()?.status).toMatchObject({
    phase: 'Running',
    nodeRef: { kind: 'Node', name: 'node-1', uid: node?.metadata.uid },
  });
  expect(node?.metadata).toMatchObject({
    labels: { [nodeLabel.os]: 'windows', 'node-role.kubernetes.io/worker': '' },
    annotations: { 'machine.openshift.io/machine': 'openshift-machine-api/m' },
  });
});

const strangers: [string, string, string][] = [
  ['a Node with another address', '10.9.9.9', 'windows'],
  ['a Node of another system', '10.0.1.1', 'linux'],
];
for (const [name, address, os] of strangers) {
  test(`${name} is not its Node`, async () => {
    await using made = await scene();
    await made.giveUserData();
    await made.create();
    await made.wait(5000);
    await made.join(address, 'other', os);
    expect(made.machine()?.status?.phase).toBe('Provisioned');
  });
}

test('each Machine gets a host of its own', async () => {
  await using made = await scene();
  await made.giveUserData();
  for (const name of ['a', 'b', 'c']) await made.create({}, name);
  await made.wait(5000);
  const addresses = ['a', 'b', 'c'].map(name => made.machine(name)?.status?.addresses?.[0]?.address);
  expect(new Set(addresses).size).toBe(3);
});

test('a deleted Machine deletes its host and Node', async () => {
  await using made = await scene();
  await made.giveUserData();
  await made.create();
  await made.wait(5000);
  await made.join('10.0.1.1');
  made.api.delete(machines, { namespace, name: 'm' });
  await quiet(made.api);
  expect([made.machine(), made.removed, made.api.get(nodes, { namespace: '', name: 'node-1' })]).toEqual([
    undefined,
    ['m'],
    undefined,
  ]);
});

test('a Machine can be deleted before it has a host', async () => {
  await using made = await scene();
  await made.create();
  made.api.delete(machines, { namespace, name: 'm' });
  await quiet(made.api);
  expect(made.machine()).toBeUndefined();
  await made.wait(60_000);
  expect(made.made).toEqual([]);
});

test('a new Machine of the same name is provisioned again', async () => {
  await using made = await scene();
  await made.giveUserData();
  await made.create();
  await made.wait(5000);
  made.api.delete(machines, { namespace, name: 'm' });
  await quiet(made.api);
  await made.create();
  await made.wait(4999);
  expect(made.made).toHaveLength(1);
  await made.wait(1);
  expect(made.made).toHaveLength(2);
});

test('finalizers of others are kept, and waited for', async () => {
  await using made = await scene();
  await made.create({ metadata: { name: 'm', namespace, labels: windows, finalizers: ['other/one'] } });
  made.api.delete(machines, { namespace, name: 'm' });
  await quiet(made.api);
  expect(made.machine()?.metadata.finalizers).toEqual(['other/one']);
  expect(made.machine()?.status?.phase).toBe('Deleting');
});

test('Machines of other systems are left to others', async () => {
  await using made = await scene();
  await made.giveUserData();
  await made.create({ metadata: { name: 'm', namespace, labels: {} } });
  await made.wait(60_000);
  expect([made.machine()?.status, made.machine()?.metadata.finalizers, made.made]).toEqual([undefined, undefined, []]);
});

test('a Machine that runs already is left alone', async () => {
  await using made = await scene();
  await made.giveUserData();
  await made.create();
  await made.wait(5000);
  await made.join('10.0.1.1');
  const before = made.machine()?.metadata.resourceVersion;
  await made.join('10.0.1.77', 'unrelated');
  await made.wait(60_000);
  expect(made.machine()?.metadata.resourceVersion).toBe(before);
});
