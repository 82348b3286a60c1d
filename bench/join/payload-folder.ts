import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { payloadFor } from '../../src/node/payload.ts';
import { writeSigned } from '../../test/kit/payload-key.ts';
import { type PayloadRelease, sandboxPayload } from '../../src/bin/sandbox-factory.ts';

/** Writes a payload as in an image: incompressible programs of this total size, and their checksums. */
export async function writePayload(folder: string, release: PayloadRelease, bytes: number): Promise<void> {
  const source = sandboxPayload(release, bytes);
  const files = [await source.agent(), ...(await source.files('None'))];
  const lines: string[] = [];
  for (const { source: path, directory, name } of payloadFor('None')) {
    const file = files.find(one => one.path === `${directory}\\${name}`);
    if (file === undefined) throw new Error(`no content for ${name}`);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    await pipeline('content' in file ? file.content() : file.packed(), createWriteStream(join(folder, path)));
    lines.push(`${file.sha256}  ${name}\n`);
  }
  // Every image lists programs of other platforms; their content is not needed here.
  const listed = new Set(payloadFor('None').map(({ name }) => name));
  const others = [...payloadFor('AWS'), ...payloadFor('Azure')].filter(({ name }) => !listed.has(name));
  for (const { name } of others) lines.push(`${'0'.repeat(64)}  ${name}\n`);
  writeSigned(folder, lines.join(''));
}
