import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { sha256 } from '../../../src/base/sha256.ts';
import { payloadFiles } from '../../../src/node/payload.ts';
import { parseLock } from '../../../src/payload/lock.ts';
import { packPayload } from '../../../src/payload/pack.ts';
import type { KeyPair } from '../../../src/payload/signature.ts';
import { stampOf } from '../../../src/sandbox/machines/programs/stamp.ts';

/** Packs programs that simulated hosts can run as `wmco payload pack` does, signed. */
export async function packSimulated(folder: string, version: string, { privatePem }: KeyPair): Promise<string> {
  const [files, output] = [join(folder, 'files'), join(folder, 'payload')];
  const sources = [];
  for (const { source: path, name, isOptional } of payloadFiles) {
    if (isOptional === true) continue;
    const content = `${stampOf(name, version)}${name} `.padEnd(50_000, 'program ');
    await mkdir(dirname(join(files, path)), { recursive: true });
    await writeFile(join(files, path), content);
    sources.push({
      name: name.replace('.exe', '').replaceAll('_', '-'),
      version,
      license: 'Apache-2.0',
      file: `https://example.com/${path}`,
      files: [{ path, sha256: sha256(content) }],
    });
  }
  const lockText = stringify({ kubernetes: 'v1.36', sources });
  await packPayload({
    folder: files,
    output,
    lock: parseLock(lockText, 'payload.lock.yaml', payloadFiles),
    lockText,
    signKey: { privatePem, keyName: 'the key of the test' },
    created: '1970-01-01T00:00:00Z',
  });
  return output;
}
