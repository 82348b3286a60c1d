import { expect, onTestFinished, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation, nodeAnnotation, removedTaint } from '#contract/names.ts';
import { printRemovedHost, type RemovedHost } from '#contract/removed-hosts.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { benchNamespace as namespace, sourceBench } from '../../../test/kit/source-bench.ts';
import { removedHostsController } from './controller.ts';

const { removedHosts } = configMapName;
const note: RemovedHost = { node: 'win-1', removed: '2026-03-01T12:00:00Z', address: '10.0.0.1', instance: 'w1' };
const windows = { 'kubernetes.io/os': 'windows' };
const noSchedule = { key: 'os', value: 'Windows', effect: 'NoSchedule' };

const nodeOf = (change: Partial<Node> = {}): Node => ({
  spec: { taints: [noSchedule] },
  ...change,
  metadata: { name: 'win-1', uid: 'u-1', labels: windows, ...change.metadata },
});
const instanceOf = (change: Partial<WindowsInstance> = {}): WindowsInstance => ({
  spec: { address: '10.0.0.1', username: 'Administrator' },
  status: { host: { name: 'win-1', addresses: [] } },
  ...change,
  metadata: { name: 'w1', namespace, ...change.metadata },
});
const isolated: Node = nodeOf({
  metadata: { annotations: { [nodeAnnotation.cordoned]: '' } },
  spec: { taints: [noSchedule, { ...removedTaint }], unschedulable: true },
});

function setUp(notes: readonly RemovedHost[] = []) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { api, parts } = bench;
  const putNotes = (data: Record<string, string>) =>
    api.put(configMaps, { metadata: { name: removedHosts, namespace }, data });
  putNotes(Object.fromEntries(notes.map(each => [each.node, printRemovedHost(each)])));
  const node = () => api.peek(nodes, 'win-1');
  return {
    ...bench,
    putNotes,
    node,
    taints: () => node()?.spec?.taints?.map(({ key }) => key),
    isCordoned: () => node()?.spec?.unschedulable === true,
    notes: () => Object.keys(api.peek(configMaps, removedHosts, namespace)?.data ?? {}),
    run: () => bench.start(removedHostsController(parts)),
  };
}

test('cordons and taints a Node that registers again, once, and says how to clean the host', async () => {
  const { api, run, node, events, log } = setUp([note]);
  await run();
  api.put(nodes, nodeOf());
  await settle();
  expect(node()).toMatchObject(isolated);
  expect(events).toEqual([expect.stringContaining('Node/win-1 NodeRemovedByForce Node win-1 has registered')]);
  expect(events[0]).toContain('cleanup --kubeconfig');
  expect(log.messages('warn')).toEqual(['Node of a host that was removed by force has registered']);
  const writes = api.calls.length;
  api.put(nodes, { ...isolated, status: { conditions: [] } });
  await settle();
  expect(api.calls.length).toBe(writes);
});

test('isolates it again when it was uncordoned or registered once more', async () => {
  const { api, run, taints, isCordoned } = setUp([note]);
  api.put(nodes, isolated);
  await run();
  for (const again of [nodeOf(), nodeOf({ metadata: { uid: 'u-2' } })]) {
    api.put(nodes, again);
    await settle();
    expect([taints(), isCordoned()]).toEqual([['os', removedTaint.key], true]);
  }
});

const untouched: [about: string, node: Node, notes: RemovedHost[]][] = [
  ['a Windows Node without a note', nodeOf(), []],
  ['a Linux Node of that name', nodeOf({ metadata: { labels: { 'kubernetes.io/os': 'linux' } } }), [note]],
  ['a Node of another name', nodeOf(), [{ ...note, node: 'win-2' }]],
];
for (const [about, given, notes] of untouched) {
  test(`leaves ${about} alone`, async () => {
    const { api, run, taints, isCordoned, events } = setUp(notes);
    api.put(nodes, given);
    await run();
    expect([taints(), isCordoned(), events]).toEqual([['os'], false, []]);
  });
}

test('ignores a malformed note', async () => {
  const { api, run, putNotes, taints, log } = setUp();
  putNotes({ 'win-1': 'yes' });
  api.put(nodes, nodeOf());
  await run();
  expect(taints()).toEqual(['os']);
  expect(log.messages('warn')).toEqual(['Ignoring note about a removed host']);
});

test('the note and the taint end when the host is listed again; its journey uncordons it', async () => {
  const { api, run, notes, taints, isCordoned } = setUp([note, { ...note, node: 'win-2' }]);
  api.put(nodes, isolated);
  await run();
  api.put(windowsInstances, instanceOf());
  await settle();
  expect([notes(), taints(), isCordoned()]).toEqual([['win-2'], ['os'], true]);
});

const notListed: [about: string, instance: WindowsInstance][] = [
  ['is being removed', instanceOf({ metadata: { annotations: { [instanceAnnotation.removal]: note.removed } } })],
  ['is being deleted', instanceOf({ metadata: { deletionTimestamp: note.removed } })],
  ['has not connected yet', instanceOf({ status: { node: 'win-1' } })],
  [
    'is not accepted',
    instanceOf({
      status: { host: { name: 'win-1', addresses: [] }, conditions: [{ type: 'Accepted', status: 'False' }] },
    }),
  ],
];
for (const [about, instance] of notListed) {
  test(`the note stays while the instance ${about}`, async () => {
    const { api, run, notes, taints } = setUp([note]);
    api.put(windowsInstances, instance);
    api.put(nodes, nodeOf());
    await run();
    expect([notes(), taints()]).toEqual([['win-1'], ['os', removedTaint.key]]);
  });
}

test('the note stays when the removal has begun and the cache does not know it', async () => {
  const { api, run, notes } = setUp([note]);
  api.put(windowsInstances, instanceOf());
  api.isPaused = true;
  api.put(windowsInstances, instanceOf({ metadata: { annotations: { [instanceAnnotation.removal]: note.removed } } }));
  await run();
  expect(notes()).toEqual(['win-1']);
});

test('an administrator who deletes the key gets the Node back, also uncordoned', async () => {
  const { api, run, putNotes, node, taints, isCordoned } = setUp([note]);
  api.put(nodes, nodeOf());
  await run();
  putNotes({});
  await settle();
  expect([taints(), isCordoned(), node()?.metadata.annotations]).toEqual([['os'], false, {}]);
});

test('keeps the cordon of a user', async () => {
  const { api, run, putNotes, taints, isCordoned } = setUp([note]);
  api.put(nodes, nodeOf({ spec: { unschedulable: true } }));
  await run();
  putNotes({});
  await settle();
  expect([taints(), isCordoned()]).toEqual([[], true]);
});

test('changes no Node while the operator is being uninstalled, and continues afterwards', async () => {
  const { api, run, parts, taints, clock } = setUp();
  let problem: string | undefined = 'Namespace wmco is being deleted';
  parts.installation = { problem: async () => problem, recentProblem: async () => problem };
  api.put(nodes, isolated);
  await run();
  expect(taints()).toEqual(['os', removedTaint.key]);
  problem = undefined;
  await clock.advance(60_000);
  expect(taints()).toEqual(['os']);
});

test('keeps the taint when the note is not in the cache yet', async () => {
  const { api, run, putNotes, taints } = setUp();
  api.put(nodes, isolated);
  api.isPaused = true;
  putNotes({ 'win-1': printRemovedHost(note) });
  await run();
  expect(taints()).toEqual(['os', removedTaint.key]);
});

test('drops the oldest notes beyond the limit', async () => {
  const many = Array.from({ length: 1001 }, (_, index) => ({
    ...note,
    node: `win-${index}`,
    removed: `2026-03-01T12:${String(59 - (index % 60)).padStart(2, '0')}:00Z`,
  }));
  const { run, notes, log } = setUp([...many, { ...note, node: 'oldest', removed: '2020-01-01T00:00:00Z' }]);
  await run();
  expect([notes().length, notes().includes('oldest')]).toEqual([1000, false]);
  expect(log.messages('warn')).toEqual(['Dropping the oldest notes about removed hosts']);
});
