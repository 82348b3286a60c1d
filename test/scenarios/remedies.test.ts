import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName, namespaceName } from '../../src/contract/names.ts';
import { instanceCondition } from '../../src/contract/windows-instance/resource.ts';
import type { Connect } from '../../src/host/host.ts';
import { findCondition } from '../../src/base/condition.ts';
import { configMaps, events, type KubeEvent } from '../../src/kube/resources.ts';
import { endFaultAnnotation } from '../../src/sandbox/machines/cluster/end-faults.ts';
import { type FaultName, faults } from '../../src/sandbox/machines/faults.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { expectations, type FailingHost, otherHosts } from '../kit/failing-hosts.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { skippingClock } from '../kit/skipping-clock.ts';

/**
 * Hosts with every fault of the sandbox beside healthy ones: each becomes a Node in spite of it, or reports its code and
 * remedy, is retried with backoff, and becomes a Node after the remedy is applied. The operator is never restarted.
 */

const faultNames = Object.keys(faults) as FaultName[];
const problemOf = (fault: FaultName) => (expectations[fault] === 'Ready' ? undefined : expectations[fault]);
const faultyHosts: readonly FailingHost[] = faultNames.flatMap(name => {
  const problem = problemOf(name);
  return problem === undefined ? [] : [{ ...problem, name, faults: [name, ...(problem.together ?? [])] }];
});
const failingHosts = [...faultyHosts, ...otherHosts];
const slowHosts = failingHosts.filter(({ slow }) => slow !== undefined);
/** Their events are on the ConfigMap; those of all others on the instance. */
const listed = ['refused', 'wrong-key', 'no-admin', 'clock-skew', 'changed-host-key'];
const healthy: [name: string, faults: FaultName[]][] = [
  ['ok', []],
  ['ok-fr', ['french', 'powershell']],
  ...faultNames.filter(name => problemOf(name) === undefined).map((name): [string, FaultName[]] => [name, [name]]),
];

const clock = skippingClock();
const attempts = new Map<string, number[]>();
/** The first report of each problem: a later attempt may fail with another code, or succeed. */
const reported = new Map<string, WindowsInstance>();
/** The first hint about each step that took more than twice the usual time. */
const hints = new Map<string, WindowsInstance['status']>();
const ending = new AbortController();
let sandbox: Sandbox;
let operator: SandboxOperator;
const patient = { timeout: 90_000, interval: 200 };

beforeAll(async () => {
  sandbox = await startSandbox({ listsHosts: false, machines: 1, speed: 20, faults: ['no-admin@winworker-1'] });
  const { namespace } = sandbox;
  // The lease must survive half an hour of skipped time.
  const lease = { leaseDurationMs: 3e7, renewDeadlineMs: 2e7, retryPeriodMs: 2000 };
  const settings = { lease, maxParallelJoins: 60 };
  operator = startOperator(sandbox, { payloadBytes: 400_000, clock, connect: impatient, settings });
  const all = [...failingHosts, ...healthy.map(([name, given]) => ({ name, faults: given, traits: {} }))];
  for (const { name, faults: given = [], traits = {} } of all) {
    const host = await sandbox.addHost({ name, faults: given, traits });
    if (!listed.includes(name)) await operator.client.create(windowsInstances, instanceFor(host));
  }
  const entries = listed.map(name => [sandbox.host(name).spec.address, 'username=Administrator']);
  const data = Object.fromEntries(entries) as Record<string, string>;
  await operator.client.create(configMaps, { metadata: { name: configMapName.instances, namespace }, data });
  void keepRecording(ending.signal);
});
afterAll(async () => {
  ending.abort();
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
  if (target.address === sandbox.host('hung-command').spec.address)
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

async function recordReports(): Promise<WindowsInstance[]> {
  const instances = await operator.instances();
  for (const { name, code, slow } of failingHosts) {
    const instance = instances.find(({ spec }) => spec.address === sandbox.host(name).spec.address);
    if (!reported.has(name) && instance !== undefined && configuredReason(instance) === code)
      reported.set(name, instance);
    // On a busy machine an earlier step may be slow, too.
    const isHint = instance?.status?.activity?.remedy !== undefined && instance.status.step === slow?.step;
    if (!hints.has(name) && isHint) hints.set(name, instance.status);
  }
  return instances;
}

async function keepRecording(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await recordReports().catch(() => undefined);
    await delay(200);
  }
}

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

test.each(failingHosts.filter(({ slow }) => slow === undefined))(
  'reports $name as $code with a remedy',
  async failing => {
    await expect.poll(() => reported.has(failing.name), patient).toBe(true);
    await checkReported(failing, reported.get(failing.name));
  },
);

test('rejects a host with the name of another Node before it is changed', async () => {
  const host = await sandbox.addHost({ name: 'twin', traits: { hostName: 'OK' } });
  await operator.client.create(windowsInstances, instanceFor(host));
  await expect.poll(() => reasonOf('twin'), patient).toBe('NODE_NAME_TAKEN');
  const twin = {
    name: 'twin',
    code: 'NODE_NAME_TAKEN',
    message: /the host name ok is already the Node of ok/,
    remedy: /Rename one of the two hosts/,
  };
  await checkReported(twin, await instanceOf('twin'));
});

test('a changed host key causes an event SSHHostKeyChanged', async () => {
  const about = await eventsAbout('ConfigMap', configMapName.instances, sandbox.host('changed-host-key').spec.address);
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
  // Read before each skip: the attempt after it may fail with another code.
  const left = async () => {
    const instances = await recordReports();
    const missing = slowHosts.filter(({ name }) => !reported.has(name));
    const addresses = missing.map(({ name }) => sandbox.host(name).spec.address);
    return instances.filter(({ spec }) => addresses.includes(spec.address));
  };
  await skipWhileWaiting(left);
  for (const failing of slowHosts) await checkReported(failing, reported.get(failing.name));
}, 180_000);

test.each(slowHosts)('$name has a hint with the remedy long before it fails', ({ name, slow, remedy }) => {
  const status = hints.get(name);
  expect(status?.step).toBe(slow?.step);
  expect(status?.activity).toMatchObject({
    waitsFor: expect.stringMatching(slow?.waitsFor ?? '') as string,
    remedy: expect.stringMatching(remedy) as string,
  });
  const { usualSeconds = 0, limitSeconds } = status?.activity ?? {};
  expect(2 * usualSeconds).toBeLessThan(limitSeconds ?? 0);
  const ready = findCondition(status?.conditions, instanceCondition.ready);
  expect([ready?.reason, ready?.message]).toEqual(['SlowStep', expect.stringContaining('usually')]);
});

/** Five seconds, doubled up to five minutes, with 20 % jitter. */
const leastMs = (retry: number) => 0.75 * Math.min(5000 * 2 ** retry, 300_000);

test('retries a failing host with backoff up to five minutes', async () => {
  const failing = ['refused', 'no-ssh', 'wrong-key', 'password-only', 'no-admin', 'clock-skew', 'foreign-containerd'];
  const timesOf = (name: string) => attempts.get(sandbox.host(name).spec.address) ?? [];
  const isEnough = () => failing.every(name => timesOf(name).length > 7);
  // A busy machine needs longer for each attempt.
  for (let skippedMs = 0; skippedMs < 40 * 60_000 || (!isEnough() && skippedMs < 400 * 60_000); skippedMs += 30_000) {
    clock.skip(30_000);
    await delay(50);
  }
  for (const name of failing) {
    const times = timesOf(name);
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

/** As `kubectl annotate` does it. */
async function endFaults({ spec }: SimulatedHost): Promise<void> {
  const instance = (await operator.instances()).find(each => each.spec.address === spec.address);
  const metadata = { annotations: { [endFaultAnnotation]: 'all' } };
  const { namespace } = sandbox;
  await operator.client.patch(
    windowsInstances,
    instance?.metadata.name ?? '',
    { type: 'merge', body: { metadata } },
    { namespace },
  );
}

test('each host becomes a Node after its remedy is applied', async () => {
  const { client } = operator;
  const repair = { client, namespace: sandbox.namespace, skipTime: () => clock.skip(15_000) };
  for (const { name, fix, fixInCluster } of failingHosts) {
    fix?.(sandbox.host(name));
    await fixInCluster?.({ ...repair, host: sandbox.host(name) });
  }
  sandbox.host('twin').state.hostName = 'other';
  for (const host of sandbox.hosts) await endFaults(host);
  const left = async () => (await operator.instances()).filter(({ status }) => status?.phase !== 'Ready');
  await skipWhileWaiting(left);
  expect((await left()).map(({ metadata, status }) => [metadata.name, status?.step, status?.conditions])).toEqual([]);
  for (const { spec } of sandbox.hosts) expect([spec.name, sandbox.faultsOf(spec.name)]).toEqual([spec.name, []]);
}, 240_000);
