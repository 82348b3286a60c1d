import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { agentName } from '#contract/names.ts';
import type { BundleFile } from './bundle.ts';
import { type Checksums, checkPayload, parseChecksums, type PayloadFile, payloadFor } from './payload.ts';
import { PayloadCache } from './payload-cache.ts';
import { ensurePrivateFolder } from './private-folder.ts';

/** The programs we carry to hosts, checked and ready to be sent as often as there are hosts. */
export interface PayloadSource {
  /** The agent: it travels before all others and as it is, for only with its help can the host unpack anything. */
  agent(): Promise<PlainFile>;
  /** All others for hosts of a platform, packed. */
  files(platform: string): Promise<readonly BundleFile[]>;
}

export interface PlainFile {
  path: string;
  /** Lower-case hex. */
  sha256: string;
  bytes: number;
  /** A piece is good until the next one is asked for. */
  content(): AsyncIterable<Uint8Array>;
}

export interface PayloadOptions {
  /** Where the programs lie, each as it is or as `.tar.gz`, with the file `sha256sum`. */
  folder: string;
  /** Where they are kept packed by the hash of their content, for us alone; what is right of an earlier run is used again. */
  cacheFolder: string;
  log?: Log;
}

const agentFile = `${agentName}.exe`;

/** Opens the payload of the image. Every program has a checksum, or this fails; none is read before it is needed. */
export async function openPayload({ folder, cacheFolder, log = silentLog }: PayloadOptions): Promise<PayloadSource> {
  const checksums = parseChecksums(await readText(join(folder, 'sha256sum')));
  const problems = checkPayload(checksums);
  const [first] = problems;
  if (first !== undefined) {
    throw new AppError(first.code, problems.map(({ message }) => message).join(', '), { remedy: first.remedy });
  }
  await ensurePrivateFolder(cacheFolder);
  const cache = new PayloadCache(cacheFolder, log);
  const stored = (file: PayloadFile) => ({
    source: join(folder, file.source),
    name: file.name,
    sha256: hashOf(file, checksums),
  });
  return {
    agent: async () => {
      const [file] = payloadFor('').filter(({ name }) => name === agentFile);
      if (file === undefined) throw new Error('the agent is not in the payload');
      return { path: pathOf(file), ...(await cache.plain(stored(file))) };
    },
    files: async platform => {
      const files = payloadFor(platform).filter(({ name }) => name !== agentFile);
      const made = files.map(async file => ({
        path: pathOf(file),
        secret: false,
        ...(await cache.packed(stored(file))),
      }));
      // All come to their end before a failure is told, so that nothing goes on behind anybody's back.
      await Promise.allSettled(made);
      return Promise.all(made);
    },
  };
}

function pathOf({ directory, name }: PayloadFile): string {
  return `${directory}\\${name}`;
}

function hashOf({ name }: PayloadFile, checksums: Checksums): string {
  return checksums[name] ?? '';
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new AppError('PAYLOAD_UNREADABLE', `the list of checksums ${path} cannot be read`, {
      remedy: 'Start the operator with the folder of a payload that was built for it.',
      cause,
    });
  }
}
