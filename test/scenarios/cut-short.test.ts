import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentName, nodeAnnotation } from '../../src/contract/names.ts';
import { nodes } from '../../src/kube/resources.ts';
import type { Mishap } from '../../src/sandbox/machines/traits.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { ManualSandboxOperator } from '../kit/manual-sandbox-operator.ts';

/** A join can be interrupted anywhere and succeeds when it is repeated. */

let sandbox: Sandbox;
let operator: ManualSandboxOperator;
let count = 0;

beforeAll(async () => {
  sandbox = await startSandbox({ speed: 20 });
  operator = await ManualSandboxOperator.start(sandbox);
});
afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  await sandbox?.stop();
});

const patient = { interval: 50 };

async function hostWith(mishaps: Mishap[]) {
  count += 1;
  return sandbox.addHost({ name: `cut-${count}`, traits: { mishaps } });
}

const moments: [string, Mishap][] = [
  ['the connection breaks at the first question', { kind: 'drop', on: 'inventory', times: 1 }],
  ['the connection breaks while files are put in place', { kind: 'drop', on: 'stage', times: 1 }],
  ['the connection breaks at bootstrap', { kind: 'drop', on: 'bootstrap', times: 1 }],
  ['the connection breaks when the agent is installed', { kind: 'drop', on: 'install', times: 1 }],
  ['the connection breaks early in an upload', { kind: 'drop', on: 'upload', times: 1, afterBytes: 1 }],
  ['the connection breaks late in an upload', { kind: 'drop', on: 'upload', times: 1, afterBytes: 150_000 }],
  ['the power fails in an upload', { kind: 'power cut', on: 'upload', times: 1, afterBytes: 100_000 }],
  ['the power fails while files are put in place', { kind: 'power cut', on: 'stage', times: 1 }],
  ['the power fails at bootstrap', { kind: 'power cut', on: 'bootstrap', times: 1 }],
  ['the power fails when the agent is installed', { kind: 'power cut', on: 'install', times: 1 }],
];
for (const [name, mishap] of moments) {
  test(`${name}: the second attempt succeeds`, async () => {
    const host = await hostWith([mishap]);
    await expect(operator.join(host.spec.address)).rejects.toMatchObject({ code: 'HOST_CONNECTION_LOST' });
    await expect.poll(() => host.isOn, patient).toBe(true);
    expect(await operator.join(host.spec.address)).toBe(host.spec.name);
    const services = (await host.services.list()).map(each => each.name);
    expect(services.filter(each => each === agentName)).toHaveLength(1);
    expect(host.stats.reboots).toBe(mishap.kind === 'power cut' ? 1 : 0);
  });
}

test('a host with several faults joins in the end', async () => {
  const host = await hostWith(moments.map(([, mishap]) => mishap));
  let attempts = 0;
  for (let isDone = false; !isDone; attempts += 1) {
    await expect.poll(() => host.isOn, patient).toBe(true);
    isDone = await operator.join(host.spec.address).then(
      () => true,
      () => false,
    );
    expect(attempts).toBeLessThan(20);
  }
  expect(attempts).toBe(moments.length + 1);
  const { metadata } = await operator.client.get(nodes, host.spec.name);
  expect(metadata.annotations?.[nodeAnnotation.version]).toBe(operator.version);
});

test('a Ready host survives repeated power cuts', async () => {
  const host = await hostWith([]);
  await operator.join(host.spec.address);
  for (const pauseMs of [0, 30, 100, 300]) {
    await new Promise(resolve => setTimeout(resolve, pauseMs));
    host.cutPower();
    await expect.poll(() => host.isOn, patient).toBe(true);
  }
  for (const name of ['containerd', 'kubelet', 'hybrid-overlay-node', 'kube-proxy', agentName]) {
    await expect.poll(async () => [name, (await host.services.query(name))?.state], patient).toEqual([name, 'running']);
  }
  expect(host.stats.reboots).toBe(4);
  const { metadata } = await operator.client.get(nodes, host.spec.name);
  expect(metadata.annotations?.[nodeAnnotation.version]).toBe(operator.version);
});
