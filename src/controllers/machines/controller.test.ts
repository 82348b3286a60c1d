import { expect, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation, machineLabel, namespaceName, nodeAnnotation } from '#contract/names.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { machines } from '#kube/resources-openshift.ts';
import { type MachineBench, machineBench, defaultSettings } from '../../../test/kit/machine-bench.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';

test('makes an instance of a provisioned Machine', async () => {
  await using bench = await machineBench();
  await bench.machine();
  expect(bench.instances()).toMatchObject([
    {
      metadata: { name: 'm1', namespace, annotations: { [instanceAnnotation.sourceUid]: 'uid-m1' } },
      spec: { address: '10.0.0.1', username: 'Administrator', source: { kind: 'Machine', name: 'm1' } },
    },
  ]);
  expect(bench.instance('m1')?.spec).not.toHaveProperty('hostname');
});

const platforms: [platform: string, username: string, hostname: string | undefined][] = [
  ['AWS', 'Administrator', undefined],
  ['Azure', 'capi', undefined],
  ['GCP', 'Administrator', undefined],
  ['VSphere', 'Administrator', 'm1'],
  ['Nutanix', 'Administrator', 'm1'],
  ['None', 'Administrator', undefined],
];
for (const [platform, username, hostname] of platforms) {
  test(`on ${platform} the user is ${username} and the host is ${hostname ?? 'not'} renamed`, async () => {
    await using bench = await machineBench({ ...defaultSettings, platform });
    await bench.machine();
    expect(bench.instance('m1')?.spec.username).toBe(username);
    expect(bench.instance('m1')?.spec.hostname).toBe(hostname);
  });
}

const unfit: [about: string, Parameters<MachineBench['machine']>[1]][] = [
  ['without an address', { addresses: [] }],
  ['with an IPv6 address only', { addresses: [{ type: 'InternalIP', address: 'fd00::1' }] }],
  ['that is ignored', { labels: { [machineLabel.ignore]: 'true' } }],
  ['of another system', { labels: { [machineLabel.osId]: 'Linux' } }],
  ['whose label is in small letters', { labels: { [machineLabel.osId]: 'windows' } }],
  ['that is being provisioned', { phase: 'Provisioning' }],
  ['that has failed', { phase: 'Failed' }],
  ['that runs but names no Node', { phase: 'Running' }],
  ['that runs but whose Node does not exist', { phase: 'Running', nodeRef: { name: 'n9' } }],
];
for (const [about, more] of unfit) {
  test(`makes nothing of a Machine ${about}`, async () => {
    await using bench = await machineBench();
    await bench.machine('m1', more);
    expect(bench.instances()).toEqual([]);
    expect(bench.events).toEqual([]);
  });
}

test('waits for a provider ID, for the key and for the user data', async () => {
  await using bench = await machineBench();
  await bench.set(undefined);
  const machine = await bench.machine();
  expect(bench.instances()).toEqual([]);
  await bench.set({ ...defaultSettings, userDataIsCurrent: false });
  expect(bench.instances()).toEqual([]);
  await bench.put(machines, { ...machine, spec: {} });
  await bench.set(defaultSettings);
  expect(bench.instances()).toEqual([]);
  await bench.put(machines, machine);
  expect(bench.instances()).toHaveLength(1);
});

test('keeps an instance for a node that is up to date', async () => {
  await using bench = await machineBench();
  await bench.running(1);
  expect(bench.instance('m1')?.spec.address).toBe('10.0.0.1');
  expect(bench.there('m1')).toEqual(['m1']);
});

test('follows a Machine whose address changes, and keeps what others have set', async () => {
  await using bench = await machineBench();
  await bench.machine();
  const before = bench.instance('m1') as WindowsInstance;
  await bench.put(windowsInstances, { ...before, spec: { ...before.spec, paused: true, hostname: 'mine' } });
  await bench.machine('m1', { addresses: [{ type: 'InternalIP', address: '10.0.0.99' }] });
  expect(bench.instance('m1')?.spec).toMatchObject({ address: '10.0.0.99', paused: true, hostname: 'mine' });
});

test('an instance that a user deletes comes back', async () => {
  await using bench = await machineBench();
  await bench.machine();
  bench.api.remove(windowsInstances, 'm1', namespace);
  await settle();
  expect(bench.instances()).toHaveLength(1);
});

test('reports a name that Windows cannot take', async () => {
  await using bench = await machineBench({ ...defaultSettings, platform: 'VSphere' });
  await bench.machine('windows-set-abcde');
  await bench.machine('win.set');
  await bench.machine('win-set-1-abcde');
  expect(bench.instances().map(({ metadata }) => metadata.name)).toEqual(['win-set-1-abcde']);
  expect(bench.events).toEqual([
    expect.stringMatching(/^Machine\/windows-set-abcde MachineSetupFailure Machine .* configuration failure: .*15/),
    expect.stringMatching(/^Machine\/win\.set MachineSetupFailure .*letters, digits and hyphens/),
  ]);
});

const ends: [about: string, end: (bench: MachineBench) => unknown][] = [
  ['is deleted', bench => bench.api.remove(machines, 'm1', namespaceName.machineApi)],
  ['is to be ignored', bench => bench.machine('m1', { labels: { [machineLabel.ignore]: 'true' } })],
  ['loses its label', bench => bench.machine('m1', { labels: { [machineLabel.osId]: '' } })],
  [
    'is being deleted',
    async bench => {
      const machine = await bench.machine();
      await bench.put(machines, { ...machine, metadata: { ...machine.metadata, deletionTimestamp: 'now' } });
    },
  ],
];
for (const [about, end] of ends) {
  test(`the instance goes when the Machine ${about}`, async () => {
    await using bench = await machineBench();
    await bench.machine();
    expect(bench.instances()).toHaveLength(1);
    await end(bench);
    await settle();
    expect(bench.instances()).toEqual([]);
  });
}

test('the instance stays when the Machine falls back, and when settings are not known any more', async () => {
  await using bench = await machineBench();
  await bench.machine();
  for (const more of [{ phase: 'Failed' }, { addresses: [] }, { phase: 'Provisioning' }]) {
    await bench.machine('m1', more);
    expect(bench.instances()).toHaveLength(1);
  }
  await bench.set(undefined);
  expect(bench.instances()).toHaveLength(1);
});

test('deletes nothing because of a watch that lags', async () => {
  await using bench = await machineBench();
  const machine = await bench.machine();
  bench.api.remove(machines, 'm1', namespaceName.machineApi);
  bench.api.isPaused = true;
  bench.api.put(machines, machine);
  await settle();
  expect(bench.instances()).toHaveLength(1);
});

test('a running Machine whose Node a user deletes is not joined again', async () => {
  await using bench = await machineBench();
  await bench.running(1);
  expect(bench.instances()).toHaveLength(1);
  bench.api.remove(nodes, 'n1');
  await settle();
  expect(bench.instances()).toEqual([]);
  await bench.running(1);
  expect(bench.instances()).toHaveLength(1);
});

test('a Node that only the watch does not know yet is not lost', async () => {
  await using bench = await machineBench();
  await bench.running(1);
  const node = bench.api.peek(nodes, 'n1');
  bench.api.remove(nodes, 'n1');
  bench.api.isPaused = true;
  if (node !== undefined) bench.api.put(nodes, node);
  await settle();
  expect(bench.instances()).toHaveLength(1);
});

test('a Machine that cannot be read is reported, and stops no other', async () => {
  await using bench = await machineBench();
  await bench.machine('m1', { phase: 5 as unknown as string });
  await bench.machine('m2', { addresses: [{ type: 'InternalIP', address: '10.0.0.2' }] });
  expect(bench.instances().map(({ metadata }) => metadata.name)).toEqual(['m2']);
  expect(bench.events).toEqual([expect.stringMatching(/^Machine\/m1 MachineSetupFailure .*status\.phase is 5/)]);
});

test('heartbeats of Nodes and steps of the lifecycle cause no pass', async () => {
  await using bench = await machineBench();
  await bench.running(1);
  bench.api.calls.length = 0;
  const node = bench.api.peek(nodes, 'n1');
  await bench.put(nodes, {
    metadata: { name: 'n1' },
    ...node,
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const instance = bench.instance('m1') as WindowsInstance;
  await bench.put(windowsInstances, { ...instance, status: { phase: 'Configuring', step: 'stage' } });
  expect(bench.api.calls).toEqual([]);
});

test('a deleted Machine leaves no host key behind, unless another instance has the address', async () => {
  await using bench = await machineBench();
  const keys = () => bench.api.peek(configMaps, configMapName.hostKeys, namespace)?.data;
  const data = { '10.0.0.1': 'ssh-ed25519 AAAA', '10.0.0.2': 'ssh-ed25519 BBBB' };
  await bench.put(configMaps, { metadata: { name: configMapName.hostKeys, namespace }, data });
  await bench.machine();
  await bench.machine('m2', { addresses: [{ type: 'InternalIP', address: '10.0.0.2' }] });
  await bench.put(windowsInstances, {
    metadata: { name: 'other', namespace },
    spec: { address: '10.0.0.2', username: 'Administrator' },
  });
  for (const name of ['m1', 'm2']) bench.api.remove(machines, name, namespaceName.machineApi);
  await settle();
  expect(bench.instances().map(({ metadata }) => metadata.name)).toEqual(['other']);
  expect(keys()).toEqual({ '10.0.0.2': 'ssh-ed25519 BBBB' });
});

test('replaces no Machine while the operator is being uninstalled', async () => {
  await using bench = await machineBench();
  bench.parts.installation.problem = async () => 'Namespace wmco is being deleted';
  for (const index of [1, 2, 3])
    await bench.running(index, index === 1 ? { [nodeAnnotation.pubKeyHash]: 'other' } : {});
  await bench.clock.advance(60_000);
  expect(bench.there('m1')).toEqual(['m1']);
  bench.parts.installation.problem = async () => undefined;
  await bench.clock.advance(60_000);
  expect(bench.there('m1')).toEqual([]);
});
