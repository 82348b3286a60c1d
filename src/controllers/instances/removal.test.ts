import { expect, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { configMaps } from '#kube/resources.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { benchNamespace as namespace, type SourceBench, sourceBench } from '../../../test/kit/source-bench.ts';
import { instancesController } from './controller.ts';

const user = 'username=core';
const listed = (bench: SourceBench, ...addresses: string[]) =>
  bench.put(configMaps, {
    metadata: { name: configMapName.instances, namespace, uid: 'map' },
    data: Object.fromEntries(addresses.map(address => [address, user])),
  });
const { removal, forceRemoval } = instanceAnnotation;
const minute = 60_000;

const joined: WindowsInstanceStatus = {
  hostKey: 'ssh-ed25519 AAAA',
  node: 'win1',
  host: { name: 'win1', addresses: ['10.0.0.1'] },
};
const setStatus = (bench: SourceBench, name: string, status: WindowsInstanceStatus) =>
  bench.put(windowsInstances, { ...(bench.instance(name) as WindowsInstance), status });
const annotationsOf = (bench: SourceBench, name = '10.0.0.1') => bench.instance(name)?.metadata.annotations ?? {};
const isRequested = (bench: SourceBench) => Object.hasOwn(annotationsOf(bench), removal);

/** An entry whose host has this status. */
async function started(status: WindowsInstanceStatus): Promise<SourceBench> {
  const bench = sourceBench();
  await listed(bench, '10.0.0.1');
  await bench.start(instancesController(bench.parts));
  await setStatus(bench, '10.0.0.1', status);
  return bench;
}

test('requests the removal of a joined host whose entry is gone, with the time', async () => {
  await using bench = await started(joined);
  await listed(bench);
  expect(Date.parse(annotationsOf(bench)[removal] ?? '')).toBe(bench.clock.now());
  const before = annotationsOf(bench);
  await bench.clock.advance(5 * minute);
  expect(annotationsOf(bench)).toEqual(before);
});

test('requests it when the whole ConfigMap is gone', async () => {
  await using bench = await started(joined);
  bench.api.remove(configMaps, configMapName.instances, namespace);
  await settle();
  expect(isRequested(bench)).toBe(true);
});

const step = (name: string) => ({ name, started: '2026-03-01T12:00:00Z', attempts: 1 });
const hostKey = 'ssh-ed25519 AAAA';
const untouched: [string, WindowsInstanceStatus, isDeleted: boolean][] = [
  ['without a status', {}, true],
  ['that never answered', { timeline: [step('connect')] }, true],
  ['to which only a connection was made', { hostKey, timeline: ['connect', 'queued'].map(step) }, true],
  ['for which files were prepared', { hostKey, timeline: ['connect', 'prepare files'].map(step) }, true],
  ['for which the agent was prepared', { hostKey, timeline: ['connect', 'prepare agent'].map(step) }, true],
  ['to which only the agent was uploaded', { hostKey, timeline: ['connect', 'agent program'].map(step) }, true],
  ['whose folders were secured', { hostKey, touched: '2026-03-01T12:00:00Z' }, false],
  ['whose name is recorded', { hostKey, host: { name: 'win1', addresses: [] } }, false],
  ['which only has a Node', { node: 'win1' }, false],
];
for (const [about, status, isDeleted] of untouched) {
  test(`${isDeleted ? 'deletes at once' : 'removes'} a host ${about}`, async () => {
    await using bench = await started(status);
    await listed(bench);
    expect([bench.instance('10.0.0.1') === undefined, isRequested(bench)]).toEqual([isDeleted, !isDeleted]);
  });
}

for (const [about, back] of [
  ['is listed again', user],
  ['is listed again with an error', 'password=x'],
] as const) {
  test(`cancels the removal of a host that ${about}`, async () => {
    await using bench = await started(joined);
    await listed(bench);
    const before = bench.instance('10.0.0.1') as WindowsInstance;
    const annotations = { ...before.metadata.annotations, [forceRemoval]: 'true', other: 'x' };
    await bench.put(windowsInstances, { ...before, metadata: { ...before.metadata, annotations } });
    await bench.put(configMaps, {
      metadata: { name: configMapName.instances, namespace, uid: 'map' },
      data: { '10.0.0.1': back },
    });
    expect(annotationsOf(bench)).toEqual({ [instanceAnnotation.sourceUid]: 'map', other: 'x' });
    expect(bench.instance('10.0.0.1')?.metadata.uid).toBe(before.metadata.uid);
  });
}

test('drops a request for a host that is listed', async () => {
  await using bench = await started(joined);
  const before = bench.instance('10.0.0.1') as WindowsInstance;
  const annotations = { ...before.metadata.annotations, [removal]: 'x' };
  await bench.put(windowsInstances, { ...before, metadata: { ...before.metadata, annotations } });
  expect(isRequested(bench)).toBe(false);
});

test('changes nothing while the operator is being uninstalled, and checks again after a minute', async () => {
  await using bench = await started(joined);
  bench.uninstall.problem = 'Namespace wmco is being deleted';
  await listed(bench);
  await bench.clock.advance(10 * minute);
  expect(isRequested(bench)).toBe(false);
  expect(bench.log.messages('warn')).toContain('Keeping WindowsInstances: the operator is being uninstalled');
  bench.uninstall.problem = undefined;
  await bench.clock.advance(minute);
  expect(isRequested(bench)).toBe(true);
});

test('waits until a new instance has identified its host, and removes another host then', async () => {
  await using bench = await started(joined);
  await listed(bench, '10.0.0.2');
  await setStatus(bench, '10.0.0.2', { hostKey });
  await bench.clock.advance(5 * minute);
  expect(isRequested(bench)).toBe(false);
  await setStatus(bench, '10.0.0.2', { ...joined, host: { name: 'win2', addresses: ['10.0.0.2'] }, node: 'win2' });
  await bench.clock.advance(5000);
  expect(isRequested(bench)).toBe(true);
});

test('deletes the instance when the new one turns out to be the same host', async () => {
  await using bench = await started(joined);
  await listed(bench, '10.0.0.2');
  await setStatus(bench, '10.0.0.2', { ...joined, host: { name: 'win1', addresses: ['10.0.0.2'] } });
  await bench.clock.advance(5000);
  expect(bench.instances().map(({ metadata }) => metadata.name)).toEqual(['10.0.0.2']);
});

test('withdraws the request before it deletes an instance whose host another entry has', async () => {
  await using bench = await started(joined);
  await listed(bench);
  expect(isRequested(bench)).toBe(true);
  const deleted: boolean[] = [];
  bench.api.before = ({ verb }) => (verb === 'delete' ? void deleted.push(isRequested(bench)) : undefined);
  bench.zone.set('alias.example.com', ['10.0.0.1']);
  await listed(bench, 'alias.example.com');
  await bench.clock.advance(minute);
  expect(deleted).toEqual([false]);
  expect(bench.instances().map(({ metadata }) => metadata.name)).toEqual(['alias.example.com']);
});

test.each([
  ['has not answered', undefined, 2],
  ['has shown the same key', hostKey, 10],
] as const)('waits for a new instance that %s', async (_, key, minutes) => {
  await using bench = await started(joined);
  await listed(bench, '10.0.0.2');
  if (key !== undefined) await setStatus(bench, '10.0.0.2', { hostKey: key });
  await bench.clock.advance(minutes * minute - 5001);
  expect(isRequested(bench)).toBe(false);
  await bench.clock.advance(10_000);
  expect(isRequested(bench)).toBe(true);
});

const rejected = { type: 'Accepted', status: 'False', reason: 'X', message: 'x', lastTransitionTime: '' } as const;
const others: [string, Partial<WindowsInstance>][] = [
  ['is rejected', { status: { conditions: [rejected] } }],
  ['is paused', { spec: { address: '10.0.0.9', username: 'x', paused: true } }],
  ['is of a Machine', { spec: { address: '10.0.0.9', username: 'x', source: { kind: 'Machine', name: 'm' } } }],
  ['has shown another key', { status: { hostKey: 'ssh-ed25519 other' } }],
  ['is an hour old', { metadata: { name: 'other', namespace, creationTimestamp: '2000-01-01T00:00:00Z' } }],
];
for (const [about, over] of others) {
  test(`does not wait for an instance that ${about}`, async () => {
    await using bench = await started(joined);
    const spec = { address: '10.0.0.9', username: 'x' };
    await bench.put(windowsInstances, { metadata: { name: 'other', namespace }, spec, ...over });
    await listed(bench);
    expect(isRequested(bench)).toBe(true);
  });
}

test('two hosts whose entries are gone do not wait for each other', async () => {
  await using bench = await started(joined);
  await listed(bench, '10.0.0.1', '10.0.0.2');
  await setStatus(bench, '10.0.0.2', { hostKey, touched: '2026-03-01T12:00:00Z' });
  await listed(bench);
  expect([isRequested(bench), annotationsOf(bench, '10.0.0.2')[removal] !== undefined]).toEqual([true, true]);
});
