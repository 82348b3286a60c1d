import { expect, test } from 'vitest';
import { emptyReport, printReport, reportName } from '#contract/agent-report.ts';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { type ConfigMap, configMaps, type Node, nodes } from '#kube/resources.ts';
import type { BlockedPod, DrainOptions, DrainResult } from '#kube/drain/drain.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { MemoryInformer } from '../../../test/kit/memory-informer.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { createClusterNodes } from './cluster-nodes.ts';

const never = new AbortController().signal;
const [name, namespace] = ['win-5', 'wmco'];

function bench(node: Partial<Node> = {}, drained: Partial<DrainResult> = {}) {
  const api = new MemoryApi();
  api.put(nodes, { metadata: { name }, ...node });
  const [source, reports] = [new MemoryInformer<Node>(nodes), new MemoryInformer<ConfigMap>()];
  const drains: string[] = [];
  let during: (options: DrainOptions) => void | Promise<void> = () => undefined;
  const cluster = createClusterNodes({
    client: api,
    nodes: source,
    configMaps: reports,
    namespace,
    drainer: {
      drain: async (which, options?: DrainOptions) => {
        drains.push(which);
        await during(options ?? {});
        return { gone: [], left: [], blocked: [], ...drained };
      },
    },
  });
  const stored = () => api.peek(nodes, name);
  const patches = () => api.calls.filter(({ verb }) => verb === 'patch').length;
  const onDrain = (act: typeof during) => void (during = act);
  return { api, source, reports, cluster, drains, stored, patches, onDrain };
}
const reportWith = (...messages: string[]): ConfigMap => ({
  metadata: { name: reportName(name), namespace },
  data: printReport({
    ...emptyReport,
    events: messages.map(message => ({
      type: 'Warning',
      reason: 'ServiceFailure',
      message,
      time: '2026-01-01T00:00:00Z',
    })),
  }),
});

test('finds Nodes by the addresses that they report, each parsed once', () => {
  const { source, cluster } = bench();
  source.put({
    metadata: { name: 'a', labels: { x: 'y' } },
    status: { addresses: [{ type: 'InternalIP', address: '1' }] },
  });
  source.put({ metadata: { name: 'b' } });
  const found = cluster.withAddress(['0', '1']);
  expect(found).toMatchObject([{ name: 'a', labels: { x: 'y' }, addresses: [{ address: '1' }] }]);
  expect(cluster.withAddress(['1'])[0]).toBe(found[0]);
});

test('reports later changes of the Node and of the report of its agent until the listener is removed', () => {
  const { source, reports, cluster } = bench();
  source.put({ metadata: { name } });
  let told = 0;
  const end = cluster.follow(name, () => void (told += 1));
  expect(told).toBe(0);
  source.put({ metadata: { name, labels: { x: 'y' } } });
  source.remove({ namespace: '', name });
  source.put({ metadata: { name } });
  reports.put(reportWith('m'));
  expect(told).toBe(4);
  source.put({ metadata: { name: 'other' } });
  reports.put({ metadata: { name: 'windows-instances', namespace } });
  expect(told).toBe(4);
  end();
  source.put({ metadata: { name, labels: { x: 'z' } } });
  expect([told, source.handlerCount, reports.handlerCount]).toEqual([4, 0, 0]);
});

const ready = (status: string) => [{ type: 'Ready', status }];
const updates: [what: string, before: Partial<Node>, after: Partial<Node>, told: number][] = [
  [
    'a sign of life',
    { status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' }] } },
    { status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:10Z' }] } },
    0,
  ],
  ['images', {}, { status: { images: [{ names: ['a'] }] } } as Partial<Node>, 0],
  [
    'a Node that becomes ready',
    { status: { conditions: ready('False') } },
    { status: { conditions: ready('True') } },
    1,
  ],
  ['an address', {}, { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } }, 1],
  ['an annotation', {}, { metadata: { name, annotations: { [nodeAnnotation.version]: '1' } } }, 1],
  ['a cordon', {}, { spec: { unschedulable: true } }, 1],
];
for (const [what, before, after, times] of updates) {
  test(`reports ${times === 0 ? 'no one' : 'all'} of ${what}`, () => {
    const { source, cluster } = bench();
    source.put({ metadata: { name }, ...before });
    let told = 0;
    cluster.follow(name, () => void (told += 1));
    cluster.follow(name, () => void (told += 1));
    source.put({ metadata: { name }, ...after });
    expect(told).toBe(2 * times);
  });
}

test('finds a Node by its name alone', () => {
  const { source, cluster } = bench();
  source.put({ metadata: { name: 'a' }, status: { addresses: [{ type: 'InternalIP', address: name }] } });
  expect(cluster.get(name)).toBeUndefined();
  source.put({ metadata: { name } });
  expect(cluster.get(name)?.name).toBe(name);
});

test('knows the last event in the report of the agent', () => {
  const { reports, cluster } = bench();
  const node = { name, uid: 'uid-1' };
  expect(cluster.lastEvent(node)).toBeUndefined();
  reports.put(reportWith('old', 'new'));
  expect(cluster.lastEvent(node)).toBe('ServiceFailure: new');
  expect(cluster.lastEvent({ ...node, name: 'win-6' })).toBeUndefined();
  expect(cluster.lastEvent(node, { sinceMs: Date.UTC(2099, 0) })).toBeUndefined();
});

const ages: [what: string, uid: string, bootId: string | undefined, isShown: boolean][] = [
  ['this Node and boot', 'uid-1', 'boot-1', true],
  ['this Node, and the boot is unknown', 'uid-1', undefined, true],
  ['an earlier Node of this name', 'uid-2', 'boot-1', false],
  ['an earlier boot', 'uid-1', 'boot-2', false],
];
test.each(ages)('event about %s', (_, uid, bootId, isShown) => {
  const { reports, cluster } = bench();
  const report = reportWith('new');
  reports.put({ ...report, data: { ...report.data, bootID: 'boot-1', nodeUID: 'uid-1' } });
  const event = cluster.lastEvent({ name, uid }, bootId === undefined ? {} : { bootId });
  expect(event).toBe(isShown ? 'ServiceFailure: new' : undefined);
});

const clears: ['version' | 'rebootRequired', Record<string, string>, Record<string, string>][] = [
  ['version', { version: '', rebootRequired: 'true' }, { [nodeAnnotation.rebootRequired]: '', a: 'b' }],
  ['rebootRequired', { version: 'v1', rebootRequired: 'false' }, { [nodeAnnotation.version]: 'v1', a: 'b' }],
];
for (const [what, data, annotations] of clears) {
  test(`clears ${what} in the report before it clears the Node, and nothing else`, async () => {
    const has = { [nodeAnnotation.version]: 'v1', [nodeAnnotation.rebootRequired]: '', a: 'b' };
    const { api, cluster, stored } = bench({ metadata: { name, annotations: has } });
    api.put(configMaps, { ...reportWith(), data: { version: 'v1', rebootRequired: 'true' } });
    await cluster.clearReport(name, what, never);
    expect(api.peek(configMaps, reportName(name), namespace)?.data).toEqual(data);
    expect(stored()?.metadata.annotations).toEqual(annotations);
    expect(api.calls.map(({ resource }) => resource)).toEqual(['configmaps', 'nodes']);
  });
}

test('clears nothing when report and Node are gone, and reports other errors', async () => {
  const { api, cluster } = bench();
  await cluster.clearReport('gone', 'version', never);
  api.before = () => {
    throw refused(403, 'Forbidden');
  };
  await expect(cluster.clearReport(name, 'version', never)).rejects.toThrow('Forbidden');
});

const marks = { labels: { [nodeLabel.worker]: '' }, annotations: { [nodeAnnotation.pubKeyHash]: 'h' } };

test('prepares a Node with one write: cordon, annotations and taints', async () => {
  const { cluster, stored, patches } = bench({ metadata: { name, labels: { a: 'b' } } });
  await cluster.cordonAndLabel(name, marks, [{ key: 'gpu', effect: 'NoSchedule' }], never);
  expect(stored()).toMatchObject({
    metadata: {
      labels: { a: 'b', [nodeLabel.worker]: '' },
      annotations: { [nodeAnnotation.pubKeyHash]: 'h', [nodeAnnotation.cordoned]: '' },
    },
    spec: { unschedulable: true, taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
  });
  expect(patches()).toBe(1);
  await cluster.cordonAndLabel(name, marks, [{ key: 'gpu', effect: 'NoSchedule' }], never);
  expect(patches()).toBe(1);
});

test('keeps the cordon of a user', async () => {
  const { cluster, stored } = bench({ spec: { unschedulable: true } });
  await cluster.cordonAndLabel(name, marks, [], never);
  expect(stored()?.metadata.annotations).not.toHaveProperty(nodeAnnotation.cordoned);
  await cluster.release(name, never);
  expect(stored()?.spec?.unschedulable).toBe(true);
});

test('uncordons what it has cordoned, and removes the upgrade annotation', async () => {
  const { cluster, stored } = bench({
    metadata: { name, labels: { [nodeLabel.upgrading]: 'true', a: 'b' }, annotations: { c: 'd' } },
    spec: { podCIDR: '10.0.0.0/24' },
  });
  await cluster.cordonAndLabel(name, marks, [], never);
  await cluster.release(name, never);
  expect(stored()?.spec).toEqual({ podCIDR: '10.0.0.0/24' });
  expect(stored()?.metadata.labels).toEqual({ a: 'b', [nodeLabel.worker]: '' });
  expect(stored()?.metadata.annotations).toEqual({ c: 'd', [nodeAnnotation.pubKeyHash]: 'h' });
});

test('writes nothing when there is nothing to uncordon', async () => {
  const { cluster, patches } = bench();
  await cluster.release(name, never);
  expect(patches()).toBe(0);
});

const taints: [string, NonNullable<Node['spec']>['taints'], NonNullable<Node['spec']>['taints']][] = [
  [
    'beside those of others',
    [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }],
    [
      { key: 'os', value: 'Windows', effect: 'NoSchedule' },
      { key: 'gpu', value: 'a', effect: 'NoExecute' },
    ],
  ],
  [
    'in place of another value',
    [{ key: 'gpu', value: 'old', effect: 'NoExecute' }],
    [{ key: 'gpu', value: 'a', effect: 'NoExecute' }],
  ],
  [
    'beside one of the same key and another effect',
    [{ key: 'gpu', effect: 'NoSchedule' }],
    [
      { key: 'gpu', effect: 'NoSchedule' },
      { key: 'gpu', value: 'a', effect: 'NoExecute' },
    ],
  ],
  [
    'which is there already, with its time',
    [{ key: 'gpu', value: 'a', effect: 'NoExecute', timeAdded: 't' }],
    [{ key: 'gpu', value: 'a', effect: 'NoExecute', timeAdded: 't' }],
  ],
];
for (const [what, before, after] of taints) {
  test(`sets a taint ${what}`, async () => {
    const { cluster, stored } = bench({ spec: { taints: before ?? [] } });
    await cluster.cordonAndLabel(name, marks, [{ key: 'gpu', value: 'a', effect: 'NoExecute' }], never);
    expect(stored()?.spec?.taints).toEqual(after);
  });
}

test('retries when the kubelet has changed the Node meanwhile', async () => {
  const { api, cluster, stored } = bench();
  let conflicts = 5;
  api.before = ({ verb }) => {
    if (verb === 'patch' && conflicts-- > 0) throw refused(409, 'Conflict');
  };
  await cluster.cordonAndLabel(name, marks, [], never);
  expect(stored()?.spec?.unschedulable).toBe(true);
});

test('annotates, and removes annotations', async () => {
  const { cluster, stored } = bench({ metadata: { name, annotations: { old: 'x', kept: 'y' } } });
  await cluster.annotate(name, { [nodeAnnotation.desiredVersion]: 'v1', old: null }, never);
  expect(stored()?.metadata.annotations).toEqual({ kept: 'y', [nodeAnnotation.desiredVersion]: 'v1' });
});

const blockedDb: BlockedPod = {
  pod: { namespace: 'ns', name: 'db' },
  is: 'managed',
  budgets: ['db'],
  isRejected: true,
  message: 'no disruptions allowed',
};

test('cordons and drains, and fails when pods stay', async () => {
  const good = bench();
  await good.cluster.drain(name, { signal: never });
  expect(good.drains).toEqual([name]);
  expect(good.stored()).toMatchObject({ spec: { unschedulable: true } });
  expect(good.stored()?.metadata.annotations).toHaveProperty([nodeAnnotation.cordoned]);
  const bad = bench({}, { blocked: [blockedDb] });
  expect(await rejectionOf(bad.cluster.drain(name, { signal: never, remedy: 'Or force it.' }))).toMatchObject({
    code: 'DRAIN_BLOCKED',
    message: `Node ${name}: pods not evicted: ns/db (PodDisruptionBudget db: no disruptions allowed)`,
    remedy: expect.stringMatching(/kubectl edit pdb db -n ns.* Or force it\.$/),
  });
});

test('notes which pods are left, with the time limit of the caller', async () => {
  const { cluster, onDrain } = bench();
  const notes: string[] = [];
  onDrain(({ timeoutMs, onProgress }) => {
    expect(timeoutMs).toBe(5000);
    onProgress?.([blockedDb]);
  });
  await cluster.drain(name, { signal: never, timeoutMs: 5000, note: text => notes.push(text) });
  expect(notes).toEqual([
    'draining the Node: 1 pod left; blocked: ns/db (PodDisruptionBudget db: no disruptions allowed)',
  ]);
});

test('keeps the cordon of a user while it drains', async () => {
  const { cluster, stored } = bench({ spec: { unschedulable: true } });
  await cluster.drain(name, { signal: never });
  await cluster.release(name, never);
  expect(stored()?.spec?.unschedulable).toBe(true);
});

test('cordons again when a user uncordons the Node while it drains', async () => {
  const { api, cluster, source, stored, onDrain } = bench();
  const cordoned = { metadata: { name }, spec: { unschedulable: true } };
  source.put(cordoned);
  const notes: string[] = [];
  onDrain(async () => {
    const uncordoned = { ...stored(), metadata: { ...stored()?.metadata, name }, spec: {} };
    api.put(nodes, uncordoned);
    source.put(uncordoned);
    await expect.poll(() => stored()?.spec?.unschedulable).toBe(true);
  });
  await cluster.drain(name, { signal: never, note: text => notes.push(text) });
  expect(notes).toEqual(['draining the Node; cordoned it again after it was uncordoned']);
  const patches = api.calls.filter(({ verb }) => verb === 'patch').length;
  source.put({ metadata: { name }, spec: {} });
  expect(api.calls.filter(({ verb }) => verb === 'patch').length).toBe(patches);
});

test('a Node that is gone is drained', async () => {
  const { api, cluster, drains } = bench();
  api.remove(nodes, name);
  await cluster.drain(name, { signal: never });
  expect(drains).toEqual([name]);
});
