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

/** An attacker takes over a host right after it joined, with the token that it joined with. */

const clock = skippingClock();
let sandbox: Sandbox;
let operator: SandboxOperator;
let thief: Client;
const requests = certificateSigningRequests;

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: 2, machines: 1, speed: 10, clock });
  // The lease must survive skipped time.
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

/** Waits for the result of a request: `Approved`, or the event of the refusal. */
async function verdictOn(name: string): Promise<string> {
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await delay(50)) {
    const { status } = await operator.client.get(requests, name);
    if (findCondition(status?.conditions, 'Approved') !== undefined) return 'Approved';
    const { items } = await operator.client.list(events, { namespace: 'default' });
    const event = items.find(({ involvedObject }) => involvedObject.name === name);
    if (event !== undefined) return `${event.reason} ${event.message}`;
  }
  throw new Error(`no decision about ${name}`);
}

test('the token without the key gets no certificate, not even for its own host', async () => {
  const name = await ask('win-1');
  // The decision waits because the key may be recorded after the request.
  await expect.poll(async () => (await operator.client.get(requests, name)).status?.conditions).toBeUndefined();
  clock.skip(40_000);
  expect(await verdictOn(name)).toMatch(/^CSRRefused .*\(key\)/);
});

test('the token with the key gets the certificate of its host', async () => {
  const pem = (await sandbox.host('win-1').files.read(file.agentKey)) ?? '';
  expect(await verdictOn(await ask('win-1', createPrivateKey(pem)))).toBe('Approved');
});

test('the token gets no certificate for another host, and the refusal names both', async () => {
  expect(await verdictOn(await ask('win-2'))).toMatch(/^CSRRefused .*\(token\).*win-2/);
});

test('the token gets no certificate for the host of a Machine', async () => {
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
  test(`the token does not allow an attacker to ${what}`, async () => expect(await codeOf(ask())).toBe(403));
}
