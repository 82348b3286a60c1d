import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { HostFiles } from '../../ports.ts';
import type { FileAccess } from './acl.ts';
import { asideName, isBusy, replaceFile, untilFree } from './busy-files.ts';

export interface FilesOptions {
  clock: Clock;
  access: FileAccess;
  /** When the process of that number began, in milliseconds since 1970; undefined when there is none. */
  startedMs: (pid: number) => number | undefined;
}

type Access = 'secret' | undefined;
type Content = string | AsyncIterable<Uint8Array>;

const chunkBytes = 1 << 20;
const newMark = '.wicd-new';
/** The process that wrote it and a number, so that a living process keeps what it is writing. */
const newName = /\.(\d+)-\d+\.wicd-new$/;

/** The files of this host. Paths are taken as they are. */
export function createFiles(options: FilesOptions): HostFiles {
  const { clock } = options;
  return {
    read: path => unlessAbsent(path, () => readFile(path, 'utf8')),
    write: (path, text, access) => writeWhole(path, text, access, options),
    writeChunks: (path, chunks, access) => writeWhole(path, chunks, access, options),
    remove: path => unlessAbsent(path, () => untilFree(clock, () => unlink(path))),
    // One that another process is just removing can be seen, but not be opened until it is gone.
    list: async directory => (await unlessAbsent(directory, () => untilFree(clock, () => readdir(directory)))) ?? [],
    sha256: path => unlessAbsent(path, () => hashOf(path)),
    readChunks,
    stat: path =>
      unlessAbsent(path, async () => {
        const { size, mtimeMs } = await stat(path);
        return { bytes: size, modifiedMs: mtimeMs };
      }),
    async makeDirectory(path, access) {
      await named(path, () => mkdir(path, { recursive: true }));
      if (access !== undefined) options.access.protect(path, access);
    },
    createDirectory: (path, access) =>
      named(path, async () => {
        // Above it is a folder of ours, or one of Windows.
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
      await named(path, () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
    },
    inspect: async path => options.access.inspect(path),
    protect: async (path, access) => options.access.protect(path, access),
    move: (from, to) => named(from, () => moveUnlessBusy(from, to)),
  };
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

/** The new content is complete on the disk before it takes the place of the old one, so a crash leaves one or the other. */
async function writeWhole(path: string, content: Content, access: Access, options: FilesOptions): Promise<void> {
  const directory = dirname(path);
  await named(path, async () => {
    await mkdir(directory, { recursive: true });
    await sweep(directory, options);
  });
  const draft = await named(path, () => createDraft(path, access, options.access));
  try {
    await fill(draft.file, path, content);
    await named(path, () => replaceFile(draft.file, path, { rename, clock: options.clock }));
  } finally {
    await discard(draft.root);
  }
}

interface Draft {
  /** Where the content goes. */
  file: string;
  /** What has to be removed in the end. */
  root: string;
}

/** A secret is born in a directory that is protected already: nobody can have opened the file before it was. */
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

/** What cannot be removed now is swept away by a later write. */
async function discard(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

async function fill(file: string, path: string, content: Content): Promise<void> {
  const handle = await named(path, () => open(file, 'r+'));
  try {
    if (typeof content === 'string') await named(path, () => handle.writeFile(content));
    else for await (const chunk of content) await named(path, () => writeAll(handle, chunk));
    await named(path, () => handle.sync());
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await handle.write(chunk, written)).bytesWritten;
  }
}

/** Removes what earlier writes in the directory left: drafts of processes that are gone, programs that ran. */
async function sweep(directory: string, options: FilesOptions): Promise<void> {
  for (const name of await readdir(directory)) {
    const [path, writer] = [join(directory, name), newName.exec(name)?.[1]];
    const isDraft = writer !== undefined && !(await isWriting(Number(writer), path, options));
    if (isDraft || asideName.test(name)) await discard(path);
  }
}

/** Windows gives numbers of processes again, after a boot the same ones first: a process cannot be younger than its draft. */
async function isWriting(pid: number, draft: string, { startedMs }: FilesOptions): Promise<boolean> {
  const began = startedMs(pid);
  if (began === undefined) return false;
  // Windows lists a file that its writer is just removing, but does not open it.
  const writtenMs = await stat(draft).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  );
  return began <= writtenMs;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  const handle = await open(path);
  for await (const chunk of handle.createReadStream({ highWaterMark: chunkBytes })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  const handle = await named(path, () => open(path));
  const stream = handle.createReadStream({ highWaterMark: chunkBytes })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await named(path, () => stream.next());
      if (done === true) return;
      yield value as Buffer;
    }
  } finally {
    await stream.return?.();
  }
}

/** Undefined when there is no such file. */
async function unlessAbsent<T>(path: string, act: () => Promise<T>): Promise<T | undefined> {
  return await named(path, async () => {
    try {
      return await act();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  });
}

/** Failures of the file system become errors that name the file and tell what to do. */
async function named<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || error instanceof AppError) throw error;
    throw new AppError('HOST_FILE_UNUSABLE', `${path}: ${meanings[code]?.what ?? code}`, {
      remedy: meanings[code]?.remedy ?? 'Look whether the disk of the host is in order.',
      cause: error,
    });
  }
}

const inUse = {
  what: 'is in use or must not be touched',
  remedy: 'Close the program that has it open, or give SYSTEM and Administrators all rights.',
};

const meanings: Readonly<Record<string, { what: string; remedy: string }>> = {
  EBUSY: inUse,
  EPERM: inUse,
  EACCES: inUse,
  ENOENT: { what: 'does not exist', remedy: 'Have the files of the host staged again.' },
  ENOSPC: { what: 'no space is left on the disk', remedy: 'Free space on the disk of the host.' },
  EISDIR: { what: 'is a directory', remedy: 'Remove or rename the directory.' },
  ENOTDIR: { what: 'a part of the path is a file', remedy: 'Remove or rename the file.' },
};

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
