import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { publicKeyHash } from '#host/keys/public-key.ts';
import { secrets } from '#kube/resources.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { newPrivateKey } from '../../../test/kit/new-private-key.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';
import { InstanceKeys } from './instance-keys.ts';

const [one, two] = [newPrivateKey(), newPrivateKey()];
const hashOf = (pem: string) => publicKeyHash(parsePrivateKey(pem).publicKey);
const never = new AbortController().signal;

function instanceOf(keySecret?: { name: string; key?: string }, name = 'win-1'): WindowsInstance {
  return { metadata: { name, namespace }, spec: { address: 'a', username: 'b', ...(keySecret && { keySecret }) } };
}

function begin() {
  const [api, clock] = [new MemoryApi(), manualClock()];
  const keys = new InstanceKeys(api, clock);
  const put = (pem: string, member = 'private-key.pem') =>
    api.put(secrets, { metadata: { name: 'own', namespace }, data: { [member]: toBase64(pem) } });
  const reads = () => api.calls.length;
  return { api, clock, keys, put, reads };
}

const own = instanceOf({ name: 'own' });

test('reads the Secret of an instance every five minutes at most, also for several instances', async () => {
  const { clock, keys, put, reads } = begin();
  put(one);
  expect(keys.hash(own)).toBeUndefined();
  await keys.look(own, never);
  await keys.look(instanceOf({ name: 'own' }, 'win-2'), never);
  expect([keys.hash(own), reads()]).toEqual([hashOf(one), 1]);
  put(two);
  await clock.advance(299_000);
  await keys.look(own, never);
  expect([keys.hash(own), reads()]).toEqual([hashOf(one), 1]);
  await clock.advance(1000);
  await keys.look(own, never);
  expect([keys.hash(own), reads()]).toEqual([hashOf(two), 2]);
});

test('members of one Secret are keys of their own', async () => {
  const { api, keys } = begin();
  const data = { a: toBase64(one), b: toBase64(two) };
  api.put(secrets, { metadata: { name: 'own', namespace }, data });
  const both = ['a', 'b'].map(key => instanceOf({ name: 'own', key }));
  for (const each of both) await keys.look(each, never);
  expect(both.map(each => keys.hash(each))).toEqual([hashOf(one), hashOf(two)]);
});

const failures: [name: string, fail: (bench: ReturnType<typeof begin>) => void][] = [
  ['is deleted', ({ api }) => api.remove(secrets, 'own', namespace)],
  ['is garbage', ({ put }) => void put('garbage')],
  ['has no such member', ({ put }) => void put(two, 'other')],
  ['may not be read', ({ api }) => (api.before = () => Promise.reject(refused(403, 'Forbidden')))],
];
for (const [name, fail] of failures) {
  test(`the last key counts while its Secret ${name}, which is read again after five minutes`, async () => {
    const bench = begin();
    const { api, clock, keys, put, reads } = bench;
    put(one);
    await keys.look(own, never);
    fail(bench);
    await clock.advance(300_000);
    await keys.look(own, never);
    await keys.look(own, never);
    expect([keys.hash(own), reads()]).toEqual([hashOf(one), 2]);
    api.before = () => undefined;
    put(two);
    await clock.advance(300_000);
    await keys.look(own, never);
    expect(keys.hash(own)).toBe(hashOf(two));
  });
}

test('an instance without a key of its own reads nothing', async () => {
  const { keys, reads } = begin();
  await keys.look(instanceOf(), never);
  expect([keys.hash(instanceOf()), reads()]).toEqual([undefined, 0]);
});

test('ends with the pass', async () => {
  const { keys, put } = begin();
  put(one);
  await expect(keys.look(own, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
});
