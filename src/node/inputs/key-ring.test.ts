import { inspect } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { secretName } from '#contract/names.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { publicKeyHash } from '#host/keys/public-key.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { newPrivateKey } from '../../../test/kit/new-private-key.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';
import { WatchedApi } from '../../../test/kit/watched-api.ts';
import { KeyRing, missingKey } from './key-ring.ts';
import { readPrivateKey } from './private-key.ts';

const [one, two, three] = [newPrivateKey(), newPrivateKey(), newPrivateKey()];
const hashOf = (pem: string) => publicKeyHash(parsePrivateKey(pem).publicKey);
const secretOf = (pem: string, more: Partial<SecretObject> = {}): SecretObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: secretName.privateKey, namespace, uid: 'u' },
  data: { 'private-key.pem': toBase64(pem) },
  ...more,
});

let stored: string[] = [];
afterEach(() => (stored = []));

function ring(...texts: string[]) {
  const api = new WatchedApi(manualClock());
  const scope = { namespace, fieldSelector: `metadata.name=${secretName.privateKey}` };
  const keyRing = new KeyRing(
    api.informers.get(secrets, scope),
    { keys: () => stored.map(parsePrivateKey) },
    namespace,
  );
  const put = (pem: string, more: Partial<SecretObject> = {}) => api.put(secrets, secretOf(pem, more));
  for (const pem of texts) put(pem);
  const held = (last: readonly string[] = []) =>
    keyRing.keysFor(last).map(({ pem }) => [one, two, three].indexOf(pem.reveal()) + 1);
  return { api, keyRing, put, held, remove: () => api.remove(secrets, secretName.privateKey, namespace) };
}

test('holds the key of the Secret', () => expect(ring(one).held()).toEqual([1]));

test('keeps the previous key after a change, the current one first', () => {
  expect(ring(one, two).held()).toEqual([2, 1]);
});

test('keeps all former keys, the newest first', () => expect(ring(one, two, three).held()).toEqual([3, 2, 1]));

test('offers the key that last worked on the host before other former ones', () => {
  const { held } = ring(one, two, three);
  expect(held([hashOf(one)])).toEqual([3, 1, 2]);
});

test('offers stored keys after those of this process, each once', () => {
  stored = [two, one];
  expect(ring(two, three).held()).toEqual([3, 2, 1]);
  expect(ring(three).held([hashOf(one)])).toEqual([3, 1, 2]);
});

test('offers no more keys than an SSH server accepts', () => {
  stored = Array.from({ length: 9 }, () => newPrivateKey());
  const { keyRing } = ring(one);
  expect(keyRing.keysFor([hashOf(stored[8] ?? '')])).toHaveLength(5);
  expect(keyRing.keysFor([hashOf(stored[8] ?? '')])[1]?.pem.reveal()).toBe(stored[8]);
});

test('offers former keys of a host with a key of its own after that', () => {
  const { keyRing } = ring(one);
  stored = [two];
  const keys = keyRing.keysFor([hashOf(two)], parsePrivateKey(three));
  expect(keys.map(({ pem }) => pem.reveal())).toEqual([three, two]);
});

test('has no previous key when only other fields changed', () => {
  const { put, held } = ring(one);
  put(one, { metadata: { name: secretName.privateKey, namespace, uid: 'u', labels: { a: 'b' } } });
  expect(held()).toEqual([1]);
});

test('keeps the previous key when only other fields change', () => {
  const { put, held } = ring(one, two);
  put(two, { metadata: { name: secretName.privateKey, namespace, uid: 'u', labels: { a: 'b' } } });
  expect(held()).toEqual([2, 1]);
});

test('has the key of a recreated Secret', () => {
  const { put, held, remove } = ring(one);
  remove();
  put(two, { metadata: { name: secretName.privateKey, namespace, uid: 'v' } });
  expect(held()).toEqual([2, 1]);
});

test('has one key when the same key returns', () => {
  const { put, held, remove } = ring(one);
  remove();
  put(one);
  expect(held()).toEqual([1]);
});

test('swaps the keys when the change is reverted', () => expect(ring(one, two, one).held()).toEqual([1, 2]));

test('skips values that are not keys', () => {
  const { put, held } = ring(one);
  put('garbage');
  expect(() => held()).toThrow();
  put(two);
  expect(held()).toEqual([2, 1]);
});

test('while the Secret has no usable key, hosts that accepted a former one are offered that, and others wait', () => {
  stored = [two];
  const { put, held, keyRing, remove } = ring(one);
  expect(keyRing.problem).toBeUndefined();
  put('garbage');
  expect(keyRing.problem?.code).toBe('PRIVATE_KEY_UNREADABLE');
  expect([held([hashOf(one)]), held([hashOf(two)])]).toEqual([
    [1, 2],
    [2, 1],
  ]);
  for (const hashes of [[], [hashOf(three)]]) expect(errorOf(() => held(hashes))?.code).toBe('PRIVATE_KEY_UNREADABLE');
  put('', { data: {} });
  expect([held([hashOf(one)]), keyRing.problem?.code]).toEqual([[1, 2], 'PRIVATE_KEY_MISSING']);
  // Whoever deletes it wants no key to be used.
  remove();
  expect([errorOf(() => held([hashOf(one)]))?.code, keyRing.problem]).toEqual(['PRIVATE_KEY_MISSING', undefined]);
  put(three);
  expect([held([hashOf(one)]), keyRing.problem]).toEqual([[3, 1, 2], undefined]);
});

test('an own key is not replaced by a former one because the key of all hosts has a problem', () => {
  stored = [two];
  const { keyRing } = ring('garbage');
  const keys = keyRing.keysFor([hashOf(two)], parsePrivateKey(three));
  expect(keys.map(({ pem }) => pem.reveal())).toEqual([three, two]);
});

test('has no key without a Secret, and names the Secret to create', () => {
  expect(errorOf(() => ring().keyRing.current())).toMatchObject({
    code: 'PRIVATE_KEY_MISSING',
    message: `Secret ${namespace}/cloud-private-key does not exist`,
    remedy: expect.stringContaining('private-key.pem'),
  });
});

test('has no key after the Secret is deleted', () => {
  const { keyRing, remove } = ring(one);
  remove();
  expect(errorOf(() => keyRing.current())?.code).toBe('PRIVATE_KEY_MISSING');
});

const contents: [name: string, data: Record<string, string>, want: string][] = [
  ['under its key', { 'private-key.pem': one }, 'ok'],
  ['in an empty Secret', {}, 'PRIVATE_KEY_MISSING'],
  ['that is not one', { 'private-key.pem': 'planted' }, 'PRIVATE_KEY_UNREADABLE'],
];
for (const [name, data, want] of contents) {
  test(`reads a private key ${name}: ${want}`, () => {
    const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, toBase64(text)]));
    const error = errorOf(() => readPrivateKey(secretOf('', { data: encoded })));
    expect(error?.code ?? 'ok').toBe(want);
    expect(error?.message ?? '').not.toContain('planted');
  });
}

test('shows no key when printed', () => {
  expect(inspect(ring(one, two).keyRing.keysFor([]), { depth: 5 })).not.toContain('PRIVATE');
  expect(missingKey('Secret a/b').message).toContain('Secret a/b');
});
