import { generateKeyPairSync } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { Secret } from '#base/secret.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { secretName } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import type { InstanceKey } from '#contract/windows-instance/resource.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { printPublicKey, publicKeyHash } from '#host/keys/public-key.ts';
import { secrets } from '#kube/resources.ts';
import { KeyStore } from '#node/inputs/key-store.ts';
import { fixedFacts } from '../../../test/kit/fixed-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { newPrivateKey } from '../../../test/kit/new-private-key.ts';
import { benchNamespace as namespace, sourceBench } from '../../../test/kit/source-bench.ts';
import { privateKeyController } from './controller.ts';

const pems = [newPrivateKey(), newPrivateKey(), newPrivateKey()] as const;
const keys = pems.map(parsePrivateKey);
const hashes = keys.map(({ publicKey }) => publicKeyHash(publicKey));
const [a = '', b = ''] = hashes;
const weakPem = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs1', format: 'pem' });

/** The rendered worker, whose Linux nodes these keys open. */
function workerConfig(sshAuthorizedKeys: string[]) {
  return readObject({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name: 'rendered-worker-1', creationTimestamp: '2026-03-01T12:00:00Z' },
    spec: { config: { ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'core', sshAuthorizedKeys }] } } },
  });
}

function begin({ keepsPrivateKeys, worker = [] }: { keepsPrivateKeys?: boolean; worker?: string[] } = {}) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { api, parts } = bench;
  let current: string | undefined;
  const store = new KeyStore({
    ...parts,
    informer: api.informers.get(secrets, { namespace, fieldSelector: 'metadata.name=windows-private-keys' }),
  });
  const putKey = async (pem: string | undefined) => {
    current = pem === undefined || !pem.includes('PRIVATE') ? undefined : publicKeyHash(parsePrivateKey(pem).publicKey);
    const metadata = { name: secretName.privateKey, namespace, uid: 'u' };
    if (pem === undefined) api.remove(secrets, secretName.privateKey, namespace);
    else api.put(secrets, { metadata, data: { 'private-key.pem': toBase64(pem) } });
    await settle();
  };
  return {
    ...bench,
    putKey,
    start: () =>
      bench.start(
        privateKeyController({
          ...parts,
          facts: fixedFacts({}, [workerConfig(worker)]),
          settings: keepsPrivateKeys === undefined ? {} : { keepsPrivateKeys },
          inputs: { currentKeyHash: () => current },
        }),
      ),
    keep: async (...numbers: number[]) => {
      for (const at of numbers)
        await store.keep(keys[at] ?? parsePrivateKey(''), new Secret('salt'), new AbortController().signal);
      await settle();
    },
    host: async (name: string, key?: InstanceKey, more: Partial<WindowsInstance['status']> = { hostKey: 'x' }) =>
      void (await bench.put(windowsInstances, {
        metadata: { name, namespace, uid: name },
        spec: { address: name, username: 'a' },
        status: { ...more, ...(key && { key }) },
      })),
    stored: () => store.keys().map(({ publicKey }) => hashes.indexOf(publicKeyHash(publicKey))),
  };
}

const problems: [name: string, pem: string, worker: string[], want: RegExp[]][] = [
  ['of Windows hosts alone', pems[0], [printPublicKey(keys[1]?.publicKey ?? parsePrivateKey('').publicKey)], []],
  ['that is garbage', 'planted', [], [/^Secret\/cloud-private-key PrivateKeyUnusable PRIVATE_KEY_UNREADABLE: .*\.$/]],
  ['that is too weak', weakPem, [], [/^Secret\/cloud-private-key PrivateKeyWeak PUBLIC_KEY_WEAK: .*\.$/]],
  [
    'that also opens Linux nodes, whatever is written around it',
    pems[0],
    ['garbage', '', `no-pty ${printPublicKey(keys[0]?.publicKey ?? parsePrivateKey('').publicKey)} core@cluster`],
    [/^Secret\/cloud-private-key PrivateKeyShared PRIVATE_KEY_SHARED: .*also logs in to Linux nodes/],
  ],
];
for (const [name, pem, worker, want] of problems) {
  test(`reports a key ${name}: ${want.length === 0 ? 'nothing' : 'once'}`, async () => {
    const { start, putKey, events, log, clock } = begin({ worker });
    await putKey(pem);
    await start();
    await clock.advance(600_000);
    await putKey(pem);
    expect(events).toEqual(want.map(each => expect.stringMatching(each) as string));
    expect(events.join() + JSON.stringify(log.lines)).not.toContain('planted');
    expect(log.messages('warn')).toHaveLength(want.length);
  });
}

test('reports a problem again when it is back', async () => {
  const { start, putKey, events } = begin();
  await start();
  for (const pem of ['x', pems[0], 'x']) await putKey(pem);
  expect(events).toHaveLength(2);
});

test('deletes former keys as soon as the last host accepts the current one', async () => {
  const { start, putKey, keep, host, stored } = begin();
  await putKey(pems[1]);
  await keep(0, 1);
  await host('one', { hash: b });
  await host('two', { hash: a });
  await start();
  expect(stored()).toEqual([1, 0]);
  await host('two', { hash: a, pending: { hash: b, since: 'x', tried: 'y' } });
  expect(stored()).toEqual([1, 0]);
  await host('two', { hash: b });
  expect(stored()).toEqual([1]);
});

/** What an unlucky administrator does in the middle of a rotation, when one host has only the former key. */
const mishaps: [name: string, act: (bench: ReturnType<typeof begin>) => Promise<void>][] = [
  ['deletes the Secret', ({ putKey }) => putKey(undefined)],
  ['replaces the key by garbage', ({ putKey }) => putKey('x')],
  ['rotates once more', ({ putKey }) => putKey(pems[2])],
  [
    'pauses the host',
    async ({ api, host }) => {
      await host('two', { hash: a });
      const object = api.peek(windowsInstances, 'two', namespace) as WindowsInstance;
      api.put(windowsInstances, { ...object, spec: { ...object.spec, paused: true } });
    },
  ],
  [
    'deletes the instance, and the host is being removed',
    async ({ api }) => {
      const object = api.peek(windowsInstances, 'two', namespace) as WindowsInstance;
      api.put(windowsInstances, { ...object, metadata: { ...object.metadata, deletionTimestamp: 'x' } });
    },
  ],
];
for (const [name, act] of mishaps) {
  test(`keeps the former key of a host when the administrator ${name}`, async () => {
    const bench = begin();
    await bench.putKey(pems[1]);
    await bench.keep(0, 1);
    await bench.host('one', { hash: b });
    await bench.host('two', { hash: a });
    await bench.start();
    await act(bench);
    await settle();
    await bench.clock.advance(3_600_000);
    expect(bench.stored()).toEqual(expect.arrayContaining([0, 1]));
  });
}

test('deletes the key of a host that is gone', async () => {
  const { start, putKey, keep, host, stored, api } = begin();
  await putKey(pems[1]);
  await keep(0, 1);
  await host('one', { hash: b });
  await host('two', { hash: a });
  await start();
  api.remove(windowsInstances, 'two', namespace);
  await settle();
  expect(stored()).toEqual([1]);
});

test('a host that never answered keeps no key, one that was reached before its key was recorded keeps all', async () => {
  const { start, putKey, keep, host, stored } = begin();
  await putKey(pems[1]);
  await keep(0, 1);
  await host('old');
  await host('new', undefined, {});
  await start();
  expect(stored()).toEqual([1, 0]);
  await host('old', { hash: b });
  expect(stored()).toEqual([1]);
});

test('by the setting no key is stored, those of before neither', async () => {
  const { start, putKey, keep, host, stored } = begin({ keepsPrivateKeys: false });
  await putKey(pems[1]);
  await keep(0, 1);
  await host('two', { hash: a });
  await start();
  expect(stored()).toEqual([]);
});

test('a refused deletion is tried again, and its events are said once', async () => {
  const { start, putKey, keep, host, stored, api, clock, events } = begin();
  await putKey(weakPem);
  await keep(0);
  await host('one', { hash: publicKeyHash(parsePrivateKey(weakPem).publicKey) });
  api.before = ({ verb }) => {
    if (verb === 'patch') throw refused(403, 'Forbidden');
  };
  await start();
  await clock.advance(60_000);
  expect([stored(), events.length]).toEqual([[0], 1]);
  api.before = () => undefined;
  await clock.advance(600_000);
  expect([stored(), events.length]).toEqual([[], 1]);
});
