import { expect, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { isRemovalRequested } from '#cluster/instance-removal.ts';
import { configMapName, instanceAnnotation, nodeLabel } from '#contract/names.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { benchNamespace as namespace, type SourceBench, sourceBench } from '../../../test/kit/source-bench.ts';
import { instancesController } from './controller.ts';

const mapName = configMapName.instances;
const listed = (bench: SourceBench, data: Record<string, string>) =>
  bench.put(configMaps, { metadata: { name: mapName, namespace, uid: 'map' }, data });
const user = 'username=core';

/** With entries there before the controller starts. */
async function started(data?: Record<string, string>): Promise<SourceBench> {
  const bench = sourceBench();
  if (data !== undefined) await listed(bench, data);
  await bench.start(instancesController(bench.parts));
  return bench;
}
const namesOf = (bench: SourceBench) => bench.instances().map(({ metadata }) => metadata.name);
const specOf = (bench: SourceBench, name: string) => bench.instance(name)?.spec;

test('makes an instance of each entry, by address and by name', async () => {
  await using bench = await started({ '10.1.42.1': 'username=Administrator', 'Win2.Example.com': user });
  expect(specOf(bench, '10.1.42.1')).toEqual({
    address: '10.1.42.1',
    username: 'Administrator',
    source: { kind: 'ConfigMap', name: '10.1.42.1' },
  });
  expect(specOf(bench, 'win2.example.com')).toEqual({
    address: 'Win2.Example.com',
    username: 'core',
    source: { kind: 'ConfigMap', name: 'Win2.Example.com' },
  });
  expect(bench.instance('10.1.42.1')?.metadata.annotations).toEqual({ [instanceAnnotation.sourceUid]: 'map' });
  expect(bench.events).toEqual([]);
});

test('writes an address without the dot that a name may end with', async () => {
  await using bench = await started({ 'win1.example.com.': user });
  expect(specOf(bench, 'win1.example.com')?.address).toBe('win1.example.com');
});

test('does nothing without a ConfigMap', async () => {
  await using bench = await started();
  expect(bench.api.calls).toEqual([]);
});

test('follows entries that come, change and go', async () => {
  await using bench = await started({ '10.0.0.1': user });
  await listed(bench, { '10.0.0.1': user, '10.0.0.2': user });
  expect(namesOf(bench)).toEqual(['10.0.0.1', '10.0.0.2']);
  await listed(bench, { '10.0.0.1': 'username=admin', '10.0.0.2': user });
  expect(specOf(bench, '10.0.0.1')?.username).toBe('admin');
  await listed(bench, { '10.0.0.2': user });
  expect(namesOf(bench)).toEqual(['10.0.0.2']);
  bench.api.remove(configMaps, mapName, namespace);
  await settle();
  expect(namesOf(bench)).toEqual([]);
});

test('touches nothing of an entry that did not change', async () => {
  await using bench = await started({ '10.0.0.1': user });
  bench.api.calls.length = 0;
  await listed(bench, { '10.0.0.1': user, '10.0.0.2': user });
  expect(bench.api.calls).toMatchObject([{ verb: 'create', name: '10.0.0.2' }]);
});

test('one bad entry stops no other, and is reported once', async () => {
  await using bench = await started({ '10.0.0.1': 'password=x', '10.0.0.2': user, 'fd00-bad_name': user });
  expect(namesOf(bench)).toEqual(['10.0.0.2']);
  expect(bench.events).toEqual([
    expect.stringMatching(
      /^ConfigMap\/windows-instances InstanceSetupFailure INSTANCE_ENTRY_MALFORMED: .*10\.0\.0\.1.*username=<name>/,
    ),
    expect.stringMatching(/InstanceSetupFailure INSTANCE_ADDRESS_INVALID: .*"fd00-bad_name"/),
  ]);
  expect(bench.events.join()).not.toContain('password=x');
  await listed(bench, { '10.0.0.1': 'password=x', '10.0.0.2': 'username=new', 'fd00-bad_name': user });
  expect(bench.events).toHaveLength(2);
});

test('reports a bad entry again when it had been fixed', async () => {
  await using bench = await started({ '10.0.0.1': 'bad' });
  await listed(bench, {});
  await listed(bench, { '10.0.0.1': 'bad' });
  expect(bench.events).toHaveLength(2);
});

test('an entry that breaks keeps its instance as it was; the condition of that tells the rest', async () => {
  await using bench = await started({ '10.0.0.1': user });
  await listed(bench, { '10.0.0.1': 'user=core' });
  expect(specOf(bench, '10.0.0.1')?.username).toBe('core');
  expect(bench.events).toEqual([]);
});

test('two spellings of one name are one host: the first is used, the second told', async () => {
  await using bench = await started({ WIN1: 'username=first', win1: 'username=second' });
  expect(bench.instances()).toHaveLength(1);
  expect(specOf(bench, 'win1')).toMatchObject({ address: 'WIN1', username: 'first' });
  expect(bench.events).toEqual([expect.stringContaining('INSTANCE_DUPLICATE')]);
  await listed(bench, { win1: 'username=second' });
  expect(specOf(bench, 'win1')).toMatchObject({
    address: 'win1',
    username: 'second',
    source: { kind: 'ConfigMap', name: 'win1' },
  });
});

test('an instance that a user deletes comes back', async () => {
  await using bench = await started({ '10.0.0.1': user });
  bench.api.remove(windowsInstances, '10.0.0.1', namespace);
  await settle();
  expect(namesOf(bench)).toEqual(['10.0.0.1']);
});

test('puts back what belongs to the entry and keeps what belongs to others', async () => {
  await using bench = await started({ '10.0.0.1': user });
  const before = bench.instance('10.0.0.1') as WindowsInstance;
  await bench.put(windowsInstances, {
    ...before,
    spec: { ...before.spec, username: 'x', address: '10.9.9.9', paused: true, labels: { a: 'b' } },
  });
  expect(specOf(bench, '10.0.0.1')).toMatchObject({
    username: 'core',
    address: '10.0.0.1',
    paused: true,
    labels: { a: 'b' },
  });
});

test('steps of the lifecycle cause no pass', async () => {
  await using bench = await started({ '10.0.0.1': user });
  const before = bench.instance('10.0.0.1') as WindowsInstance;
  bench.api.calls.length = 0;
  await bench.put(windowsInstances, { ...before, status: { phase: 'Configuring', step: 'connect' } });
  expect(bench.api.calls).toEqual([]);
});

test('leaves alone what others have made', async () => {
  const bench = sourceBench();
  const spec = { address: '10.0.0.9', username: 'x' };
  await bench.put(windowsInstances, { metadata: { name: 'mine', namespace }, spec });
  const machine = { ...spec, source: { kind: 'Machine' as const, name: 'm1' } };
  await bench.put(windowsInstances, { metadata: { name: 'm1', namespace }, spec: machine });
  await bench.put(windowsInstances, { metadata: { name: '10.0.0.1', namespace }, spec });
  await listed(bench, { '10.0.0.1': user });
  await bench.start(instancesController(bench.parts));
  await using _ = bench;
  expect(specOf(bench, 'mine')).toEqual(spec);
  expect(specOf(bench, 'm1')).toEqual(machine);
  expect(specOf(bench, '10.0.0.1')).toEqual(spec);
  expect(namesOf(bench)).toEqual(['mine', 'm1', '10.0.0.1', expect.stringMatching(/^10\.0\.0\.1-[0-9a-f]{8}$/)]);
});

test('deletes what it finds without an entry when it starts', async () => {
  const bench = sourceBench();
  const source = { kind: 'ConfigMap' as const, name: '10.0.0.7' };
  const spec = { address: '10.0.0.7', username: 'Administrator', source };
  await bench.put(windowsInstances, { metadata: { name: '10.0.0.7', namespace }, spec });
  await listed(bench, { '10.0.0.1': user });
  await bench.start(instancesController(bench.parts));
  await using _ = bench;
  expect(namesOf(bench)).toEqual(['10.0.0.1']);
});

test('deletes nothing because of a watch that lags: the server is asked first', async () => {
  await using bench = await started({ '10.0.0.1': user });
  const before = bench.api.peek(configMaps, mapName, namespace);
  bench.api.remove(configMaps, mapName, namespace);
  bench.api.isPaused = true;
  if (before !== undefined) bench.api.put(configMaps, before);
  await settle();
  expect(namesOf(bench)).toEqual(['10.0.0.1']);
  bench.api.resume();
  await bench.clock.advance(2000);
  expect(namesOf(bench)).toEqual(['10.0.0.1']);
});

test('deletes nothing while the server does not tell what is listed', async () => {
  await using bench = await started({ '10.0.0.1': user });
  bench.api.before = ({ verb }) => {
    if (verb === 'get') throw refused(500, 'InternalError');
  };
  await listed(bench, {});
  expect(namesOf(bench)).toEqual(['10.0.0.1']);
  bench.api.before = () => undefined;
  await bench.clock.advance(60_000);
  expect(namesOf(bench)).toEqual([]);
});

test('one entry that the server refuses stops no other, and is retried', async () => {
  const bench = sourceBench();
  bench.api.before = ({ verb, name }) => {
    if (verb === 'create' && name === '10.0.0.1') throw refused(500, 'InternalError');
  };
  await listed(bench, { '10.0.0.1': user, '10.0.0.2': user });
  await bench.start(instancesController(bench.parts));
  await using _ = bench;
  expect(namesOf(bench)).toEqual(['10.0.0.2']);
  bench.api.before = () => undefined;
  await bench.clock.advance(60_000);
  expect(namesOf(bench)).toEqual(['10.0.0.2', '10.0.0.1']);
});

const joined = { node: 'win1', host: { name: 'win1', addresses: ['10.0.0.1', '10.9.0.1'] } };
/** A Node that reports what it likes, which is nobody's evidence. */
const lying: Node = {
  metadata: { name: 'win1', labels: { [nodeLabel.os]: 'windows', [nodeLabel.byoh]: 'true' } },
  status: { addresses: [{ type: 'InternalIP', address: '10.0.0.2' }] },
};

type Fate = 'removed' | 'deleted' | 'kept';
const fateOf = (bench: SourceBench, name = '10.0.0.1'): Fate => {
  const instance = bench.instance(name);
  return instance === undefined ? 'deleted' : isRemovalRequested(instance) ? 'removed' : 'kept';
};
const orphans: [
  about: string,
  zone: [string, readonly string[] | Error][],
  data: Record<string, string>,
  fate: Fate,
][] = [
  ['is removed when no entry is its host', [], { '10.0.0.2': user }, 'removed'],
  [
    'is deleted when another entry is the same host, which takes it over',
    [['win1.example.com', ['10.0.0.1']]],
    { 'win1.example.com': user },
    'deleted',
  ],
  [
    'stays while an entry that does not resolve has its name',
    [['win1.example.com', []]],
    { 'win1.example.com': user },
    'kept',
  ],
  [
    'stays while DNS is out and it may be the entry',
    [['win1.example.com', new Error('no DNS')]],
    { 'win1.example.com': user },
    'kept',
  ],
  [
    'is removed although DNS is out when the entry is plainly another host',
    [['other.example.com', new Error('no DNS')]],
    { 'other.example.com': user },
    'removed',
  ],
  ['stays while the entry of its name is broken', [], { 'win1.example.com': 'bad' }, 'kept'],
  ['stays while the entry of its other address is broken', [], { '10.9.0.1': 'bad' }, 'kept'],
  ['is removed whatever name DNS has for its address', [['10.0.0.1', ['other']]], { other: 'bad' }, 'removed'],
  ['is removed whatever its Node reports', [], { '10.0.0.2': 'bad' }, 'removed'],
];
for (const [about, zone, data, fate] of orphans) {
  test(`an instance that has joined and whose entry is gone ${about}`, async () => {
    await using bench = await started({ '10.0.0.1': user });
    await bench.put(nodes, lying);
    const before = bench.instance('10.0.0.1') as WindowsInstance;
    await bench.put(windowsInstances, { ...before, status: joined });
    for (const [question, answer] of zone) bench.zone.set(question, answer);
    await listed(bench, data);
    // New instances, which no journey identifies here, are waited for.
    await bench.clock.advance(10 * 60_000 + 5000);
    expect(fateOf(bench)).toBe(fate);
  });
}

test('a host is removed when the entry that fails is recorded as another Node', async () => {
  await using bench = await started({ '10.0.0.1': user, 'win1.example.com': user });
  for (const [name, status] of [
    ['10.0.0.1', joined],
    ['win1.example.com', { host: { name: 'win1-b', addresses: ['10.0.0.7'] } }],
  ] as const) {
    const before = bench.instance(name) as WindowsInstance;
    await bench.put(windowsInstances, { ...before, status: structuredClone(status) as WindowsInstance['status'] & {} });
  }
  bench.zone.set('win1.example.com', new Error('no DNS'));
  await listed(bench, { 'win1.example.com': user });
  expect(fateOf(bench)).toBe('removed');
});

test('looks at a doubtful instance again until the doubt is over', async () => {
  await using bench = await started({ '10.0.0.1': user });
  const before = bench.instance('10.0.0.1') as WindowsInstance;
  await bench.put(windowsInstances, { ...before, status: joined });
  bench.zone.set('win1.example.com', new Error('no DNS'));
  await listed(bench, { 'win1.example.com': user });
  expect(namesOf(bench)).toContain('10.0.0.1');
  expect(bench.log.messages('warn')).toEqual(['Keeping WindowsInstance without an entry']);
  bench.zone.set('win1.example.com', ['10.0.0.1']);
  await bench.clock.advance(60_000);
  expect(namesOf(bench)).toEqual(['win1.example.com']);
});

test('a name that takes for ever to resolve delays no other entry', async () => {
  const bench = sourceBench();
  bench.zone.set('slow.example.com', 'silent');
  await listed(bench, { 'slow.example.com': user, '10.0.0.2': user });
  await bench.start(instancesController(bench.parts));
  await using _ = bench;
  expect(namesOf(bench)).toEqual(['slow.example.com', '10.0.0.2']);
});
