import { afterEach, beforeEach, expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { systemClock } from '#base/clock.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation, nodeAnnotation, secretName } from '#contract/names.ts';
import { authorizedKeysFile } from '#contract/paths.ts';
import type { InstanceKey } from '#contract/windows-instance/resource.ts';
import { authorizeRemedy } from '#host/keys/authorize-remedy.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { describeKey, printPublicKey, type PublicKey, publicKeyHash } from '#host/keys/public-key.ts';
import { nodes, secrets } from '#kube/resources.ts';
import { readPrivateKey } from '#node/inputs/private-key.ts';
import { newPrivateKey } from '../../../../test/kit/new-private-key.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { sandboxDouble } from '../../../../test/kit/sandbox-double.ts';
import { type StatusCluster, statusCluster } from '../../../../test/kit/status-cluster.ts';
import {
  at,
  condition,
  instanceOf,
  type RecordedTerminal,
  recordedTerminal,
  statuses,
} from '../../../../test/kit/status-views.ts';
import { playRotateStory } from './rotate-story.ts';

/** The test is the operator. */
let cluster: StatusCluster;
let terminal: RecordedTerminal;
/** Lines of authorized_keys, by host. */
let lines: Map<string, readonly string[]>;
const first = parsePrivateKey(newPrivateKey());
const firstHash = publicKeyHash(first.publicKey);
const hosts = ['win-1', 'win-2'];
const inNamespace = () => ({ namespace: cluster.namespace });

beforeEach(async () => {
  cluster = await statusCluster();
  terminal = recordedTerminal(undefined, {}, systemClock);
  lines = new Map(hosts.map(name => [name, [printPublicKey(first.publicKey)]]));
  await cluster.lead(systemClock.now());
  await cluster.list(Object.fromEntries(hosts.map(name => [name, 'username=a'])));
  const { namespace } = cluster;
  const body = { data: { 'private-key.pem': toBase64(first.pem.reveal()) } };
  await cluster.client.patch(secrets, secretName.privateKey, { type: 'merge', body }, { namespace });
});
afterEach(() => cluster[Symbol.asyncDispose]());

const recordOf = (key: PublicKey): InstanceKey => ({ hash: publicKeyHash(key), fingerprint: describeKey(key) });

function play(timeoutMs = 60_000): Promise<void> {
  const { client } = cluster;
  const sandbox = sandboxDouble(cluster, {
    readFile: async (host, path) => (path === authorizedKeysFile ? `${lines.get(host)?.join('\r\n')}\r\n` : undefined),
    setAuthorizedKeys: async (host, text) => void lines.set(host, text),
  });
  return playRotateStory({ terminal, sandbox, client, timeoutMs, signal: terminal.signal });
}

async function join(): Promise<void> {
  for (const name of hosts) {
    await cluster.putNode(name);
    await cluster.putInstance(
      instanceOf(name, { ...structuredClone(statuses.ready), node: name, key: recordOf(first.publicKey) }),
    );
  }
}

/** The key that the story has put into the Secret. */
async function secondKey(): Promise<PublicKey> {
  const read = async () =>
    readPrivateKey(await cluster.client.get(secrets, secretName.privateKey, inNamespace())).publicKey;
  await expect.poll(async () => publicKeyHash(await read()), { interval: 20 }).not.toBe(firstHash);
  return read();
}

async function write(name: string, status: object): Promise<void> {
  const patch = { type: 'merge', body: { status } } as const;
  await cluster.client.patch(windowsInstances, name, patch, { ...inNamespace(), subresource: 'status' });
}

async function reject(key: PublicKey, remedy = authorizeRemedy(key)): Promise<void> {
  const pending = { hash: publicKeyHash(key), since: at(1), tried: at(1) };
  const { conditions } = statuses.ready;
  const outdated = condition('KeyCurrent', 'False', 'HOST_KEY_OUTDATED', `It uses a former key. ${remedy}`);
  for (const name of hosts) {
    await cluster.client.patch(nodes, name, {
      type: 'merge',
      body: { metadata: { annotations: { [nodeAnnotation.pubKeyHash]: publicKeyHash(key) } } },
    });
    await write(name, { key: { ...recordOf(first.publicKey), pending }, conditions: [...conditions, outdated] });
  }
}

async function accept(name: string, key: PublicKey): Promise<void> {
  await expect
    .poll(() => lines.get(name), { interval: 20 })
    .toEqual([printPublicKey(first.publicKey), printPublicKey(key)]);
  const annotation = async () =>
    (await cluster.client.get(windowsInstances, name, inNamespace())).metadata.annotations?.[instanceAnnotation.retry];
  await expect.poll(annotation, { interval: 20 }).toContain(name);
  await write(name, { key: { ...recordOf(key), pending: null } });
}

const store = (...keys: string[]) =>
  cluster.put(secrets, {
    metadata: { name: secretName.privateKeys, namespace: cluster.namespace },
    data: Object.fromEntries(keys.map(hash => [hash, 'eA=='])),
  });

test('the story of a rotation shows each key, the line to add, and what is left', async () => {
  const played = play();
  await join();
  const second = await secondKey();
  await reject(second);
  for (const name of hosts) await accept(name, second);
  await store(publicKeyHash(second));
  await played;
  const text = terminal.text();
  const chapters = [
    /^1\. Two Windows hosts join the cluster\n/,
    new RegExp(`win-2 accepts ${escaped(describeKey(first.publicKey))}\n`),
    /\n2\. The private key is replaced by another one\n {3}ssh-keygen [^\n]*\n {3}kubectl create secret /,
    new RegExp(`The new key is ${escaped(describeKey(second))}`),
    /\n3\. Hosts do not know it yet[^]*condition KeyCurrent is False, reason HOST_KEY_OUTDATED\n/,
    new RegExp(escaped(printPublicKey(second))),
    /\n4\. The line is added on win-1[^]*kubectl annotate wi win-1 [^]*win-1 accepts /,
    /\n5\. The line is added on win-2[^]*win-2 accepts /,
    /\n6\. What is left[^]*the former key is deleted, because no host needs it\n/,
    /No Node was out of service, and no host was out of reach\.\n$/,
  ];
  for (const chapter of chapters) expect(text).toMatch(chapter);
  expect(text).not.toContain('PRIVATE KEY');
});

const failures: [name: string, act: (second: PublicKey) => Promise<void>, want: RegExp][] = [
  ['a host is not asked for the new key', async () => undefined, /waited .* for both hosts to reject the new key/],
  [
    'the condition does not have the line to add',
    second => reject(second, 'Add the key.'),
    /the condition of win-1 has no line to add/,
  ],
  ['a host does not accept the key', second => reject(second), /waited .* for win-1 to accept the new key/],
  [
    'a Node names another key',
    async second => {
      await reject(second);
      await cluster.client.patch(nodes, 'win-2', {
        type: 'merge',
        body: { metadata: { annotations: { [nodeAnnotation.pubKeyHash]: 'x' } } },
      });
      for (const name of hosts) await accept(name, second);
    },
    /Node win-2 has the hash of another key/,
  ],
  [
    'the former key is not deleted',
    async second => {
      await reject(second);
      for (const name of hosts) await accept(name, second);
    },
    /Secret windows-private-keys still has a former key/,
  ],
];
for (const [name, act, want] of failures) {
  test(`the story of a rotation fails when ${name}`, async () => {
    await store(firstHash);
    const played = rejectionOf(play(1500));
    await join();
    await act(await secondKey());
    expect(await played).toMatchObject({
      code: 'SANDBOX_STORY_FAILED',
      message: expect.stringMatching(want) as string,
    });
  });
}

function escaped(text: string): string {
  return RegExp.escape(text);
}
