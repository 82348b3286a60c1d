import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName, namespaceName } from '../../src/contract/names.ts';
import { instanceCondition } from '../../src/contract/windows-instance/resource.ts';
import type { Connect } from '../../src/host/host.ts';
import { findCondition } from '../../src/base/condition.ts';
import { configMaps, events, type KubeEvent } from '../../src/kube/resources.ts';
import type { FaultName } from '../../src/sandbox/machines/faults.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type FailingHost, failingHosts } from '../kit/failing-hosts.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { skippingClock } from '../kit/skipping-clock.ts';

/**
 * Hosts with different faults beside healthy ones: each reports its code and remedy, is retried with backoff,
 * and becomes a Node after the remedy is applied. The operator is never restarted.
 */

/** Faults that appear after half an hour. */
const slowHosts: readonly FailingHost[] = [
  {
    name: 'lost',
    faults: ['lost-in-reboot'],
    code: 'HOST_REBOOT_TIMEOUT',
    message: /did not come back after the reboot within 30 min/,
    remedy: /the operator continues once the host answers/,
    fix: ({ host }) => host.switchOn(),
  },
  {
    name: 'no-node',
    faults: ['no-node'],
    code: 'NODE_NOT_FOUND',
    message: /within 10 min/,
    remedy: /kubectl get csr/,
    fix: ({ host }) => host.change({ kubelet: 'works' }),
  },
];
/** Their events are on the ConfigMap; those of all others on the instance. */
const listed = ['refused', 'wrong-key', 'no-admin', 'clock-skew', 'new-key'];
const healthy: [name: string, faults: FaultName[]][] = [
  ['ok', []],
  ['ok-de', ['german']],
  ['ok-fr', ['french', 'powershell']],
  ['ok-jp', ['japanese']],
  ['ok-dropped', ['dropped-connection']],
  ['ok-power', ['power-cut']],
  ['ok-pending', ['pending-reboot']],
];

const clock = skippingClock();
const attempts = new Map<string, number[]>();
let sandbox: Sandbox;
let operator: SandboxOperator;
const patient = { timeout: 90_000, interval: 200 };

beforeAll(async () => {
  sandbox = await startSandbox({ listsHosts: false, machines: 1, speed: 20, faults: ['no-admin@winworker-1'] });
  const { namespace } = sandbox;
  // The lease must survive half an hour of skipped time.
  const lease = { leaseDurationMs: 3e7, renewDeadlineMs: 2e7, retryPeriodMs: 2000 };
  const settings = { lease, maxParallelJoins: 50 };
  operator = startOperator(sandbox, { payloadBytes: 400_000, clock, connect: impatient, settings });
  const all = [...failingHosts, ...slowHosts, ...healthy.map(([name, faults]) => ({ name, faults, traits: {} }))];
  for (const { name, faults = [], traits = {} } of all) {
    const host = await sandbox.addHost({ name, faults, traits });
    if (!listed.includes(name)) await operator.client.create(windowsInstances, instanceFor(host));
  }
  const entries = listed.map(name => [sandbox.host(name).spec.address, 'username=Administrator']);
  const data = Object.fromEntries(entries) as Record<string, string>;
  await operator.client.create(configMaps, { metadata: { name: configMapName.instances, namespace }, data });
});
afterAll(async () => {
  await operator?.stop();
  await sandbox?.stop();
});

function instanceFor({ spec }: SimulatedHost): WindowsInstance {
  const { address, name } = spec;
  return { metadata: { name, namespace: sandbox.namespace }, spec: { address, username: 'Administrator' } };
}

/** Records when each host is dialed, and shortens the wait for a command that hangs. */
const impatient: Connect = async (target, options) => {
  attempts.set(target.address, [...(attempts.get(target.address) ?? []), clock.monotonicMs()]);
  const connection = await sandbox.connect(target, options);
  const exec = connection.exec.bind(connection);
  if (target.address === sandbox.host('hung').spec.address)
    connection.exec = (command, how) =>
      exec(command, { ...how, ...(command.includes(' bootstrap ') && { timeoutMs: 2000 }) });
  return connection;
};

async function instanceOf(name: string): Promise<WindowsInstance | undefined> {
  const { address } = sandbox.host(name).spec;
  return (await operator.instances()).find(({ spec }) => spec.address === address);
}

const configuredReason = (instance: WindowsInstance | undefined) =>
  findCondition(instance?.status?.conditions, instanceCondition.configured)?.reason;
const reasonOf = async (name: string) => configuredReason(await instanceOf(name));
const phaseOf = async (name: string) => (await instanceOf(name))?.status?.phase;

/**
 * Skips time until no host is left, but only while those that are left wait: on a busy machine an attempt would end in
 * another step.
 */
async function skipWhileWaiting(left: () => Promise<WindowsInstance[]>): Promise<void> {
  let [before, quietRounds] = ['', 0];
  for (let round = 0; round < 2000; round += 1) {
    const waiting = await left();
    if (waiting.length === 0) return;
    const now = JSON.stringify(waiting.map(({ status }) => [status?.phase, status?.step, status?.progress]));
    quietRounds = now === before ? quietRounds + 1 : 0;
    before = now;
    const isIdle = waiting.every(({ status }) => status?.phase === 'Failed');
    if (isIdle || quietRounds > 30) clock.skip(isIdle ? 15_000 : 45_000);
    await delay(100);
  }
}

async function eventsAbout(kind: string, name: string, words: string): Promise<KubeEvent[]> {
  const spaces = [sandbox.namespace, namespaceName.machineApi];
  const lists = await Promise.all(spaces.map(namespace => operator.client.list(events, { namespace })));
  return lists
    .flatMap(({ items }) => items)
    .filter(
      ({ involvedObject: about, message = '' }) =>
        about.kind === kind && about.name === name && message.includes(words),
    );
}

/** Code, message and remedy must be in the condition, in the timeline and in an event. */
async function checkReported(
  { name, code, message, remedy }: FailingHost,
  instance: WindowsInstance | undefined,
): Promise<void> {
  const { address } = sandbox.host(name).spec;
  const condition = findCondition(instance?.status?.conditions, instanceCondition.configured);
  expect([condition?.status, condition?.reason]).toEqual(['False', code]);
  expect(condition?.message).toMatch(message);
  expect(condition?.message).toMatch(remedy);
  expect(condition?.message).toContain(address);
  const error = instance?.status?.timeline?.findLast(({ lastError }) => lastError !== undefined)?.lastError;
  expect([error?.code, error?.remedy]).toEqual([code, expect.stringMatching(/\.$/)]);
  const [kind, object] = listed.includes(name) ? ['ConfigMap', configMapName.instances] : ['WindowsInstance', name];
  await expect
    .poll(async () => (await eventsAbout(kind, object, `${code}: `)).map(({ type, reason }) => [type, reason]), patient)
    .toContainEqual(['Warning', 'InstanceSetupFailure']);
}

test.each(healthy)('%s is not disturbed and becomes a Node', async name => {
  await expect.poll(() => phaseOf(name), patient).toBe('Ready');
});

test.each(failingHosts)('reports $name as $code with a remedy', async failing => {
  await expect.poll(() => reasonOf(failing.name), patient).toBe(failing.code);
  await checkReported(failing, await instanceOf(failing.name));
});

test('rejects a host with the name of another Node before it is changed', async () => {
  const host = await sandbox.addHost({ name: 'twin', traits: { hostName: 'OK' } });
  await operator.client.create(windowsInstances, instanceFor(host));
  await expect.poll(() => reasonOf('twin'), patient).toBe('NODE_NAME_TAKEN');
  const twin = {
    name: 'twin',
    code: 'NODE_NAME_TAKEN',
    message: /the host name ok is already the Node of ok/,
    remedy: /Rename one of the two hosts/,
    fix: () => undefined,
  };
  await checkReported(twin, await instanceOf('twin'));
});

test('a changed host key causes an event SSHHostKeyChanged', async () => {
  const about = await eventsAbout('ConfigMap', configMapName.instances, sandbox.host('new-key').spec.address);
  expect(about.map(({ reason }) => reason)).toContain('SSHHostKeyChanged');
});

test('reports the failure of a Machine on the Machine and the details on the instance', async () => {
  const machine = () => sandbox.hosts.find(({ spec }) => spec.name.startsWith('winworker'))?.spec.name ?? '';
  await expect.poll(machine, patient).not.toBe('');
  await expect.poll(() => reasonOf(machine()), patient).toBe('HOST_NOT_ADMINISTRATOR');
  const eventReasons = async (kind: string, words: string) =>
    (await eventsAbout(kind, machine(), words)).map(({ reason }) => reason);
  await expect.poll(() => eventReasons('Machine', 'configuration failure'), patient).toContain('MachineSetupFailure');
  await expect
    .poll(() => eventReasons('WindowsInstance', 'HOST_NOT_ADMINISTRATOR'), patient)
    .toContain('InstanceSetupFailure');
});

test('reports failures that appear after half an hour', async () => {
  // The next attempt may fail with another code.
  const reported = new Map<string, WindowsInstance>();
  const left = async () => {
    const waiting: WindowsInstance[] = [];
    for (const { name, code } of slowHosts) {
      const instance = await instanceOf(name);
      if (instance === undefined) throw new Error(`there is no instance for ${name}`);
      if (configuredReason(instance) === code) reported.set(name, instance);
      if (!reported.has(name)) waiting.push(instance);
    }
    return waiting;
  };
  await skipWhileWaiting(left);
  for (const slow of slowHosts) await checkReported(slow, reported.get(slow.name));
}, 180_000);

/** Five seconds, doubled up to five minutes, with 20 % jitter. */
const leastMs = (retry: number) => 0.75 * Math.min(5000 * 2 ** retry, 300_000);

test('retries a failing host with backoff up to five minutes', async () => {
  for (let skippedMs = 0; skippedMs < 40 * 60_000; skippedMs += 30_000) {
    clock.skip(30_000);
    await delay(50);
  }
  for (const name of ['refused', 'no-ssh', 'wrong-key', 'password', 'no-admin', 'clock-skew', 'foreign-1']) {
    const times = attempts.get(sandbox.host(name).spec.address) ?? [];
    const gapsMs = times.slice(1).map((ms, index) => ms - (times[index] ?? 0));
    expect([name, gapsMs.length > 6]).toEqual([name, true]);
    expect([name, gapsMs.filter((ms, retry) => ms < leastMs(retry))]).toEqual([name, []]);
  }
}, 180_000);

test('healthy hosts are not touched meanwhile', async () => {
  for (const [name] of healthy) expect([name, await phaseOf(name)]).toEqual([name, 'Ready']);
  const { address } = sandbox.host('ok').spec;
  expect(attempts.get(address)).toHaveLength(1);
});

test('each host becomes a Node after its remedy is applied', async () => {
  const repair = { client: operator.client, namespace: sandbox.namespace, skipTime: () => clock.skip(15_000) };
  for (const { name, fix } of [...failingHosts, ...slowHosts]) await fix({ ...repair, host: sandbox.host(name) });
  sandbox.host('twin').state.hostName = 'other';
  const [machine] = sandbox.hosts.filter(({ spec }) => spec.name.startsWith('winworker'));
  machine?.change({ isAdministrator: true });
  const left = async () => (await operator.instances()).filter(({ status }) => status?.phase !== 'Ready');
  await skipWhileWaiting(left);
  expect((await left()).map(({ metadata, status }) => [metadata.name, status?.step, status?.conditions])).toEqual([]);
}, 240_000);
