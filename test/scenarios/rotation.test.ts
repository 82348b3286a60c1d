import { expect, test } from 'vitest';
import { toBase64 } from '../../src/base/bytes.ts';
import { type WindowsInstance, windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { instanceCondition } from '../../src/contract/windows-instance/resource.ts';
import { findCondition } from '../../src/base/condition.ts';
import { machineLabel, namespaceName, nodeAnnotation, secretName } from '../../src/contract/names.ts';
import { authorizedKeysFile } from '../../src/contract/paths.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { printPublicKey, publicKeyHash } from '../../src/host/keys/public-key.ts';
import { openUsername } from '../../src/host/keys/username-seal.ts';
import type { Client } from '../../src/kube/client.ts';
import type { WatchEvent } from '../../src/kube/resource.ts';
import { events, type Node, nodes, secrets } from '../../src/kube/resources.ts';
import { machines, machineSets } from '../../src/kube/resources-openshift.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock, variableDates } from '../kit/fast-clock.ts';
import { newPrivateKey } from '../kit/new-private-key.ts';
import { recordNodes } from '../kit/node-history.ts';
import { administratorOf, startOperator } from '../kit/sandbox-operator.ts';
import { until } from '../kit/until.ts';

/** An administrator replaces the private key, and replaces it again before all hosts have the first one. */

/** While hosts join; the hour in which nothing happens takes a quarter of a minute. */
const [speed, idleSpeed] = [15, 240];
const time = variableDates(speed);
const { clock } = time;
const settings = { lease: { leaseDurationMs: 6e6, renewDeadlineMs: 5e6, retryPeriodMs: 2000 } };
const hourMs = 3_600_000;

function keyOf(pem: string) {
  const { publicKey } = parsePrivateKey(pem);
  return { pem, hash: publicKeyHash(publicKey), line: printPublicKey(publicKey) };
}

type Key = ReturnType<typeof keyOf>;

async function replaceKey(client: Client, namespace: string, { pem }: Key): Promise<void> {
  const body = { data: { 'private-key.pem': toBase64(pem) } };
  await client.patch(secrets, secretName.privateKey, { type: 'merge', body }, { namespace });
}

/** Doubles the Machines: three of one set, two of another. */
async function addMachineSet(client: Client): Promise<void> {
  const namespace = namespaceName.machineApi;
  const found = await client.get(machineSets, 'winworker', { namespace });
  const labels = { [machineLabel.machineSet]: 'winother', [machineLabel.osId]: 'Windows' };
  const template = { ...(found.spec?.['template'] as object), metadata: { labels } };
  await client.create(machineSets, {
    metadata: { name: 'winother', namespace },
    spec: { ...found.spec, replicas: 2, selector: { matchLabels: labels }, template },
  });
}

test('SEC-05: two rotations, one into the other, with a restart and a host that is an hour late, lock nobody out', {
  timeout: 300_000,
}, async () => {
  await using sandbox = await startSandbox({ hosts: 3, machines: 3, listsNames: true, speed: 10, clock });
  const { namespace } = sandbox;
  await using administrator = administratorOf(sandbox);
  const { client } = administrator;
  await addMachineSet(client);
  const start = () => startOperator(sandbox, { payloadBytes: 200_000, clock, settings });
  const [first, second, third] = [keyOf(sandbox.privateKey.reveal()), keyOf(newPrivateKey()), keyOf(newPrivateKey())];
  const instances = async () => (await client.list(windowsInstances, { namespace })).items;
  const instance = (name: string) => client.get(windowsInstances, name, { namespace });
  const nodeOf = async (name: string) => (await client.get(nodes, name)).metadata.annotations ?? {};
  const hashes = async () => (await instances()).map(({ status }) => status?.key?.hash);
  const machineNames = async () => {
    const { items } = await client.list(machines, { namespace: namespaceName.machineApi });
    return items.map(({ metadata }) => metadata.name ?? '');
  };
  const stored = async () => {
    const { data = {} } = await client.get(secrets, secretName.privateKeys, { namespace });
    return Object.keys(data).filter(name => name.length === 64);
  };
  const hosts = ['win-1', 'win-2', 'win-3'];

  const operator = start();
  await operator.allReady(8);
  expect(new Set(await hashes())).toEqual(new Set([first.hash]));
  expect(await stored()).toEqual([first.hash]);
  const firstMachines = await machineNames();
  await using history = await recordNodes(client);

  // The first host has the new key already, the others do not.
  await sandbox.host('win-1').setAuthorizedKeys([first.line, second.line]);
  const rotatedMs = clock.now();
  await replaceKey(client, namespace, second);
  await until(async () => (await instance('win-1')).status?.key?.hash === second.hash, 'win-1 uses the second key');
  await until(
    async () => (await instance('win-2')).status?.key?.pending?.hash === second.hash,
    'win-2 has rejected the second key',
  );
  const outdated = findCondition((await instance('win-2')).status?.conditions, instanceCondition.keyCurrent);
  expect(outdated).toMatchObject({ status: 'False', reason: 'HOST_KEY_OUTDATED' });
  expect(outdated?.message).toContain(second.line);
  for (const host of hosts) expect((await nodeOf(host))[nodeAnnotation.pubKeyHash]).toBe(second.hash);
  await until(async () => (await hashes()).filter(hash => hash === second.hash).length >= 3, 'two Machines are new');

  // The operator is restarted in between; the first key is in no Secret of the administrator any more.
  await operator.stop();
  await sandbox.host('win-3').setAuthorizedKeys([second.line]);
  await using restarted = start();
  await until(async () => (await instance('win-3')).status?.key?.hash === second.hash, 'win-3 uses the second key');

  await replaceKey(client, namespace, third);
  await until(
    async () => (await instance('win-3')).status?.key?.pending?.hash === third.hash,
    'win-3 has rejected the third key',
  );
  await sandbox.host('win-3').setAuthorizedKeys([third.line]);
  await sandbox.host('win-1').setAuthorizedKeys([third.line]);
  const states = async () =>
    (await instances()).map(({ metadata, status }) => ({
      name: metadata.name,
      phase: status?.phase,
      step: status?.step,
      key: [first, second, third].findIndex(({ hash }) => hash === status?.key?.hash) + 1,
      conditions: status?.conditions?.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`),
    }));
  await expect
    .poll(states, { timeout: 120_000, interval: 100 })
    .toSatisfy((all: Awaited<ReturnType<typeof states>>) => all.filter(({ key }) => key === 3).length === 7);
  expect((await instance('win-2')).status).toMatchObject({ key: { hash: first.hash } });
  expect(await stored()).toEqual(expect.arrayContaining([first.hash, third.hash]));
  // Of its hour, this is what is left.
  time.setSpeed(idleSpeed);
  await clock.sleep(Math.max(0, rotatedMs + hourMs - clock.now()));
  time.setSpeed(speed);
  expect((await instance('win-2')).status).toMatchObject({ key: { hash: first.hash } });
  await sandbox.host('win-2').setAuthorizedKeys([third.line]);
  await until(async () => (await instance('win-2')).status?.key?.hash === third.hash, 'win-2 uses the third key');
  await restarted.allReady(8);

  // All end with the newest key, and no other is kept.
  await until(async () => (await stored()).join() === third.hash, 'former keys are deleted');
  for (const each of await instances()) await checkEnd(each, third, client);
  const now = await machineNames();
  expect([now.length, now.filter(name => firstMachines.includes(name))]).toEqual([5, []]);

  // The budget: of eight nodes seven were in service all the time, and hosts of your own were never out.
  expect(mostMissing(history.events, 8)).toBe(1);
  const own = history.events.filter(({ object }) => hosts.includes(object.metadata.name ?? ''));
  expect(own.filter(isOut)).toEqual([]);
  for (const host of hosts) expect(sandbox.host(host).stats.reboots).toBe(0);

  // Nobody was locked out, and each key was announced once for each host.
  const { items } = await client.list(events, { namespace });
  const told = items.filter(({ reason }) => reason === 'KeyOutdated' || reason === 'KeyAccepted');
  expect(items.filter(({ message = '' }) => message.includes('HOST_REFUSED_KEY'))).toEqual([]);
  const onInstances = told.filter(({ involvedObject }) => involvedObject?.kind === 'WindowsInstance');
  expect(onInstances.map(({ reason, involvedObject }) => `${involvedObject?.name} ${reason}`).toSorted()).toEqual(
    expect.arrayContaining(['win-1 KeyAccepted', 'win-2 KeyAccepted', 'win-2 KeyOutdated', 'win-3 KeyAccepted']),
  );
});

test('with --authorize-keys the operator adds the new key to hosts itself, and removes the former one', {
  timeout: 120_000,
}, async () => {
  await using sandbox = await startSandbox({ hosts: 2, listsNames: true, speed: 10 });
  await using administrator = administratorOf(sandbox);
  const { client } = administrator;
  const { namespace } = sandbox;
  const [first, second] = [keyOf(sandbox.privateKey.reveal()), keyOf(newPrivateKey())];
  const other = `# of a colleague\n${keyOf(newPrivateKey()).line} colleague`;
  await sandbox.host('win-1').setAuthorizedKeys([first.line, other]);
  await using operator = startOperator(sandbox, { payloadBytes: 200_000, settings: { authorizesKeys: true } });
  await operator.allReady(2);
  await replaceKey(client, namespace, second);
  const isDone = ({ status }: WindowsInstance) =>
    status?.phase === 'Ready' && status.key?.hash === second.hash && status.key.former === undefined;
  await until(async () => (await operator.instances()).every(isDone), 'both hosts have the second key');
  const text = async (name: string) => (await sandbox.host(name).files.read(authorizedKeysFile)) ?? '';
  expect((await text('win-1')).trim().split(/\r?\n/)).toEqual([second.line, ...other.split('\n')]);
  expect((await text('win-2')).trim()).toBe(second.line);
  for (const each of await operator.instances()) await checkEnd(each, second, client);
});

test('a host with a key of its own follows the Secret that it names, and one that forgets keys stores none', {
  timeout: 120_000,
}, async () => {
  await using sandbox = await startSandbox({ hosts: 1, listsNames: true, listsHosts: false, speed: 10 });
  await using administrator = administratorOf(sandbox);
  const { client } = administrator;
  const { namespace } = sandbox;
  const [first, second] = [keyOf(newPrivateKey()), keyOf(newPrivateKey())];
  const host = sandbox.host('win-1');
  await host.setAuthorizedKeys([first.line, second.line]);
  const data = { 'id.pem': toBase64(first.pem) };
  await client.create(secrets, { metadata: { name: 'own-key', namespace }, data });
  const keySecret = { name: 'own-key', key: 'id.pem' };
  await client.create(windowsInstances, {
    metadata: { name: 'win-1', namespace },
    spec: { address: host.spec.address, username: 'Administrator', keySecret },
  });
  await using operator = startOperator(sandbox, {
    payloadBytes: 200_000,
    settings: { keepsPrivateKeys: false },
    clock: fastClock(40),
  });
  await operator.allReady(1);
  const body = { data: { 'id.pem': toBase64(second.pem) } };
  await client.patch(secrets, 'own-key', { type: 'merge', body }, { namespace });
  await until(async () => {
    const [each] = await operator.instances();
    return each?.status?.key?.hash === second.hash && each.status.phase === 'Ready';
  }, 'the host uses the second key');
  for (const each of await operator.instances()) await checkEnd(each, second, client);
  expect(await client.find(secrets, secretName.privateKeys, { namespace })).toBeUndefined();
});

async function checkEnd({ metadata, status, spec }: WindowsInstance, key: Key, client: Client): Promise<void> {
  const annotations = (await client.get(nodes, status?.node ?? '')).metadata.annotations ?? {};
  expect([metadata.name, status?.key?.hash, status?.key?.pending]).toEqual([metadata.name, key.hash, undefined]);
  expect(annotations[nodeAnnotation.pubKeyHash]).toBe(key.hash);
  expect(openUsername(annotations[nodeAnnotation.username] ?? '', key.pem)).toBe(spec.username);
  expect(findCondition(status?.conditions, instanceCondition.keyCurrent)?.status ?? 'True').toBe('True');
}

/** Heartbeats come late when an hour takes half a minute, so that readiness tells nothing here. */
function isOut({ type, object }: WatchEvent<Node>): boolean {
  return type === 'DELETED' || object.spec?.unschedulable === true;
}

/** The most Nodes of a fleet of this size that were missing or out of service at once. */
function mostMissing(changes: readonly WatchEvent<Node>[], size: number): number {
  const inService = new Set<string>();
  const missing = changes.map(({ type, object }) => {
    const name = object.metadata.name ?? '';
    if (isOut({ type, object })) inService.delete(name);
    else inService.add(name);
    return size - inService.size;
  });
  // The first changes only say which Nodes there are.
  return Math.max(...missing.slice(size - 1));
}
