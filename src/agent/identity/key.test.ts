import { createHash, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { showsKey } from '../../../test/kit/agent-certificates.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { createKey, findKey, readKey } from './key.ts';

const path = 'C:\\k\\wicd-certs\\wicd-client-key.pem';
const files = (text: string | undefined) => ({ read: async () => text });
const exported = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });

test('reads a created key, with the same hash', async () => {
  const key = createKey();
  const read = await readKey(path, files(key.pem.reveal()));
  expect([read.hash, read.pem.reveal()]).toEqual([key.hash, key.pem.reveal()]);
  expect(key.pem.reveal()).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
});

test('hashes the public key as other programs do', () => {
  const { key, hash } = createKey();
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  expect(hash).toBe(createHash('sha256').update(spki).digest('hex'));
});

test('creates another key each time, and shows none', () => {
  const keys = [createKey(), createKey()];
  expect(new Set(keys.map(({ hash }) => hash)).size).toBe(2);
  expect(showsKey(`${inspect(keys, { depth: 9 })}${JSON.stringify(keys.map(({ pem }) => pem))}`)).toBe(false);
});

const bad: [name: string, text: string | undefined, message: string][] = [
  ['a missing file', undefined, 'does not exist'],
  ['an empty file', '', 'contains no ECDSA P-256 key'],
  ['half a key', createKey().pem.reveal().slice(0, 90), 'contains no ECDSA P-256 key'],
  [
    'a key of another curve',
    exported(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey),
    'contains no ECDSA',
  ],
  ['a key of another kind', exported(generateKeyPairSync('ed25519').privateKey), 'contains no ECDSA P-256 key'],
];
for (const [name, text, message] of bad) {
  test(`reports ${name}, and what helps`, async () => {
    const error = await rejectionOf(readKey(path, files(text)));
    expect(error).toMatchObject({
      code: 'AGENT_KEY_MISSING',
      message: expect.stringContaining(message),
      remedy: expect.stringContaining('reconnect'),
    });
    expect(showsKey(inspect(error))).toBe(false);
    expect(await findKey(path, files(text))).toBeUndefined();
  });
}
