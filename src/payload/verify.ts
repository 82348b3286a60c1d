import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { AppError, messageOf, shown } from '#base/errors.ts';
import { type Checksums, parseChecksumPaths } from './checksums.ts';
import { filesIn, sumOf } from './folder.ts';
import { parseLock, type PayloadLock, unverified, type WantedFile } from './lock.ts';
import { packedFile, unpinned } from './pack.ts';
import { checksumFile, checkSignature } from './signature.ts';
import { fileOfTar } from './tar.ts';
import { transformed } from './transformed.ts';

export interface Verified {
  /** How many programs were checked. */
  programs: number;
  problems: readonly AppError[];
  /** Programs that were not compared, because the lock has no checksum of what a site builds. */
  unchecked?: readonly string[];
}

/** A program may have this size unpacked; more is a bomb. */
const maxProgramBytes = 1024 ** 3;

/** Compares the programs of a folder, as `fetch` leaves them, with the lock. */
export async function verifyFetched(folder: string, lock: PayloadLock): Promise<Verified> {
  const files = lock.sources.flatMap(({ origin, files: own }) => own.map(file => ({ ...file, kind: origin.kind })));
  const present = (await filesIn(folder)).filter(path => !path.startsWith('.'));
  const problems = present
    .filter(path => !files.some(file => file.path === path))
    .map(path => unlisted(join(folder, path)));
  for (const { path, sha256, kind } of files) {
    if (!present.includes(path)) problems.push(missing(join(folder, path)));
    else if (sha256 === unverified && kind !== 'built') problems.push(unpinned(path));
    else if (sha256 !== unverified)
      problems.push(...differences(join(folder, path), await sumOf(join(folder, path)), sha256));
  }
  const unchecked = files.filter(({ sha256, kind }) => sha256 === unverified && kind === 'built');
  return { programs: files.length, problems, unchecked: unchecked.map(({ path }) => path) };
}

export interface VerifyPackedOptions {
  folder: string;
  key: { publicPem: string; keyName: string };
  wanted: readonly WantedFile[];
}

/** Checks signatures, every file, and the programs in the archives of a packed payload. */
export async function verifyPacked({ folder, key, wanted }: VerifyPackedOptions): Promise<Verified> {
  const problems: AppError[] = [];
  const list = await signedList(folder, packedFile.list, key, problems);
  const contents = await signedList(folder, checksumFile, key, problems);
  const unlistable: string[] = [packedFile.list, packedFile.listSignature];
  const present = (await filesIn(folder)).filter(path => !unlistable.includes(path));
  problems.push(...present.filter(path => !Object.hasOwn(list, path)).map(path => unlisted(join(folder, path))));
  for (const [path, sum] of Object.entries(list)) {
    if (!present.includes(path)) problems.push(missing(join(folder, path)));
    else problems.push(...differences(join(folder, path), await sumOf(join(folder, path)), sum));
  }
  // Errors about contents would only repeat those above.
  if (problems.length > 0) return { programs: Object.keys(contents).length, problems };
  for (const [path, sum] of Object.entries(contents)) {
    if (!present.includes(`${path}.tar.gz`)) problems.push(missing(join(folder, `${path}.tar.gz`)));
    else problems.push(...(await contentProblems(join(folder, `${path}.tar.gz`), path, sum)));
  }
  problems.push(...(await lockProblems(folder, contents, wanted)));
  return { programs: Object.keys(contents).length, problems };
}

async function signedList(
  folder: string,
  name: string,
  key: VerifyPackedOptions['key'],
  problems: AppError[],
): Promise<Checksums> {
  const path = join(folder, name);
  const content = await readFile(path).catch((cause: unknown) => {
    throw new AppError('PAYLOAD_UNREADABLE', `${path} cannot be read: ${messageOf(cause)}`, {
      remedy: 'Name a folder that `wmco payload pack` has written.',
      cause,
    });
  });
  const signature = await readFile(`${path}.sig`, 'latin1').catch(() => undefined);
  try {
    if (signature === undefined) throw unsigned(`${path}.sig`);
    checkSignature({ content, signature, path, ...key });
    return parseChecksumPaths(content.toString('utf8'));
  } catch (error) {
    // Without its signature a list proves nothing, but it still tells which files it does not describe.
    if (!(error instanceof AppError) || error.code === 'PAYLOAD_KEY_INVALID') throw error;
    problems.push(error);
    return error.code === 'PAYLOAD_UNSIGNED' ? tolerant(content.toString('utf8')) : {};
  }
}

function tolerant(text: string): Checksums {
  try {
    return parseChecksumPaths(text);
  } catch {
    return {};
  }
}

async function contentProblems(archive: string, path: string, expected: string): Promise<AppError[]> {
  const digest = createHash('sha256');
  const name = path.slice(path.lastIndexOf('/') + 1);
  let bytes = 0;
  try {
    const unpacked = transformed(createGunzip(), createReadStream(archive) as AsyncIterable<Buffer>);
    for await (const chunk of fileOfTar(unpacked, name)) {
      bytes += chunk.length;
      if (bytes > maxProgramBytes) throw new Error(`it has more than ${maxProgramBytes} bytes unpacked`);
      digest.update(chunk);
    }
  } catch (error) {
    if (error instanceof AppError) return [error];
    return [damaged(`${archive} cannot be unpacked: ${messageOf(error)}`, error)];
  }
  return differences(`${archive} (${name})`, digest.digest('hex'), expected);
}

/** The lock in the payload is signed with it: it must describe the same programs. */
async function lockProblems(folder: string, contents: Checksums, wanted: readonly WantedFile[]): Promise<AppError[]> {
  const path = join(folder, packedFile.lock);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return [missing(path)];
  let lock: PayloadLock;
  try {
    lock = parseLock(text, path, wanted);
  } catch (error) {
    if (error instanceof AppError) return [error];
    throw error;
  }
  return lock.sources
    .flatMap(source => source.files)
    .flatMap(file => {
      const listed = contents[file.path];
      if (listed === undefined) return [damaged(`${join(folder, checksumFile)} does not list ${shown(file.path)}`)];
      return file.sha256 === unverified ? [] : differences(join(folder, file.path), listed, file.sha256);
    });
}

function differences(path: string, actual: string, expected: string): AppError[] {
  return actual === expected ? [] : [damaged(`${path} has SHA-256 ${actual}, not ${expected}: it was changed or cut`)];
}

function damaged(message: string, cause?: unknown): AppError {
  return new AppError('PAYLOAD_DAMAGED', message, {
    remedy: 'Replace the file: run `wmco payload fetch` again, or copy the packed payload again.',
    cause,
  });
}

function missing(path: string): AppError {
  return new AppError('PAYLOAD_UNREADABLE', `${path} is missing`, {
    remedy: 'Run `wmco payload fetch` again, or copy the packed payload again.',
  });
}

function unlisted(path: string): AppError {
  return new AppError('PAYLOAD_CHECKSUM_MISSING', `${path} has no checksum: it is not part of this payload`, {
    remedy: `Delete the file, unless you can tell who has put it there.`,
  });
}

function unsigned(path: string): AppError {
  return new AppError('PAYLOAD_UNSIGNED', `${path} is missing: the payload is not signed`, {
    remedy: 'Sign it: run `wmco payload pack` again with --sign-key.',
  });
}
