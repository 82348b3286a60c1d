import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { WindowsInstance } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName } from '../../src/contract/names.ts';
import { instanceCondition } from '../../src/contract/windows-instance/resource.ts';
import { findCondition } from '../../src/base/condition.ts';
import { certificateSigningRequests, configMaps, events, nodes } from '../../src/kube/resources.ts';
import type { FaultName } from '../../src/sandbox/machines/faults.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** Fifty entries at once, seven of them bad: bad ones do not delay the others, and each reports its problem. */

const good = 43;
const dead: [FaultName, code: string][] = [
  ['unreachable', 'HOST_UNREACHABLE'],
  ['unreachable', 'HOST_UNREACHABLE'],
  ['refused', 'HOST_UNREACHABLE'],
  ['no-ssh', 'HOST_NOT_SSH'],
  ['wrong-key', 'HOST_REFUSED_KEY'],
];
const [unknownName, malformed] = ['nowhere.example.com', '10.9.9.9'];
const payloadBytes = 500_000;
const patient = { timeout: 110_000, interval: 500 };

let sandbox: Sandbox;
let operator: SandboxOperator;
let instances: WindowsInstance[];

beforeAll(async () => {
  const faults = dead.map(([fault], index) => `${fault}@win-${good + 1 + index}`);
  sandbox = await startSandbox({ hosts: good + dead.length, speed: 10, faults, listsHosts: false });
  operator = startOperator(sandbox, { payloadBytes });
  const listed = sandbox.hosts.map(({ spec }) => [addressOf(spec.name), `username=${spec.user}`]);
  const data = {
    ...(Object.fromEntries(listed) as Record<string, string>),
    [unknownName]: 'username=Administrator',
    [malformed]: 'user is Administrator',
  };
  const { namespace } = sandbox;
  await operator.client.create(configMaps, { metadata: { name: configMapName.instances, namespace }, data });
  await vi.waitFor(async () => {
    instances = await operator.instances();
    expect([ready().length, troubled().length]).toEqual([good, dead.length + 1]);
  }, patient);
}, 150_000);
afterAll(async () => {
  await operator?.stop();
  await sandbox?.stop();
});

const ready = () => instances.filter(({ status }) => status?.phase === 'Ready');
/** A retried host still shows its last problem. */
const troubled = () =>
  instances.filter(one => conditionOf(one)?.status === 'False' && conditionOf(one)?.reason !== 'Configuring');
const conditionOf = (instance: WindowsInstance | undefined) =>
  findCondition(instance?.status?.conditions, instanceCondition.configured);
const configuredOf = (address: string) => conditionOf(instances.find(({ spec }) => spec.address === address));

function addressOf(name: string): string {
  const { address, dnsSuffix } = sandbox.host(name).spec;
  return dnsSuffix === '' ? address : `${name}.${dnsSuffix}`;
}

test('every good host becomes a Node with its own name, and there are no others', async () => {
  const { items } = await operator.client.list(nodes, { labelSelector: 'kubernetes.io/os=windows' });
  const names = items.map(({ metadata }) => metadata.name);
  const wanted = Array.from({ length: good }, (_, index) => `win-${index + 1}`);
  expect(new Set(names)).toEqual(new Set(wanted));
  expect(names).toHaveLength(good);
  expect(new Set(ready().map(({ status }) => status?.node))).toEqual(new Set(wanted));
});

test('each dead host and the unknown name report problem and remedy', () => {
  const conditions = dead.map((_, index) => configuredOf(addressOf(`win-${good + 1 + index}`)));
  expect(conditions.map(condition => [condition?.status, condition?.reason])).toEqual(
    dead.map(([, code]) => ['False', code]),
  );
  expect(configuredOf(unknownName)).toMatchObject({ status: 'False', reason: 'INSTANCE_ADDRESS_UNRESOLVED' });
  for (const condition of conditions) expect(condition?.message).toMatch(/\. [A-Z][^.]+\./);
});

test('the malformed entry causes an event and no instance', async () => {
  expect(instances.map(({ spec }) => spec.address)).not.toContain(malformed);
  expect(instances).toHaveLength(good + dead.length + 1);
  const { items } = await operator.client.list(events, { namespace: sandbox.namespace });
  const failures = items.filter(
    ({ reason, message }) => reason === 'InstanceSetupFailure' && message?.includes(malformed),
  );
  expect(failures).not.toEqual([]);
});

test('a good host gets at most eight sessions over one connection, and the payload once', () => {
  for (const host of sandbox.hosts.slice(0, good)) {
    const { execSessions, sftpSessions, connections, reboots, uploadedBytes, uploads } = host.stats;
    expect([host.spec.name, execSessions + sftpSessions <= 8, reboots]).toEqual([host.spec.name, true, 0]);
    // The agent, the programs, and the small files.
    expect([connections, uploads]).toEqual([1, 3]);
    expect(uploadedBytes).toBeGreaterThan(payloadBytes * 0.9);
    expect(uploadedBytes).toBeLessThan(payloadBytes + 100_000);
  }
});

test('no host is connected only to request its name', () => {
  for (const { stats } of sandbox.hosts.slice(0, good)) {
    expect(stats.verbs.filter(verb => verb !== 'controller')).toEqual([
      'inventory',
      'secure',
      'stage',
      'stage',
      'bootstrap',
      'install',
    ]);
  }
});

test('a host that rejected the login gets no command', () => {
  for (const { stats } of sandbox.hosts.slice(good)) {
    expect([stats.execSessions, stats.sftpSessions, stats.uploads]).toEqual([0, 0, 0]);
  }
});

test('every certificate request is approved', async () => {
  const { items } = await operator.client.list(certificateSigningRequests);
  expect(items.length).toBeGreaterThanOrEqual(3 * good);
  for (const { status } of items) expect(status?.conditions?.map(({ type }) => type)).toEqual(['Approved']);
});
