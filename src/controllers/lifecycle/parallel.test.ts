import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { controllerMetrics } from '#kube/controller/controller.ts';
import { Informers } from '#kube/informer/informers.ts';
import { hostMetrics } from '#node/lifecycle/host-session.ts';
import { stepMetrics } from '#node/lifecycle/step.ts';
import { type JoinLab, namespace, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import { memoryPayload } from '../../../test/kit/lifecycle/memory-payload.ts';
import { until } from '../../../test/kit/until.ts';

const addressOf = (number: number) => `10.0.1.${number}`;
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** Makes so many instances, and hosts for all but those that are dead. */
async function addMany(lab: JoinLab, count: number, isDead: (number: number) => boolean = () => false): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    if (!isDead(number)) lab.host(addressOf(number));
    await lab.add({ address: addressOf(number) }, `win-${number}`);
  }
}

async function countOf(lab: JoinLab, phase: string): Promise<number> {
  const { items } = await lab.client.list(windowsInstances, { namespace });
  return items.filter(({ status }) => status?.phase === phase).length;
}

test('hosts that do not answer, or hang, keep no other from joining', async () => {
  const lab = await startJoinLab();
  await addMany(lab, 12, number => number % 4 === 0);
  const hung = lab.host(addressOf(1));
  hung.faults.exec = () => new Promise(() => undefined);
  lab.start({ limits: { joins: 3 } });
  await until(async () => (await countOf(lab, 'Ready')) === 8);
  await until(async () => (await countOf(lab, 'Failed')) === 3);
  expect((await lab.instance('win-1')).status?.phase).toBe('Configuring');
});

test('a host that waits for the cluster keeps no other from a slot', async () => {
  const lab = await startJoinLab();
  await addMany(lab, 4);
  lab.behavior.noNode = true;
  lab.start({ limits: { joins: 1 } });
  const steps = async () => (await lab.client.list(windowsInstances, { namespace })).items.map(one => one.status?.step);
  await until(async () => (await steps()).every(step => step === 'find node'));
  lab.behavior.noNode = false;
  lab.look();
  await until(async () => (await countOf(lab, 'Ready')) === 4);
});

test('a host that does not come back from its reboot keeps no other from a slot', async () => {
  const lab = await startJoinLab();
  for (const number of [1, 2, 3, 4]) {
    const host = lab.host(addressOf(number));
    // The first two hosts reboot for their name, and for longer than the test.
    host.bootMs = 10 * 60_000;
    const hostname = number < 3 ? { hostname: `renamed-${number}` } : {};
    await lab.add({ address: addressOf(number), ...hostname }, `win-${number}`);
  }
  lab.start({ limits: { joins: 1 } });
  await until(async () => (await countOf(lab, 'Ready')) === 2);
  const steps = async () => [(await lab.instance('win-1')).status?.step, (await lab.instance('win-2')).status?.step];
  await until(async () => (await steps()).every(step => step === 'reboot'));
});

test('no more hosts than allowed are set up at once, and those that wait say so', async () => {
  const lab = await startJoinLab();
  await addMany(lab, 8);
  const working = new Set<string>();
  let most = 0;
  for (const host of lab.hosts.values()) {
    host.faults.exec = async command => {
      // A turn ends with the bootstrap.
      const isHostWork = /inventory|stage|bootstrap/.test(command);
      if (isHostWork) working.add(host.address);
      most = Math.max(most, working.size);
      await pause(5);
      if (command.includes(' bootstrap ')) working.delete(host.address);
      return undefined;
    };
  }
  const messages = new Set<string>();
  const informers = new Informers({ client: lab.client });
  informers.get(windowsInstances, { namespace }).addHandler({
    updated: (_old, { status }) => messages.add(status?.conditions?.find(one => one.type === 'Ready')?.message ?? ''),
  });
  informers.start();
  lab.start({ limits: { joins: 3 } });
  await until(async () => (await countOf(lab, 'Ready')) === 8);
  await informers.stop();
  expect(most).toBe(3);
  expect([...messages].some(text => text.startsWith('queued: 3 hosts are being configured'))).toBe(true);
});

test('no more uploads than allowed go on at once', async () => {
  const lab = await startJoinLab();
  await addMany(lab, 5);
  let [now, most] = [0, 0];
  for (const host of lab.hosts.values()) {
    host.faults.upload = async path => {
      // Bundles are small here and need not wait.
      if (!path.endsWith('.exe')) return;
      now += 1;
      most = Math.max(most, now);
      await pause(10);
      now -= 1;
    };
  }
  lab.start({ limits: { uploads: 2 } });
  await until(async () => (await countOf(lab, 'Ready')) === 5);
  expect(most).toBe(2);
});

test('progress of an upload shows in bytes, and the status is written about once a second at most', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  // Half a second of the operator's time between pieces.
  const agent = await memoryPayload().agent();
  const content = async function* slowly() {
    for (let piece = 0; piece < 40; piece += 1) {
      await pause(25);
      yield new Uint8Array(50);
    }
  };
  const whole = new Uint8Array(2000);
  const seen: WindowsInstanceStatus[] = [];
  const informers = new Informers({ client: lab.client });
  informers.get(windowsInstances, { namespace }).addHandler({
    updated: (_old, { status }) => void (status?.step === 'agent program' && seen.push(status)),
  });
  informers.start();
  lab.start({
    payload: {
      ...memoryPayload(),
      agent: async () => ({ ...agent, bytes: whole.length, sha256: sha256(whole), content }),
    },
  });
  const startMs = performance.now();
  await lab.add();
  await until(async () => (await lab.instance()).status?.phase === 'Ready');
  await informers.stop();
  const bytes = seen.flatMap(({ progress }) => (progress === undefined ? [] : [progress.bytes]));
  expect(bytes.length).toBeGreaterThan(3);
  expect(bytes).toEqual(bytes.toSorted((one, other) => one - other));
  expect(seen.at(-1)?.progress?.totalBytes).toBe(2000);
  // The clock of the operator is twenty times faster.
  const seconds = ((performance.now() - startMs) / 1000) * 20;
  expect(seen.length).toBeLessThanOrEqual(seconds + 6);
  expect(host.uploads[0]).toContain('.exe');
});

test('steps, commands and connections are measured', async () => {
  const lab = await startJoinLab();
  lab.host();
  lab.start();
  await lab.add();
  await until(async () => (await countOf(lab, 'Ready')) === 1);
  const { metrics } = lab;
  expect(metrics.read(stepMetrics.seconds, { step: 'bootstrap', result: 'done' })).toBe(1);
  expect(metrics.read(hostMetrics.commandSeconds, { verb: 'stage' })).toBe(2);
  expect(metrics.read(hostMetrics.connectSeconds, {})).toBe(1);
  expect(metrics.read(hostMetrics.uploadSeconds, {})).toBe(3);
  expect(metrics.read(hostMetrics.uploadedBytes, {})).toBeGreaterThan(2000);
  expect(metrics.read(controllerMetrics.errors, { controller: 'lifecycle' })).toBe(0);
});

test('twenty hosts join at once, each in its own Node', async () => {
  const lab = await startJoinLab();
  await addMany(lab, 20);
  lab.start();
  await until(async () => (await countOf(lab, 'Ready')) === 20);
  const { items } = await lab.client.list(windowsInstances, { namespace });
  expect(new Set(items.map(({ status }) => status?.node)).size).toBe(20);
  for (const host of lab.hosts.values()) {
    expect([host.connectionCount, host.openConnections]).toEqual([1, 0]);
    expect(host.commands.length + 1).toBeLessThanOrEqual(15);
  }
});
