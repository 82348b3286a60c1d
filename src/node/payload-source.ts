import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { agentName } from '#contract/names.ts';
import { type Checksums, parseChecksums } from '#payload/checksums.ts';
import { checksumFile, checkSignature, signatureFile } from '#payload/signature.ts';
import type { BundleFile } from './bundle.ts';
import { checkPayload, optionalPrograms, type PayloadFile, payloadFor } from './payload.ts';
import { PayloadCache } from './payload-cache.ts';
import { ensurePrivateFolder } from './private-folder.ts';

/** The programs for hosts, checked and ready to upload. */
export interface PayloadSource {
  /** The agent, unpacked: it is uploaded first, because it unpacks all others. */
  agent(): Promise<PlainFile>;
  /** All other programs for a platform, packed. */
  files(platform: string): Promise<readonly BundleFile[]>;
  /** Names of the optional programs that it has. */
  optionalPrograms?: readonly string[];
}

export interface PlainFile {
  path: string;
  /** Lower-case hex. */
  sha256: string;
  bytes: number;
  /** A chunk is valid until the next one is read. */
  content(): AsyncIterable<Uint8Array>;
}

export interface PayloadOptions {
  /** Folder with the programs, plain or as `.tar.gz`, and the file `sha256sum`. */
  folder: string;
  /** Private folder for packed programs; valid files of an earlier run are used again. */
  cacheFolder: string;
  /** The public key that must have signed the list of checksums. */
  key: TrustedKey;
  log?: Log;
}

export interface TrustedKey {
  /** PEM. */
  publicPem: string;
  /** Where it comes from, for messages. */
  keyName: string;
}

const agentFile = `${agentName}.exe`;

/**
 * Opens the payload of the image. Fails if its list of checksums is not signed by the key, or if a program has no checksum. Programs are
 * read on first use, and checked then.
 */
export async function openPayload(options: PayloadOptions): Promise<PayloadSource> {
  const { folder, cacheFolder, key, log = silentLog } = options;
  const checksums = await signedChecksums(folder, key);
  const problems = checkPayload(checksums);
  const [first] = problems;
  if (first !== undefined) {
    throw new AppError(first.code, problems.map(({ message }) => message).join(', '), { remedy: first.remedy });
  }
  const optional = optionalPrograms(checksums);
  await ensurePrivateFolder(cacheFolder);
  const cache = new PayloadCache(cacheFolder, log);
  const stored = (file: PayloadFile) => ({
    source: join(folder, file.source),
    name: file.name,
    sha256: hashOf(file, checksums),
  });
  return {
    optionalPrograms: optional,
    agent: async () => {
      const [file] = payloadFor('').filter(({ name }) => name === agentFile);
      if (file === undefined) throw new Error('the agent is not in the payload');
      return { path: pathOf(file), ...(await cache.plain(stored(file))) };
    },
    files: async platform => {
      const files = payloadFor(platform, optional).filter(({ name }) => name !== agentFile);
      const made = files.map(async file => ({
        path: pathOf(file),
        secret: false,
        ...(await cache.packed(stored(file))),
      }));
      // Waits for all before it rejects, so that nothing continues in the background.
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

/** Parses the bytes that the signature was checked for: the file is read once. */
async function signedChecksums(folder: string, key: TrustedKey): Promise<Checksums> {
  const path = join(folder, checksumFile);
  const content = await readBytes(path);
  const signature = await readFile(join(folder, signatureFile), 'latin1').catch((cause: unknown) => {
    throw new AppError('PAYLOAD_UNSIGNED', `${join(folder, signatureFile)} cannot be read: the payload is not signed`, {
      remedy: 'Use a payload that `wmco payload pack --sign-key` has made.',
      cause,
    });
  });
  checkSignature({ content, signature, path, ...key });
  return parseChecksums(content.toString('utf8'));
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new AppError('PAYLOAD_UNREADABLE', `the list of checksums ${path} cannot be read`, {
      remedy: 'Set --payload-dir to the folder of a payload that was built for this operator.',
      cause,
    });
  }
}
