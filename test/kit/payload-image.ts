import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { payloadFor } from '../../src/node/payload.ts';
import { openPayload } from '../../src/node/payload-source.ts';
import { testKey, writeSigned } from './payload-key.ts';
import { recordedLog } from './recorded-log.ts';
import { tarOf } from './tar-archive.ts';

export const defaultContent = (name: string) => Buffer.from(`${name} `.repeat(3000));
export const every = [...new Map([...payloadFor('AWS'), ...payloadFor('Azure')].map(one => [one.name, one])).values()];
/** Each piece is copied at once: it is good for no longer than until the next one. */
export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const chunk of chunks) pieces.push(Buffer.from(chunk));
  return Buffer.concat(pieces);
}

interface Image {
  /** How a file is stored; an archive by default. */
  plain?: (name: string) => boolean;
  /** Files with other than the default content. */
  contents?: Record<string, Buffer>;
  checksums?: string;
}

/** A folder as the image of the operator has it, and one for what is packed. */
export async function image({ plain = () => false, contents = {}, checksums }: Image = {}) {
  const contentOf = (name: string) => contents[name] ?? defaultContent(name);
  const root = await mkdtemp(join(tmpdir(), 'wmco-payload-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const [folder, cacheFolder] = [join(root, 'payload'), join(root, 'cache', 'deep')];
  for (const { source, name } of every) {
    const path = join(folder, source);
    await mkdir(dirname(path), { recursive: true });
    if (plain(name)) await writeFile(path, contentOf(name));
    else await writeFile(`${path}.tar.gz`, await promisify(gzip)(tarOf({ [name]: contentOf(name) })));
  }
  const lines = every.map(({ source, name }) => `${sha256(contentOf(name))}  payload/${source}`);
  writeSigned(folder, checksums ?? `${lines.join('\n')}\n`);
  const recorded = recordedLog();
  const open = () => openPayload({ folder, cacheFolder, key: testKey, log: recorded.log });
  return { folder, cacheFolder, log: recorded, open };
}
