import { readFile } from 'node:fs/promises';
import { payloadFiles } from '../../src/node/payload.ts';
import { releaseKey } from '../../src/payload/release-key.ts';
import { verifyPacked } from '../../src/payload/verify.ts';

/** Fails unless the operator would accept the payload: the key has signed it, and it has nothing else inside. */
export async function checkPayload(folder: string, keyFile = ''): Promise<void> {
  const key =
    keyFile === ''
      ? { publicPem: releaseKey, keyName: 'the key of the release' }
      : { publicPem: await readFile(keyFile, 'utf8'), keyName: keyFile };
  const { problems } = await verifyPacked({ folder, key, wanted: payloadFiles });
  if (problems.length === 0) return;
  const lines = problems.map(({ message, remedy }) => `  ${message}\n  -> ${remedy}`);
  throw new Error(`the operator would not accept the payload:\n${lines.join('\n')}`);
}
