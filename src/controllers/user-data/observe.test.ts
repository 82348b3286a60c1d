import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { namespaceName, secretName } from '#contract/names.ts';
import { namespaces, type SecretObject, secrets } from '#kube/resources.ts';
import { fixedFacts, unknownFacts } from '../../../test/kit/fixed-facts.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { newPrivateKey } from '../../../test/kit/new-private-key.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';
import { WatchedApi } from '../../../test/kit/watched-api.ts';
import { hasClusterApi, informersFrom, storedText, wantedUserData } from './observe.ts';

const secret = (place: string, name: string, data: Record<string, string>): SecretObject => ({
  metadata: { name, namespace: place },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, toBase64(value)])),
});

function setUp(...objects: SecretObject[]) {
  const api = new WatchedApi(manualClock());
  for (const object of objects) api.put(secrets, object);
  return { api, sources: informersFrom(api.informers, namespace) };
}

const key = secret(namespace, secretName.privateKey, { 'private-key.pem': newPrivateKey() });

test('wants a script with the public key, for the platform', () => {
  const { sources } = setUp(key);
  const wanted = wantedUserData(sources, fixedFacts({ platform: 'AWS' }));
  expect(wanted?.text).toMatch(/^<powershell>.*EC2Launch.*<\/powershell>/s);
  expect(wanted?.text).toContain(`ssh-ed25519 ${toBase64(wanted?.publicKey.blob ?? new Uint8Array())}`);
  expect(wanted?.secret).toMatchObject({
    metadata: { name: 'windows-user-data', namespace: 'openshift-machine-api' },
    data: { userData: toBase64(wanted?.text ?? '') },
  });
});

const nothing: [name: string, objects: SecretObject[], facts: ReturnType<typeof fixedFacts>][] = [
  ['a key', [], fixedFacts()],
  ['the platform', [key], unknownFacts()],
  ['a key in its own namespace', [secret('other', secretName.privateKey, { 'private-key.pem': 'x' })], fixedFacts()],
];
for (const [name, objects, facts] of nothing) {
  test(`wants nothing without ${name}`, () => expect(wantedUserData(setUp(...objects).sources, facts)).toBeUndefined());
}

const broken: [name: string, data: Record<string, string>, code: string][] = [
  ['an empty Secret', {}, 'PRIVATE_KEY_MISSING'],
  ['a key under another name', { id_rsa: newPrivateKey() }, 'PRIVATE_KEY_MISSING'],
  ['no key', { 'private-key.pem': 'planted' }, 'PRIVATE_KEY_UNREADABLE'],
  ['a public key', { 'private-key.pem': 'ssh-ed25519 AAAA' }, 'PRIVATE_KEY_UNREADABLE'],
];
for (const [name, data, code] of broken) {
  test(`reports what is wrong with ${name}, and shows nothing of it`, () => {
    const { sources } = setUp(secret(namespace, secretName.privateKey, data));
    const error = errorOf(() => wantedUserData(sources, fixedFacts()));
    expect(error).toMatchObject({ code, remedy: expect.stringMatching(/\.$/) });
    expect(error?.message).not.toContain('planted');
  });
}

const texts: [name: string, object: SecretObject | undefined, want: string | undefined][] = [
  ['no Secret', undefined, undefined],
  ['the text', secret(namespaceName.machineApi, secretName.userData, { userData: 'text' }), 'text'],
  ['an empty Secret as empty', secret(namespaceName.machineApi, secretName.userData, {}), ''],
  [
    'what is no base64 as empty',
    { metadata: { name: secretName.userData, namespace: namespaceName.machineApi }, data: { userData: '%%' } },
    '',
  ],
  [
    'no Secret of another namespace',
    secret(namespaceName.clusterApi, secretName.userData, { userData: 'x' }),
    undefined,
  ],
  ['no Secret of another name', secret(namespaceName.machineApi, 'worker-user-data', { userData: 'x' }), undefined],
];
for (const [name, object, want] of texts) {
  test(`reads ${name}`, () => expect(storedText(setUp(...(object ? [object] : [])).sources)).toBe(want));
}

test('knows whether there is a cluster API', () => {
  const { api, sources } = setUp();
  expect(hasClusterApi(sources)).toBe(false);
  api.put(namespaces, { metadata: { name: 'openshift-other' } });
  expect(hasClusterApi(sources)).toBe(false);
  api.put(namespaces, { metadata: { name: namespaceName.clusterApi } });
  expect(hasClusterApi(sources)).toBe(true);
  api.put(namespaces, { metadata: { name: namespaceName.clusterApi, deletionTimestamp: '2026-03-01T12:00:00Z' } });
  expect(hasClusterApi(sources)).toBe(false);
});
