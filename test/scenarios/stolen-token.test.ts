import { createPrivateKey, type KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentIdentity } from '../../src/agent/identity/kept-identity.ts';
import { createKey } from '../../src/agent/identity/key.ts';
import { prepareRequest } from '../../src/agent/identity/request.ts';
import { nodeLabel } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import type { Client } from '../../src/kube/client.ts';
import { findCondition } from '../../src/base/condition.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { certificateSigningRequests, configMaps, events, type Node, nodes, secrets } from '../../src/kube/resources.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { skippingClock } from '../kit/skipping-clock.ts';

/** Somebody has taken over a host right after it has joined, and with it the token that brought it into the cluster. */

const clock = skippingClock();
let sandbox: Sandbox;
let operator: SandboxOperator;
let thief: Client;
const requests = certificateSigningRequests;

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: 2, machines: 1, speed: 10, clock });
  // A leader that sleeps for a while is one all the same.
  const lease = { leaseDurationMs: 3e7, renewDeadlineMs: 2e7, retryPeriodMs: 2000 };
  operator = startOperator(sandbox, { clock, settings: { lease } });
  await operator.allReady(3);
  thief = createClient(loadKubeconfig((await sandbox.host('win-1').files.read(file.agentKubeconfig)) ?? ''));
});
afterAll(async () => {
  await thief?.close();
  await operator?.stop();
  await sandbox?.stop();
});

const annotate = { type: 'merge', body: { metadata: { annotations: { mine: 'yes' } } } } as const;
const isWindows = ({ metadata }: Node) => metadata.labels?.[nodeLabel.os] === 'windows';
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error: { code?: number }) => error.code,
  );

async function ask(node: string, key: KeyObject = createKey().key): Promise<string> {
  const { metadata } = await thief.create(requests, prepareRequest(agentIdentity(node), key, 3_600_000));
  return metadata.name ?? '';
}

/** Waits for what comes of a request: `Approved`, or the event that says why not. */
async function verdictOn(name: string): Promise<string> {
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await delay(50)) {
    const { status } = await operator.client.get(requests, name);
    if (findCondition(status?.conditions, 'Approved') !== undefined) return 'Approved';
    const { items } = await operator.client.list(events, { namespace: 'default' });
    const event = items.find(({ involvedObject }) => involvedObject.name === name);
    if (event !== undefined) return `${event.reason} ${event.message}`;
  }
  throw new Error(`nobody has decided about ${name}`);
}

test('the token alone gets no certificate, not even for the host it was made for', async () => {
  const name = await ask('win-1');
  // The record of a key may come after the request, so the verdict does.
  await expect.poll(async () => (await operator.client.get(requests, name)).status?.conditions).toBeUndefined();
  clock.skip(40_000);
  expect(await verdictOn(name)).toMatch(/^CSRRefused .*\(key\)/);
});

test('with the key of the host it gets the certificate of that host', async () => {
  const pem = (await sandbox.host('win-1').files.read(file.agentKey)) ?? '';
  expect(await verdictOn(await ask('win-1', createPrivateKey(pem)))).toBe('Approved');
});

test('it gets none for another host, and the refusal names both', async () => {
  expect(await verdictOn(await ask('win-2'))).toMatch(/^CSRRefused .*\(token\).*win-2/);
});

test('nor for the host of a Machine', async () => {
  const { items } = await operator.client.list(nodes);
  const names = items.filter(isWindows).map(({ metadata }) => metadata.name ?? '');
  const [machine = '', ...others] = names.filter(name => !['win-1', 'win-2'].includes(name));
  expect(others).toEqual([]);
  expect(await verdictOn(await ask(machine))).toMatch(/^CSRRefused .*\(token\)/);
});

const greedy: [what: string, ask: () => Promise<unknown>][] = [
  ['list Nodes', () => thief.list(nodes)],
  ['read its own Node', () => thief.get(nodes, 'win-1')],
  ['list ConfigMaps', () => thief.list(configMaps, { namespace: sandbox.namespace })],
  ['mark its own Node', () => thief.patch(nodes, 'win-1', annotate)],
  ['mark another Node', () => thief.patch(nodes, 'win-2', annotate)],
  ['change the status of another Node', () => thief.patch(nodes, 'win-2', annotate, { subresource: 'status' })],
  ['delete a Node', () => thief.delete(nodes, 'win-2')],
  ['read Secrets', () => thief.list(secrets, { namespace: sandbox.namespace })],
  ['write a ConfigMap', () => thief.create(configMaps, { metadata: { name: 'x', namespace: sandbox.namespace } })],
  ['read ConfigMaps elsewhere', () => thief.list(configMaps, { namespace: 'default' })],
];
for (const [what, ask] of greedy) {
  test(`it does not let the thief ${what}`, async () => expect(await codeOf(ask())).toBe(403));
}
