import { expect, test } from 'vitest';
import { timestamp } from '#base/clock.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { namespaceName, nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { findCondition } from '#base/condition.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import { type Machine, machineSets, machines } from '#kube/resources-openshift.ts';
import { inMachineApi, type MachineBench, machineBench, defaultSettings } from '../../../../test/kit/machine-bench.ts';
import { settle } from '../../../../test/kit/manual-clock.ts';
import { refused } from '../../../../test/kit/memory-api.ts';
import type { SourceBench } from '../../../../test/kit/source-bench.ts';

test('REC-04: replaces Machines with another key, one at a time', async () => {
  await using bench = await machineBench();
  for (const index of [1, 2, 3]) await bench.running(index);
  await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
  expect(bench.there('m1', 'm2', 'm3')).toHaveLength(2);
  expect(bench.events.filter(text => text.includes('MachineDeleted'))).toHaveLength(1);
  const restricted = bench.events.filter(text => text.includes('MachineDeletionRestricted'));
  expect(restricted).toHaveLength(2);
  expect(restricted[0]).toContain('deletion restricted as the maximum unhealthy machines can`t exceed 1 count');
  await bench.clock.advance(300_000);
  expect(bench.there('m1', 'm2', 'm3')).toHaveLength(2);
  // Said once, however often it was found.
  expect(bench.events.filter(text => text.includes('MachineDeletionRestricted'))).toHaveLength(2);
});

/** Three Machines with what the lifecycle has recorded of them. */
async function recordedFleet(bench: MachineBench, records: WindowsInstance['status'][]): Promise<void> {
  for (const [at, status] of records.entries()) {
    const index = at + 1;
    await bench.running(index);
    const instance = bench.instance(`m${index}`) as WindowsInstance;
    const host = { name: `n${index}`, addresses: [] };
    await bench.put(windowsInstances, { ...instance, status: { host, nodeUID: `uid-n${index}`, ...status } });
  }
}

test('a Node that takes off its own marks does not keep the others from being replaced', async () => {
  await using bench = await machineBench();
  await recordedFleet(bench, [{ version: 'v' }, { version: 'v' }, { version: 'v' }]);
  const node = bench.api.peek(nodes, 'n3') as Node;
  await bench.put(nodes, { ...node, metadata: { ...node.metadata, annotations: {} } });
  await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
  expect(bench.there('m1', 'm2')).toHaveLength(1);
});

test('Machines with another key wait for one that is not finished, by the record and not by its Node', async () => {
  await using bench = await machineBench();
  await recordedFleet(bench, [{ version: 'v' }, { version: 'v' }, { phase: 'Configuring' }]);
  await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
  // Nothing is lost with the one that never worked.
  expect(bench.there('m1', 'm2', 'm3')).toEqual(['m1', 'm2']);
});

test('a Machine that the watch still shows as healthy does not count when the server has it deleting', async () => {
  await using bench = await machineBench();
  for (const index of [1, 2, 3]) await bench.running(index);
  bench.api.isPaused = true;
  const gone = bench.api.peek(machines, 'm2', namespaceName.machineApi) as Machine;
  bench.api.put(machines, { ...gone, metadata: { ...gone.metadata, deletionTimestamp: 'now' } });
  await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
  expect(bench.there('m1', 'm3')).toEqual(['m1', 'm3']);
});

/** All nodes work, by the record and by themselves. */
async function workingFleet(bench: MachineBench, count: number): Promise<void> {
  for (let index = 1; index <= count; index += 1) {
    await bench.running(index);
    const node = bench.api.peek(nodes, `n${index}`) as Node;
    await bench.put(nodes, { ...node, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const instance = bench.instance(`m${index}`) as WindowsInstance;
    const host = { name: `n${index}`, addresses: [] };
    await bench.put(windowsInstances, { ...instance, status: { host, version: 'v', nodeUID: `uid-n${index}` } });
  }
}

const rollout = (data: Record<string, string>) => ({ metadata: { name: 'windows-rollout', namespace: 'wmco' }, data });

test('replaces as many Machines at a time as the disruption budget allows, and leaves one of the set', async () => {
  await using bench = await machineBench();
  await bench.put(machineSets, { metadata: { name: 'set', ...inMachineApi }, spec: { replicas: 4 } });
  await bench.put(configMaps, rollout({ maxUnavailable: '50%' }));
  await workingFleet(bench, 4);
  await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
  expect(bench.there('m1', 'm2', 'm3', 'm4')).toHaveLength(2);
  const grants = bench.api.peek(configMaps, 'windows-rollout-grants', 'wmco');
  expect(Object.values(grants?.data ?? {}).filter(text => text.includes('"replace"'))).toHaveLength(2);
  const restricted = bench.events.filter(text => text.includes('MachineDeletionRestricted'));
  expect(restricted[0]).toContain('deletion restricted as the maximum unhealthy machines can`t exceed 2 count');
});

/** What the Machine API and the lifecycle do with a Machine that was deleted; the new one has a Node of its own name. */
async function removeHost(bench: MachineBench, name: string): Promise<void> {
  bench.api.remove(nodes, name.replace('m', 'n'));
  bench.api.remove(windowsInstances, name, 'wmco');
  await settle();
}

async function joinHost(bench: MachineBench, index: number, key = 'new'): Promise<void> {
  await bench.running(index, { [nodeAnnotation.pubKeyHash]: key });
  const node = bench.api.peek(nodes, `n${index}`) as Node;
  await bench.put(nodes, { ...node, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  const instance = bench.instance(`m${index}`) as WindowsInstance;
  const host = { name: `n${index}`, addresses: [] };
  const status = { host, version: 'v', nodeUID: `uid-n${index}`, key: { hash: key } };
  await bench.put(windowsInstances, { ...instance, status });
}

const grantedNodes = (bench: MachineBench) =>
  Object.values(bench.api.peek(configMaps, 'windows-rollout-grants', 'wmco')?.data ?? {})
    .map(text => (JSON.parse(text) as { node?: string }).node)
    .filter(node => node !== undefined);

test('the grant of a replaced Machine stays until the new one works, and then the next one follows', async () => {
  await using bench = await machineBench();
  await workingFleet(bench, 3);
  await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
  const names = ['m1', 'm2', 'm3'];
  const seen = new Set<string>();
  for (let index = 4; index <= 6; index += 1) {
    const left = bench.there(...names);
    const [gone = ''] = names.filter(name => !left.includes(name) && !seen.has(name));
    seen.add(gone);
    expect(left).toHaveLength(6 - index);
    await removeHost(bench, gone);
    await bench.clock.advance(60_000);
    expect([bench.there(...names), grantedNodes(bench)]).toEqual([left, [gone.replace('m', 'n')]]);
    await joinHost(bench, index);
    await bench.clock.advance(60_000);
  }
  expect([bench.there(...names), grantedNodes(bench)]).toEqual([[], []]);
});

test('the record decides which key a host has, whatever its Node says', async () => {
  for (const [recorded, marked, isReplaced] of [
    ['new', defaultSettings.pubKeyHash, false],
    [defaultSettings.pubKeyHash, 'new', true],
  ] as const) {
    await using bench = await machineBench();
    await workingFleet(bench, 3);
    await bench.set({ ...defaultSettings, userDataIsCurrent: false });
    const node = bench.api.peek(nodes, 'n1') as Node;
    const annotations = { ...node.metadata.annotations, [nodeAnnotation.pubKeyHash]: marked };
    await bench.put(nodes, { ...node, metadata: { ...node.metadata, annotations } });
    for (const index of [1, 2, 3]) {
      const instance = bench.instance(`m${index}`) as WindowsInstance;
      const key = { hash: index === 1 ? recorded : 'new' };
      await bench.put(windowsInstances, { ...instance, status: { ...instance.status, key } });
    }
    await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
    expect(bench.there('m1', 'm2', 'm3')).toEqual(isReplaced ? ['m2', 'm3'] : ['m1', 'm2', 'm3']);
  }
});

test('the grants of a MachineSet that was deleted or scaled down keep no others waiting', async () => {
  for (const replicas of [undefined, 2]) {
    await using bench = await machineBench();
    await workingFleet(bench, 3);
    await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
    const left = bench.there('m1', 'm2', 'm3');
    const [gone = ''] = ['m1', 'm2', 'm3'].filter(name => !left.includes(name));
    await removeHost(bench, gone);
    if (replicas === undefined) bench.api.remove(machineSets, 'set', namespaceName.machineApi);
    else await bench.put(machineSets, { metadata: { name: 'set', ...inMachineApi }, spec: { replicas } });
    await bench.clock.advance(60_000);
    expect(grantedNodes(bench)).not.toContain(gone.replace('m', 'n'));
  }
});

for (const [name, replicas] of [
  ['deleted with all its Machines', undefined],
  ['scaled down to none', 0],
] as const) {
  test(`the grants of a MachineSet that was ${name} keep no others waiting`, async () => {
    await using bench = await machineBench();
    await workingFleet(bench, 3);
    await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
    expect(grantedNodes(bench)).toHaveLength(1);
    if (replicas === undefined) bench.api.remove(machineSets, 'set', namespaceName.machineApi);
    else await bench.put(machineSets, { metadata: { name: 'set', ...inMachineApi }, spec: { replicas } });
    for (const at of ['m1', 'm2', 'm3']) {
      await removeHost(bench, at);
      bench.api.remove(machines, at, namespaceName.machineApi);
      await settle();
    }
    expect(grantedNodes(bench)).toEqual([]);
  });
}

test('a Machine whose instance is paused is not replaced until the pause ends', async () => {
  await using bench = await machineBench();
  await workingFleet(bench, 3);
  const pause = async (paused: boolean) => {
    for (const index of [1, 2, 3]) {
      const instance = bench.instance(`m${index}`) as WindowsInstance;
      await bench.put(windowsInstances, { ...instance, spec: { ...instance.spec, paused } });
    }
  };
  await pause(true);
  await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
  await bench.clock.advance(300_000);
  expect([bench.there('m1', 'm2', 'm3'), grantedNodes(bench)]).toEqual([['m1', 'm2', 'm3'], []]);
  await pause(false);
  expect(bench.there('m1', 'm2', 'm3')).toHaveLength(2);
});

test('a Machine waits for a node of another source that is out of service, and is woken when it works again', async () => {
  await using bench = await machineBench();
  await workingFleet(bench, 3);
  const name = 'other';
  const spec = { address: '10.0.0.9', username: 'a' };
  const metadata = { name, namespace: 'wmco', uid: 'u9' };
  await bench.put(windowsInstances, { metadata, spec, status: { version: 'v', host: { name, addresses: [] } } });
  await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
  expect(bench.there('m1', 'm2', 'm3')).toHaveLength(3);
  const labels = { [nodeLabel.os]: 'windows' };
  await bench.put(nodes, { metadata: { name, labels }, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  expect(bench.there('m1', 'm2', 'm3')).toHaveLength(2);
});

test('replaces nothing while the roll-out is paused', async () => {
  await using bench = await machineBench();
  await bench.put(configMaps, rollout({ paused: 'true' }));
  await workingFleet(bench, 3);
  await bench.set({ ...defaultSettings, pubKeyHash: 'new' });
  expect(bench.there('m1', 'm2', 'm3')).toHaveLength(3);
  await bench.put(configMaps, rollout({}));
  expect(bench.there('m1', 'm2', 'm3')).toHaveLength(2);
});

test('replaces nothing while the user data is of the old key', async () => {
  await using bench = await machineBench();
  for (const index of [1, 2, 3]) await bench.running(index);
  await bench.set({ ...defaultSettings, pubKeyHash: 'new', userDataIsCurrent: false });
  expect(bench.there('m1', 'm2', 'm3')).toHaveLength(3);
  expect(bench.events).toEqual([]);
});

test('reports once that a Machine without a MachineSet has to be replaced by hand', async () => {
  await using bench = await machineBench();
  await bench.running(1, { [nodeAnnotation.pubKeyHash]: 'old' });
  const machine = bench.api.peek(machines, 'm1', namespaceName.machineApi) as Machine;
  await bench.put(machines, { ...machine, metadata: { ...machine.metadata, ownerReferences: [] } });
  await bench.set({ ...defaultSettings });
  const told = bench.events.filter(text => text.includes('MachineDeletionFailed'));
  expect(told).toEqual([expect.stringContaining('no MachineSet owns it')]);
});

test('reports a deletion that the server refuses, and retries', async () => {
  await using bench = await machineBench();
  await bench.put(machineSets, { metadata: { name: 'set', ...inMachineApi }, spec: { replicas: 1 } });
  bench.api.before = ({ verb, resource }) => {
    if (verb === 'delete' && resource === 'machines') throw refused(403, 'Forbidden');
  };
  await bench.running(1, { [nodeAnnotation.pubKeyHash]: 'old' });
  expect(bench.events).toEqual([
    'Machine/m1 MachineDeletionFailed Machine m1 deletion failed: TEST /things: refused: Forbidden',
  ]);
  bench.api.before = () => undefined;
  await bench.clock.advance(60_000);
  expect(bench.there('m1')).toEqual([]);
});

/** As the lifecycle tells that the host did not let it in. */
const refusing = (code: string, finished?: string): WindowsInstance['status'] => ({
  phase: 'Failed',
  timeline: [
    {
      name: 'connect',
      started: 'then',
      attempts: 1,
      ...(finished !== undefined && { finished }),
      lastError: { code, message: 'no', remedy: 'x' },
    },
  ],
});
async function tellStatus(bench: SourceBench, status: WindowsInstance['status']): Promise<void> {
  const before = bench.instance('m1') as WindowsInstance;
  const { conditions } = before.status ?? {};
  await bench.put(windowsInstances, { ...before, status: { ...status, ...(conditions && { conditions }) } });
}
const keyRefused = (bench: SourceBench) =>
  findCondition(bench.instance('m1')?.status?.conditions, instanceCondition.keyRefused);

for (const code of ['HOST_REFUSED_KEY', 'HOST_WANTS_PASSWORD']) {
  test(`deletes a Machine whose host says ${code} for five minutes`, async () => {
    await using bench = await machineBench();
    await bench.machine();
    await tellStatus(bench, refusing(code));
    expect(keyRefused(bench)).toMatchObject({ status: 'True', lastTransitionTime: timestamp(bench.clock.now()) });
    await bench.clock.advance(299_000);
    expect(bench.there('m1')).toEqual(['m1']);
    await bench.clock.advance(2000);
    expect(bench.there('m1')).toEqual([]);
    expect(bench.instances()).toEqual([]);
    expect(bench.events).toEqual([
      'Machine/m1 MachineSetupFailure Machine m1 authentication failure',
      'Machine/m1 MachineDeleted Machine m1 has been remediated by deleting the Machine object',
    ]);
  });
}

const harmless: [about: string, status: WindowsInstance['status']][] = [
  ['a host that does not answer', refusing('HOST_UNREACHABLE')],
  ['another host key', refusing('HOST_KEY_CHANGED')],
  ['a refusal that is behind', refusing('HOST_REFUSED_KEY', 'now')],
  ['nothing at all', { phase: 'Configuring' }],
];
for (const [about, status] of harmless) {
  test(`deletes no Machine because of ${about}`, async () => {
    await using bench = await machineBench();
    await bench.machine();
    await tellStatus(bench, status);
    await bench.clock.advance(3_600_000);
    expect(bench.there('m1')).toEqual(['m1']);
    expect(keyRefused(bench)).toBeUndefined();
  });
}

test('a successful login restarts the five minutes', async () => {
  await using bench = await machineBench();
  await bench.machine();
  await tellStatus(bench, refusing('HOST_REFUSED_KEY'));
  await bench.clock.advance(240_000);
  await tellStatus(bench, refusing('HOST_UNREACHABLE'));
  expect(keyRefused(bench)).toMatchObject({ status: 'False' });
  await tellStatus(bench, refusing('HOST_REFUSED_KEY'));
  await bench.clock.advance(240_000);
  expect(bench.there('m1')).toEqual(['m1']);
  await bench.clock.advance(61_000);
  expect(bench.there('m1')).toEqual([]);
});

test('the five minutes go on over a restart of the operator', async () => {
  await using bench = await machineBench();
  await bench.machine();
  const since = timestamp(bench.clock.now() - 300_000);
  const condition = { type: instanceCondition.keyRefused, status: 'True', reason: 'Refused', message: '' } as const;
  const before = bench.instance('m1') as WindowsInstance;
  await bench.put(windowsInstances, {
    ...before,
    status: { ...refusing('HOST_REFUSED_KEY'), conditions: [{ ...condition, lastTransitionTime: since }] },
  });
  expect(bench.there('m1')).toEqual([]);
});

test('a working node with a host that refuses the key is not deleted while another is away', async () => {
  await using bench = await machineBench();
  for (const index of [1, 2]) await bench.running(index);
  await tellStatus(bench, refusing('HOST_REFUSED_KEY'));
  await bench.clock.advance(600_000);
  expect(bench.there('m1')).toEqual(['m1']);
  expect(bench.events).toEqual([
    'Machine/m1 MachineSetupFailure Machine m1 authentication failure',
    expect.stringContaining('MachineDeletionRestricted'),
  ]);
});
