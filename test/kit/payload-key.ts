import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checksumFile, newKeyPair, signatureFile, signChecksums } from '../../src/payload/signature.ts';

/** Signs the payloads of this process. */
const pair = newKeyPair();

/** The key that tests trust. */
export const testKey = { publicPem: pair.publicPem, keyName: 'the key of the test' };

/** Writes and signs a list of checksums; the public key is left in `payload-key.pub` of the same folder. */
export function writeSigned(folder: string, checksums: string): { keyFile: string } {
  const content = Buffer.from(checksums);
  writeFileSync(join(folder, checksumFile), content);
  writeFileSync(join(folder, signatureFile), signChecksums(content, pair.privatePem, testKey.keyName));
  const keyFile = join(folder, 'payload-key.pub');
  writeFileSync(keyFile, pair.publicPem);
  return { keyFile };
}
