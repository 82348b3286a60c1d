import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { HostFiles } from '../../ports.ts';
import type { FileAccess } from './acl.ts';
import { asideName, isBusy, replaceFile, untilFree } from './busy-files.ts';

export interface FilesOptions {
  clock: Clock;
  access: FileAccess;
  /** Start time of a process in milliseconds since 1970; undefined when it does not exist. */
  startedMs: (pid: number) => number | undefined;
}

type Access = 'secret' | undefined;
type Content = string | AsyncIterable<Uint8Array>;

const chunkBytes = 1 << 20;
const newMark = '.wicd-new';
/** With the PID of the writer, so that the files of a running process are kept. */
const newName = /\.(\d+)-\d+\.wicd-new$/;

/** The files of this host. Paths are not normalized. */
export function createFiles(options: FilesOptions): HostFiles {
  const { clock } = options;
  return {
    read: path => unlessMissing(path, () => readFile(path, 'utf8')),
    write: (path, text, access) => writeWhole(path, text, access, options),
    writeChunks: (path, chunks, access) => writeWhole(path, chunks, access, options),
    remove: path => unlessMissing(path, () => untilFree(clock, () => unlink(path))),
    // A directory that another process is removing is visible but cannot be opened.
    list: async directory => (await unlessMissing(directory, () => untilFree(clock, () => readdir(directory)))) ?? [],
    sha256: path => unlessMissing(path, () => hashOf(path)),
    readChunks,
    stat: path =>
      unlessMissing(path, async () => {
        const { size, mtimeMs } = await stat(path);
        return { bytes: size, modifiedMs: mtimeMs };
      }),
    async makeDirectory(path, access) {
      await withPath(path, () => mkdir(path, { recursive: true }));
      if (access !== undefined) options.access.protect(path, access);
    },
    createDirectory: (path, access) =>
      withPath(path, async () => {
        await mkdir(dirname(path), { recursive: true });
        try {
          await mkdir(path);
        } catch (error) {
          if (codeOf(error) === 'EEXIST') return false;
          throw error;
        }
        options.access.protect(path, access);
        return true;
      }),
    async removeDirectory(path) {
      await withPath(path, () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
    },
    removeEmptyDirectory: path => withPath(path, () => untilFree(clock, () => removeUnlessFilled(path))),
    inspect: async path => options.access.inspect(path),
    protect: async (path, access) => options.access.protect(path, access),
    move: (from, to) => withPath(from, () => moveUnlessBusy(from, to)),
  };
}

async function removeUnlessFilled(path: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}

async function moveUnlessBusy(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** The new content is on disk before it replaces the old one, so that a crash leaves either the one or the other. */
async function writeWhole(path: string, content: Content, access: Access, options: FilesOptions): Promise<void> {
  const directory = dirname(path);
  await withPath(path, async () => {
    await mkdir(directory, { recursive: true });
    await removeLeftovers(directory, options);
  });
  const draft = await withPath(path, () => createDraft(path, access, options.access));
  try {
    await fill(draft.file, path, content);
    await withPath(path, () => replaceFile(draft.file, path, { rename, clock: options.clock }));
  } catch (error) {
    await discard(draft.root);
    throw error;
  }
  // Another write may already use the name of a draft that was moved.
  if (draft.root !== draft.file) await discard(draft.root);
}

interface Draft {
  /** Receives the content. */
  file: string;
  /** To be removed at the end. */
  root: string;
}

/** A secret is created in a protected directory, so that no user can open the file before its rights are set. */
async function createDraft(path: string, access: Access, rights: FileAccess): Promise<Draft> {
  for (let number = 1; ; number += 1) {
    const root = join(dirname(path), `${basename(path)}.${process.pid}-${number}${newMark}`);
    const file = access === 'secret' ? join(root, 'content') : root;
    try {
      if (access === 'secret') {
        await mkdir(root);
        rights.protect(root, 'secret');
      }
      await (await open(file, 'wx', 0o600)).close();
      if (access === 'secret') rights.protect(file, 'secret');
      return { root, file };
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      await discard(root);
      throw error;
    }
  }
}

/** A later write in the directory removes what cannot be removed now. */
async function discard(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

async function fill(file: string, path: string, content: Content): Promise<void> {
  const handle = await withPath(path, () => open(file, 'r+'));
  try {
    if (typeof content === 'string') await withPath(path, () => handle.writeFile(content));
    else for await (const chunk of content) await withPath(path, () => writeAll(handle, chunk));
    await withPath(path, () => handle.sync());
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await handle.write(chunk, written)).bytesWritten;
  }
}

/** Removes leftovers of earlier writes: drafts of exited processes, and programs that were moved aside. */
async function removeLeftovers(directory: string, options: FilesOptions): Promise<void> {
  for (const name of await readdir(directory)) {
    const [path, writer] = [join(directory, name), newName.exec(name)?.[1]];
    const isDraft = writer !== undefined && !(await isWriting(Number(writer), path, options));
    if (isDraft || asideName.test(name)) await discard(path);
  }
}

/** Windows reuses PIDs: a process that started after the draft was written is another one. */
async function isWriting(pid: number, draft: string, { startedMs }: FilesOptions): Promise<boolean> {
  const startMs = startedMs(pid);
  if (startMs === undefined) return false;
  // A file that its writer is removing is listed but cannot be opened.
  const writtenMs = await stat(draft).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  );
  return startMs <= writtenMs;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  const handle = await open(path);
  for await (const chunk of handle.createReadStream({ highWaterMark: chunkBytes })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function* readChunks(path: string, from = 0): AsyncGenerator<Uint8Array> {
  const handle = await withPath(path, () => open(path));
  const stream = handle.createReadStream({ start: from, highWaterMark: chunkBytes })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await withPath(path, () => stream.next());
      if (done === true) return;
      yield value as Buffer;
    }
  } finally {
    await stream.return?.();
  }
}

/** Undefined when the file does not exist. */
async function unlessMissing<T>(path: string, act: () => Promise<T>): Promise<T | undefined> {
  return await withPath(path, async () => {
    try {
      return await act();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  });
}

/** Turns file system failures into errors with the path and a remedy. */
async function withPath<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || error instanceof AppError) throw error;
    throw new AppError('HOST_FILE_UNUSABLE', `${path}: ${meanings[code]?.what ?? code}`, {
      remedy: meanings[code]?.remedy ?? 'Check the disk of the host for errors: chkdsk.exe C:.',
      cause: error,
    });
  }
}

const inUse = {
  what: 'is in use, or access is denied',
  remedy: 'Close the program that has it open, or grant SYSTEM and Administrators full control with icacls.exe.',
};

const meanings: Readonly<Record<string, { what: string; remedy: string }>> = {
  EBUSY: inUse,
  EPERM: inUse,
  EACCES: inUse,
  ENOENT: {
    what: 'does not exist',
    remedy: 'Wait for the operator to configure the host again: it uploads missing files.',
  },
  ENOSPC: { what: 'no space is left on the disk', remedy: 'Free space on the disk of the host.' },
  EISDIR: { what: 'is a directory', remedy: 'Remove or rename the directory.' },
  ENOTDIR: { what: 'a part of the path is a file, not a directory', remedy: 'Remove or rename the file.' },
};

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
