import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newKeyPair } from '../../src/payload/signature.ts';
import { packSimulated } from '../../test/kit/image/payload.ts';
import { checkPayload } from './check-payload.ts';

async function signedPayload(): Promise<{ folder: string; keyFile: string }> {
  const root = mkdtempSync(join(tmpdir(), 'wmco-release-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const key = newKeyPair();
  const keyFile = join(root, 'key.pub');
  writeFileSync(keyFile, key.publicPem);
  return { folder: await packSimulated(root, '11.0.0', key), keyFile };
}

test('accepts a payload that the given key has signed', async () => {
  const { folder, keyFile } = await signedPayload();
  await checkPayload(folder, keyFile);
});

test('refuses one that the key of the release has not signed', async () => {
  const { folder } = await signedPayload();
  await expect(checkPayload(folder)).rejects.toThrow(/not a signature over \S+ by the key of the release/);
});

test('refuses one with another file inside, such as the private key', async () => {
  const { folder, keyFile } = await signedPayload();
  writeFileSync(join(folder, 'payload-key.pem'), '');
  await expect(checkPayload(folder, keyFile)).rejects.toThrow(/payload-key\.pem has no checksum/);
});

test('refuses a folder that is no payload', async () => {
  const { keyFile } = await signedPayload();
  await expect(checkPayload(join(keyFile, '..', 'files'), keyFile)).rejects.toThrow(/SHA256SUMS cannot be read/);
});
