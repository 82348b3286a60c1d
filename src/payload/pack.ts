import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { AppError, shown } from '#base/errors.ts';
import { printChecksums } from './checksums.ts';
import { checkReplaceable, filesIn, sumsIn } from './folder.ts';
import type { LockFile, LockSource, PayloadLock } from './lock.ts';
import { unverified } from './lock.ts';
import { checksumFile, signatureFile, signChecksums } from './signature.ts';
import { printSpdx, type SpdxFile, type SpdxPackage } from './spdx.ts';
import { tarOfFile } from './tar-write.ts';

/** What a packed payload has beside its archives and the signed list of their contents. */
export const packedFile = {
  /** Checksums of all files of the folder but this one and its signature. */
  list: 'SHA256SUMS',
  listSignature: 'SHA256SUMS.sig',
  lock: 'payload.lock.yaml',
  sbom: 'payload.spdx.json',
} as const;

export interface PackOptions {
  /** With the programs as they are. */
  folder: string;
  /** Written when it is complete; a packed payload there is replaced. */
  output: string;
  lock: PayloadLock;
  lockText: string;
  /** PEM; without it the payload is not signed. */
  signKey?: { privatePem: string; keyName: string };
  /** RFC 3339: the date of the SBOM. */
  created: string;
  progress?: (path: string, packedBytes: number) => void;
  /** Nothing is left of what it stops. */
  signal?: AbortSignal;
}

/** Packs the programs: archives, list of their contents, lock, SBOM and signatures. Two runs give the same bytes. */
export async function packPayload(options: PackOptions): Promise<void> {
  const { lock, lockText, signKey } = options;
  // With a slash at its end, the draft would be inside.
  const output = resolve(options.output);
  await checkReplaceable(output, { what: 'a packed payload', ...packedFile });
  await mkdir(dirname(output), { recursive: true });
  const draft = await mkdtemp(`${output}.partial-`);
  try {
    const files = await packFiles(options, draft);
    const sums = Object.fromEntries(files.map(({ path, sums: { SHA256 } }) => [path, SHA256]));
    await writeSigned(join(draft, checksumFile), join(draft, signatureFile), printChecksums(sums), signKey);
    await writeFile(join(draft, packedFile.lock), lockText);
    await writeFile(join(draft, packedFile.sbom), sbomOf(lock, files, options.created));
    const list = printChecksums(await sumsIn(draft));
    await writeSigned(join(draft, packedFile.list), join(draft, packedFile.listSignature), list, signKey);
    for (const path of await filesIn(draft)) await chmod(join(draft, path), 0o644);
    await chmod(draft, 0o755);
    await rm(output, { recursive: true, force: true });
    await rename(draft, output);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function packFiles({ folder, lock, progress, signal }: PackOptions, draft: string): Promise<SpdxFile[]> {
  const packed: SpdxFile[] = [];
  for (const source of lock.sources)
    for (const file of source.files) {
      const target = join(draft, `${file.path}.tar.gz`);
      await mkdir(dirname(target), { recursive: true });
      signal?.throwIfAborted();
      packed.push({ path: file.path, sums: await packFile(join(folder, file.path), target, file, source) });
      progress?.(file.path, (await stat(target)).size);
    }
  return packed;
}

/** The sums are those of the bytes that were packed, and are compared with the lock. */
async function packFile(
  path: string,
  target: string,
  file: LockFile,
  source: LockSource,
): Promise<Record<'SHA1' | 'SHA256', string>> {
  const bytes = await sizeOf(path);
  const [sha1, sha256] = [createHash('sha1'), createHash('sha256')];
  let read = 0;
  async function* watched(): AsyncGenerator<Uint8Array> {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      read += chunk.length;
      sha1.update(chunk);
      sha256.update(chunk);
      yield chunk;
    }
  }
  const name = path.slice(path.lastIndexOf('/') + 1);
  await pipeline(
    Readable.from(tarOfFile(name, bytes, watched()), { objectMode: false }),
    createGzip({ level: 9 }),
    createWriteStream(target),
  );
  const sums = { SHA1: sha1.digest('hex'), SHA256: sha256.digest('hex') };
  if (read !== bytes) throw differs(`${path} changed while it was packed`);
  if (file.sha256 !== unverified && file.sha256 !== sums.SHA256)
    throw differs(`${path} has SHA-256 ${sums.SHA256}, but the lock has ${file.sha256}`);
  if (file.sha256 === unverified && source.origin.kind !== 'built') throw unpinned(file.path);
  return sums;
}

async function sizeOf(path: string): Promise<number> {
  try {
    const facts = await stat(path);
    if (facts.isFile()) return facts.size;
    throw new Error('it is not a file');
  } catch (cause) {
    throw new AppError('PAYLOAD_UNREADABLE', `${path} is missing or is not a file`, {
      remedy: 'Download it with `wmco payload fetch`; the agent comes with its flag --agent.',
      cause,
    });
  }
}

function differs(message: string): AppError {
  return new AppError('PAYLOAD_DAMAGED', message, { remedy: 'Delete the file and run `wmco payload fetch` again.' });
}

export function unpinned(path: string): AppError {
  return new AppError('PAYLOAD_UNVERIFIED', `the lock has no checksum of ${shown(path)}: it is unverified`, {
    remedy:
      'Enter its SHA-256, or run `wmco payload fetch --trust-first-download`, which enters those of what it downloads.',
  });
}

async function writeSigned(path: string, signaturePath: string, text: string, key: PackOptions['signKey']) {
  const content = Buffer.from(text);
  await writeFile(path, content);
  if (key !== undefined) await writeFile(signaturePath, signChecksums(content, key.privatePem, key.keyName));
}

const product = 'windows-machine-config-operator-payload';

function sbomOf({ kubernetes, sources }: PayloadLock, files: readonly SpdxFile[], created: string): string {
  return printSpdx({
    main: { name: product, version: kubernetes, license: 'NOASSERTION', sums: {} },
    parts: sources.map(source => partOf(source, files)),
    created,
    tool: 'wmco-payload-pack',
  });
}

function partOf({ name, version, license, origin, files: own }: LockSource, files: readonly SpdxFile[]): SpdxPackage {
  const sums = origin.kind === 'archive' && origin.sha256 !== unverified ? { SHA256: origin.sha256 } : {};
  return {
    name,
    version,
    license,
    sums,
    files: files.filter(({ path }) => own.some(each => each.path === path)),
    ...(origin.kind === 'image' && { purl: imagePurl(origin.reference, origin.digest) }),
    ...((origin.kind === 'archive' || origin.kind === 'file') && { download: origin.url }),
  };
}

/** `pkg:oci/name@sha256:…?repository_url=…&tag=…`. */
function imagePurl(reference: string, digest: string): string {
  const [, repository = '', tag = ''] = /^(.*):([^:/]+)$/.exec(reference) ?? [];
  const name = repository.slice(repository.lastIndexOf('/') + 1);
  const version = digest === unverified ? '' : `@${encodeURIComponent(digest)}`;
  return `pkg:oci/${name}${version}?repository_url=${encodeURIComponent(repository)}&tag=${encodeURIComponent(tag)}`;
}
