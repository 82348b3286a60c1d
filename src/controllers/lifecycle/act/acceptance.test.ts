import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, nodeAnnotation } from '#contract/names.ts';
import { instanceCondition, type WindowsInstanceSpec } from '#contract/windows-instance/resource.ts';
import { findCondition } from '#base/condition.ts';
import { configMaps, nodes, secrets } from '#kube/resources.ts';
import { settle } from '../../../../test/kit/manual-clock.ts';
import { refused } from '../../../../test/kit/memory-api.ts';
import {
  benchNamespace as namespace,
  benchVersion,
  type SourceBench,
  sourceBench,
} from '../../../../test/kit/source-bench.ts';
import { lifecycleController } from '../controller.ts';

const spec: WindowsInstanceSpec = { address: '10.0.0.1', username: 'core' };

async function started(): Promise<SourceBench> {
  const bench = sourceBench();
  const never = () => new Promise<never>(() => undefined);
  await bench.start(
    lifecycleController({
      ...bench.parts,
      connect: never,
      dialTcp: never,
      inputs: { loadKeys: never, readFacts: () => never() as never, prepareInputs: never },
      payload: { agent: never, files: never },
    }),
  );
  return bench;
}
async function put(bench: SourceBench, name: string, change: Partial<WindowsInstanceSpec> = {}): Promise<void> {
  const before = bench.instance(name);
  const metadata = before?.metadata ?? { name, namespace };
  // Each is a second younger than the one before.
  await bench.clock.advance(1000);
  await bench.put(windowsInstances, { ...before, metadata, spec: { ...spec, ...before?.spec, ...change } });
}
const accepted = (bench: SourceBench, name: string) =>
  findCondition(bench.instance(name)?.status?.conditions, instanceCondition.accepted);
const listed = (bench: SourceBench, data: Record<string, string>) =>
  bench.put(configMaps, { metadata: { name: configMapName.instances, namespace, uid: 'map' }, data });
const ofEntry = (name: string): Partial<WindowsInstanceSpec> => ({
  address: name,
  source: { kind: 'ConfigMap', name },
});

test('configures an accepted instance without a condition or an event', async () => {
  await using bench = await started();
  await put(bench, 'win1');
  expect(accepted(bench, 'win1')).toBeUndefined();
  expect(bench.instance('win1')?.status?.phase).toBe('Configuring');
  expect(bench.events).toEqual([]);
});

test('reports what is wrong in a condition and in one event on the object itself', async () => {
  await using bench = await started();
  await put(bench, 'win1', { address: 'a..b' });
  expect(accepted(bench, 'win1')).toMatchObject({
    status: 'False',
    reason: 'INSTANCE_ADDRESS_INVALID',
    message: expect.stringMatching(/"a\.\.b".*\. Set spec\.address/),
    observedGeneration: 1,
  });
  expect(bench.instance('win1')?.status?.phase).toBe('Failed');
  expect(bench.events).toEqual([
    expect.stringMatching(/^WindowsInstance\/win1 InstanceSetupFailure INSTANCE_ADDRESS_INVALID: /),
  ]);
  await bench.clock.advance(600_000);
  expect(bench.events).toHaveLength(1);
});

test('takes it back when it is fixed', async () => {
  await using bench = await started();
  await put(bench, 'win1', { username: '' });
  expect(accepted(bench, 'win1')?.status).toBe('False');
  await put(bench, 'win1', { username: 'core' });
  expect(accepted(bench, 'win1')).toMatchObject({ status: 'True', reason: 'Accepted', observedGeneration: 2 });
  await put(bench, 'win1', { username: '' });
  expect(accepted(bench, 'win1')?.status).toBe('False');
  expect(bench.events).toHaveLength(2);
});

test('reports an entry that broke on the ConfigMap, and of it alone', async () => {
  await using bench = await started();
  await listed(bench, { '10.0.0.1': 'username=core', '10.0.0.2': 'username=core' });
  await put(bench, '10.0.0.1', ofEntry('10.0.0.1'));
  await put(bench, '10.0.0.2', ofEntry('10.0.0.2'));
  expect(bench.events).toEqual([]);
  await listed(bench, { '10.0.0.1': 'user=core', '10.0.0.2': 'username=core' });
  expect(accepted(bench, '10.0.0.1')).toMatchObject({ status: 'False', reason: 'INSTANCE_ENTRY_MALFORMED' });
  expect(accepted(bench, '10.0.0.2')).toBeUndefined();
  expect(bench.events).toEqual([
    expect.stringMatching(/^ConfigMap\/windows-instances InstanceSetupFailure INSTANCE_ENTRY_MALFORMED: .*10\.0\.0\.1/),
    expect.stringMatching(/^WindowsInstance\/10\.0\.0\.1 InstanceSetupFailure INSTANCE_ENTRY_MALFORMED: .*10\.0\.0\.1/),
  ]);
  await listed(bench, { '10.0.0.1': 'username=core', '10.0.0.2': 'username=core' });
  expect(accepted(bench, '10.0.0.1')?.status).toBe('True');
});

test('an entry that is gone is no fault of its instance', async () => {
  await using bench = await started();
  await put(bench, '10.0.0.1', ofEntry('10.0.0.1'));
  await listed(bench, {});
  expect(accepted(bench, '10.0.0.1')).toBeUndefined();
});

test('of two spellings of one entry one good one is enough', async () => {
  await using bench = await started();
  await listed(bench, { WIN1: 'username=core', win1: 'username=core' });
  await put(bench, 'win1', { ...ofEntry('WIN1') });
  expect(accepted(bench, 'win1')).toBeUndefined();
});

test('the first of two sources keeps the host, the other is reported', async () => {
  await using bench = await started();
  await put(bench, 'm1', { source: { kind: 'Machine', name: 'm1' } });
  await listed(bench, { '10.0.0.1': 'username=core' });
  await put(bench, '10.0.0.1', ofEntry('10.0.0.1'));
  await put(bench, 'mine');
  expect(accepted(bench, 'm1')).toBeUndefined();
  for (const name of ['10.0.0.1', 'mine']) {
    expect(accepted(bench, name)).toMatchObject({ reason: 'INSTANCE_DUPLICATE', status: 'False' });
    expect(accepted(bench, name)?.message).toContain('m1 is used');
  }
  expect(bench.events.map(text => text.split(' ')[0])).toEqual([
    'ConfigMap/windows-instances',
    'WindowsInstance/10.0.0.1',
    'WindowsInstance/mine',
  ]);
});

test('a Machine that comes second is reported on the Machine', async () => {
  await using bench = await started();
  await put(bench, 'mine');
  await put(bench, 'm1', { source: { kind: 'Machine', name: 'm1' } });
  expect(bench.events).toEqual([
    expect.stringMatching(/^Machine\/m1 MachineSetupFailure Machine m1 configuration failure: INSTANCE_DUPLICATE/),
    expect.stringMatching(
      /^WindowsInstance\/m1 MachineSetupFailure Machine m1 configuration failure: INSTANCE_DUPLICATE/,
    ),
  ]);
});

test('the next in line takes the host over as soon as the first is gone', async () => {
  await using bench = await started();
  for (const name of ['a', 'b', 'c']) await put(bench, name);
  bench.api.remove(windowsInstances, 'a', namespace);
  await settle();
  expect(accepted(bench, 'b')?.status).toBe('True');
  expect(accepted(bench, 'c')).toMatchObject({ status: 'False', message: expect.stringContaining('b is used') });
});

test('the next in line takes the host over when the first is given another address', async () => {
  await using bench = await started();
  for (const name of ['a', 'b']) await put(bench, name);
  await put(bench, 'a', { address: '10.0.0.9' });
  expect(accepted(bench, 'b')?.status).toBe('True');
});

test('a name that resolves to the address of another is the same host', async () => {
  await using bench = await started();
  bench.zone.set('win1.example.com', ['10.0.0.1']);
  await put(bench, 'a');
  await put(bench, 'b', { address: 'win1.example.com' });
  expect(accepted(bench, 'b')?.reason).toBe('INSTANCE_DUPLICATE');
  bench.zone.set('win1.example.com', ['10.0.0.8']);
  await bench.clock.advance(30_000);
  expect(accepted(bench, 'b')?.status).toBe('True');
});

test('an instance learns of a rival when the name of that one has been resolved', async () => {
  await using bench = await started();
  await put(bench, 'a', { address: 'win1.example.com' });
  await put(bench, 'b');
  expect(accepted(bench, 'b')).toBeUndefined();
  await bench.put(windowsInstances, { ...(bench.instance('a') as WindowsInstance), status: { ipv4: '10.0.0.1' } });
  expect(accepted(bench, 'b')?.reason).toBe('INSTANCE_DUPLICATE');
  expect(accepted(bench, 'a')).toBeUndefined();
});

for (const answer of [[], new Error('no DNS')]) {
  test(`a name that ${answer instanceof Error ? 'cannot be resolved' : 'has no address'} is no reason to reject an instance`, async () => {
    await using bench = await started();
    bench.zone.set('win1.example.com', answer);
    await put(bench, 'a', { address: 'win1.example.com' });
    expect(accepted(bench, 'a')).toBeUndefined();
  });
}

test('a name that takes for ever to resolve delays no other', async () => {
  await using bench = await started();
  bench.zone.set('slow.example.com', 'silent');
  await put(bench, 'a', { address: 'slow.example.com' });
  await put(bench, 'b', { username: '' });
  expect(accepted(bench, 'b')?.status).toBe('False');
});

const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
const secretCases: [about: string, data: Record<string, string> | undefined, code: string, key?: string][] = [
  ['does not exist', undefined, 'PRIVATE_KEY_MISSING'],
  ['lacks the key', { other: pem }, 'PRIVATE_KEY_MISSING'],
  ['lacks the key that is named', { 'private-key.pem': pem }, 'PRIVATE_KEY_MISSING', 'id_ed25519'],
  ['holds no key', { 'private-key.pem': 'hunter2' }, 'PRIVATE_KEY_UNREADABLE'],
  [
    'holds a key with a passphrase',
    { 'private-key.pem': pem.replaceAll('PRIVATE KEY', 'ENCRYPTED PRIVATE KEY') },
    'PRIVATE_KEY_ENCRYPTED',
  ],
];
for (const [about, data, code, key] of secretCases) {
  test(`refuses an instance whose own Secret ${about}`, async () => {
    await using bench = await started();
    const metadata = { name: 'mine', namespace };
    const encoded = Object.entries(data ?? {}).map(([name, text]) => [name, toBase64(text)]);
    if (data !== undefined) await bench.put(secrets, { metadata, data: Object.fromEntries(encoded) });
    await put(bench, 'win1', { keySecret: { name: 'mine', ...(key !== undefined && { key }) } });
    expect(accepted(bench, 'win1')).toMatchObject({ status: 'False', reason: code });
    expect(JSON.stringify([bench.events, bench.instance('win1')])).not.toContain('hunter2');
  });
}

test('accepts an instance as soon as its own Secret is there', async () => {
  await using bench = await started();
  await put(bench, 'win1', { keySecret: { name: 'mine', key: 'id' } });
  expect(accepted(bench, 'win1')?.message).toMatch(
    /Secret mine does not exist\. Store .*namespace wmco under the key id/,
  );
  await bench.put(secrets, { metadata: { name: 'mine', namespace }, data: { id: toBase64(pem) } });
  await bench.clock.advance(30_000);
  expect(accepted(bench, 'win1')?.status).toBe('True');
});

test('a Secret that cannot be read now does not change the acceptance; the journey reports the error', async () => {
  await using bench = await started();
  await put(bench, 'rejected', { address: '10.0.0.8', keySecret: { name: 'mine' } });
  expect(accepted(bench, 'rejected')?.reason).toBe('PRIVATE_KEY_MISSING');
  bench.api.before = ({ resource }) => {
    if (resource === 'secrets') throw refused(500, 'InternalError');
  };
  await put(bench, 'win1', { keySecret: { name: 'mine' } });
  await bench.clock.advance(60_000);
  expect(accepted(bench, 'win1')).toBeUndefined();
  expect(bench.log.messages('info')).toContain('Running step');
  expect(accepted(bench, 'rejected')?.status).toBe('False');
});

test('reports it again when it was removed', async () => {
  await using bench = await started();
  await put(bench, 'win1', { username: '' });
  const before = bench.instance('win1') as WindowsInstance;
  await bench.put(windowsInstances, { ...before, status: { phase: 'Failed', conditions: [] } });
  expect(accepted(bench, 'win1')?.status).toBe('False');
});

test('leaves an instance alone that is being deleted', async () => {
  await using bench = await started();
  const metadata = { name: 'win1', namespace, deletionTimestamp: '2026-03-01T12:00:00Z' };
  await bench.put(windowsInstances, { metadata, spec: { address: '', username: 'Administrator' } });
  expect(bench.instance('win1')?.status).toBeUndefined();
});

test('steps of the lifecycle cause no pass', async () => {
  await using bench = await started();
  await put(bench, 'win1', { username: '' });
  const before = bench.instance('win1') as WindowsInstance;
  bench.api.calls.length = 0;
  await bench.put(windowsInstances, { ...before, status: { ...before.status, step: 'connect' } });
  expect(bench.api.calls).toEqual([]);
});

test('aborts a running journey when the entry of its host is broken, and continues when it is fixed', async () => {
  await using bench = await started();
  await listed(bench, { '10.0.0.1': 'username=core' });
  await put(bench, '10.0.0.1', ofEntry('10.0.0.1'));
  expect(bench.instance('10.0.0.1')?.status).toMatchObject({ phase: 'Configuring', step: 'connect' });
  await listed(bench, { '10.0.0.1': 'user=core' });
  await bench.clock.advance(1000);
  expect(accepted(bench, '10.0.0.1')).toMatchObject({ status: 'False', reason: 'INSTANCE_ENTRY_MALFORMED' });
  expect(bench.log.messages('debug')).toContain('Skipping host');
  await listed(bench, { '10.0.0.1': 'username=core' });
  expect(accepted(bench, '10.0.0.1')?.status).toBe('True');
});

test('aborts a running journey when an older instance turns out to be the same host', async () => {
  await using bench = await started();
  await put(bench, 'a', { address: 'win1.example.com' });
  await put(bench, 'b');
  expect(bench.instance('b')?.status?.phase).toBe('Configuring');
  await bench.put(windowsInstances, { ...(bench.instance('a') as WindowsInstance), status: { ipv4: '10.0.0.1' } });
  expect(accepted(bench, 'b')?.reason).toBe('INSTANCE_DUPLICATE');
  expect(bench.log.messages('debug')).toContain('Skipping host');
});

test('asks for neither Secret nor name while the Node of an accepted host is in service', async () => {
  await using bench = await started();
  const status = {
    phase: 'Ready',
    observedGeneration: 1,
    version: benchVersion,
    host: { name: 'win-1', addresses: [] },
    agent: { keyHash: 'a', installed: '2026-03-01T11:59:00Z', certificateEnds: '2036-03-01T12:00:00Z' },
  } as const;
  const annotations = { [nodeAnnotation.version]: benchVersion };
  await bench.put(nodes, { metadata: { name: 'win-1', labels: { 'kubernetes.io/os': 'windows' }, annotations } });
  const metadata = { name: 'win1', namespace, generation: 1 };
  const keySecret = { name: 'mine' };
  await bench.put(windowsInstances, {
    metadata,
    spec: { ...spec, keySecret },
    status: { ...status, host: { ...status.host, addresses: [] } },
  });
  expect(bench.api.calls.filter(({ resource }) => resource === 'secrets')).toEqual([]);
  expect(bench.instance('win1')?.status?.phase).toBe('Ready');
});
