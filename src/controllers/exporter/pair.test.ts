import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { textFromBase64, toBase64 } from '#base/bytes.ts';
import { scanPem } from '#base/pem.ts';
import type { SecretObject } from '#kube/resources.ts';
import { pairFacts, pairSecret } from './pair.ts';

const namespace = 'wmco';
const startMs = Date.UTC(2026, 2, 1);
const dayMs = 86_400_000;
const first: SecretObject = { apiVersion: 'v1', kind: 'Secret', ...pairSecret(undefined, namespace, startMs) };
const textOf = ({ data }: SecretObject, key: string) => textFromBase64(data?.[key] ?? '') ?? '';
const authorities = (secret: SecretObject) => scanPem(textOf(secret, 'ca.crt')).blocks.length;

test('a new pair is valid, its own, and due at two thirds of its life', () => {
  expect(first).toMatchObject({
    type: 'kubernetes.io/tls',
    metadata: { name: 'windows-machine-config-operator-tls', namespace },
  });
  const facts = pairFacts(first, namespace, startMs);
  expect(facts).toMatchObject({ state: 'own', problem: undefined });
  const { renewAtMs } = facts as { renewAtMs: number };
  expect(Math.round((renewAtMs - startMs) / dayMs)).toBe(486);
});

const { metadata } = first;
const owner = { apiVersion: 'v1', kind: 'Service', name: 'windows-exporter', uid: 'u' };
const states: [name: string, secret: SecretObject | undefined, want: string][] = [
  ['no Secret', undefined, 'missing'],
  ['one that is being deleted', { ...first, metadata: { ...metadata, deletionTimestamp: 'now' } }, 'deleting'],
  ['one with the label of the operator', first, 'own'],
  ['one without the label', { ...first, metadata: { ...metadata, labels: {} } }, 'other'],
  ['one of the service CA', { ...first, metadata: { ...metadata, ownerReferences: [owner] } }, 'other'],
];
for (const [name, secret, want] of states) {
  test(`recognizes ${name}`, () => expect(pairFacts(secret, namespace, startMs).state).toBe(want));
}

const broken: [name: string, secret: SecretObject, atMs: number, code: string][] = [
  ['expired', first, startMs + 800 * dayMs, 'TLS_PAIR_EXPIRED'],
  ['without key', { ...first, data: { 'tls.crt': first.data?.['tls.crt'] ?? '' } }, startMs, 'SECRET_KEY_MISSING'],
  ['without content', { ...first, data: {} }, startMs, 'SECRET_KEY_MISSING'],
  ['not base64', { ...first, data: { 'tls.crt': '***', 'tls.key': '' } }, startMs, 'FIELD_INVALID'],
];
for (const [name, secret, atMs, code] of broken) {
  test(`a pair that is ${name} has a problem`, () => {
    expect(pairFacts(secret, namespace, atMs)).toMatchObject({ problem: { code } });
  });
}

test('a pair for another namespace is due at once', () => {
  expect(pairFacts(first, 'other', startMs)).toMatchObject({ problem: undefined, renewAtMs: startMs });
});

test('a renewed pair keeps the CAs by which running exporters are verified', () => {
  const second = pairSecret(first, namespace, startMs + 486 * dayMs);
  expect(authorities(second)).toBe(2);
  const former = new X509Certificate(textOf(first, 'tls.crt'));
  const bundle = textOf(second, 'ca.crt')
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .map(pem => new X509Certificate(pem));
  expect(bundle.some(({ publicKey }) => former.verify(publicKey))).toBe(true);
  expect(new X509Certificate(textOf(second, 'tls.crt')).verify(bundle[0]?.publicKey as never)).toBe(true);
});

test('drops CAs that have expired, and keeps at most three', () => {
  expect(authorities(pairSecret(first, namespace, startMs + 800 * dayMs))).toBe(1);
  let secret = first;
  for (let day = 1; day < 6; day += 1) secret = pairSecret(secret, namespace, startMs + day * dayMs);
  expect(authorities(secret)).toBe(3);
});

test('keeps everything else in its Secret, and survives a malformed bundle', () => {
  const data = { ...first.data, 'ca.crt': toBase64('nonsense'), note: toBase64('mine') };
  const renewed = pairSecret({ ...first, metadata: { ...metadata, resourceVersion: '7' }, data }, namespace, startMs);
  expect(renewed.metadata.resourceVersion).toBe('7');
  expect(textOf(renewed, 'note')).toBe('mine');
  expect(authorities(renewed)).toBe(1);
});
