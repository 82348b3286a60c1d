import { AppError } from '#base/errors.ts';
import { orAborted } from '#base/waiting/abort.ts';
import type { UploadContent } from '../host.ts';
import type { Operation } from './limits.ts';
import {
  diskFull,
  type FileAct,
  fileFailure,
  sftpStatus,
  sourceChanged,
  sourceUnreadable,
} from './operation-failures.ts';
import type { SftpSession } from './sftp-session.ts';
import { foldersAbove, sftpPath } from './windows-path.ts';

/** Size of the write requests, and how many may be unanswered at a time. */
export interface WritePlan {
  chunkBytes: number;
  inFlight: number;
}

/** The largest request that OpenSSH accepts; together they fit into its window of 2 MB. More of them would only wait in memory. */
const largeWrites: WritePlan = { chunkBytes: 255 * 1024, inFlight: 8 };
/** The same amount in flight. */
const smallWrites: WritePlan = { chunkBytes: 100 * 1024, inFlight: 20 };

/** OpenSSH for Windows before 8.6, as shipped with Windows Server 2019 and 2022, rejects larger writes. */
export function writePlan(software: string): WritePlan {
  const [, major, minor] = /^OpenSSH_for_Windows_(\d+)\.(\d+)/.exec(software) ?? [];
  const isOld = major !== undefined && Number(major) * 100 + Number(minor) < 806;
  return isOld ? smallWrites : largeWrites;
}

export interface Upload {
  act: FileAct;
  content: UploadContent;
  plan: WritePlan;
  onProgress: ((bytes: number) => void) | undefined;
  operation: Operation;
}

/** Writes to a temporary file and renames it at the end, so that the target is never incomplete. */
export async function sendFile(session: SftpSession, upload: Upload): Promise<void> {
  const target = sftpPath(upload.act.path);
  const part = `${target}.part`;
  const size = sizeOf(upload.content);
  let acknowledged = 0;
  const onWritten = (bytes: number) => {
    acknowledged += bytes;
    upload.operation.progress();
    upload.onProgress?.(acknowledged);
  };
  upload.operation.signal.throwIfAborted();
  try {
    const handle = await openForWriting(session, part);
    try {
      await writeContent(session, handle, upload, onWritten);
    } finally {
      await session.request((sftp, done) => sftp.close(handle, done));
    }
    await putInPlace(session, part, target);
  } catch (error) {
    // Before the partial file is deleted: afterwards the disk would have enough free space.
    const failure = await explain(session, upload.act, size - acknowledged, error);
    await discard(session, part);
    throw failure;
  }
}

function sizeOf(content: UploadContent): number {
  return content instanceof Uint8Array ? content.length : content.size;
}

type Handle = Buffer;

async function openForWriting(session: SftpSession, path: string): Promise<Handle> {
  const open = () => session.request<Handle>((sftp, done) => sftp.open(path, 'w', done));
  try {
    return await open();
  } catch (error) {
    if ((error as { code?: unknown }).code !== sftpStatus.noSuchFile) throw error;
  }
  // Folders may exist already; any other failure shows when the file is opened.
  for (const folder of foldersAbove(path))
    await session.request((sftp, done) => sftp.mkdir(folder, done)).catch(() => undefined);
  return open();
}

async function writeContent(
  session: SftpSession,
  handle: Handle,
  upload: Upload,
  onWritten: (bytes: number) => void,
): Promise<void> {
  const { act, content, plan } = upload;
  const { signal } = upload.operation;
  const inFlight = new Set<Promise<void>>();
  let offset = 0;
  const chunkBytes = Math.min(plan.chunkBytes, session.maxWriteBytes);
  for await (const chunk of piecesOf(upload, chunkBytes)) {
    signal.throwIfAborted();
    const [at, { length }] = [offset, chunk];
    offset += length;
    // The library copies the chunk before this returns, so that the source may reuse its buffer.
    const write = session
      .request((sftp, done) => sftp.write(handle, chunk, 0, length, at, done))
      .then(() => onWritten(length));
    inFlight.add(write);
    write.then(
      () => inFlight.delete(write),
      // A failed write stays, so that the next wait fails with it.
      () => undefined,
    );
    if (inFlight.size >= plan.inFlight) await orAborted(Promise.race(inFlight), signal);
  }
  await orAborted(Promise.all(inFlight), signal);
  if (offset !== sizeOf(content)) throw sourceChanged(act, sizeOf(content), offset);
}

async function* piecesOf({ act, content }: Upload, chunkBytes: number): AsyncGenerator<Buffer> {
  const chunks = content instanceof Uint8Array ? [content] : content.chunks;
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += chunkBytes) {
        const piece = chunk.subarray(at, at + chunkBytes);
        yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
      }
    }
  } catch (error) {
    // An AppError of the source explains more.
    throw error instanceof AppError ? error : sourceUnreadable(act, error);
  }
}

async function putInPlace(session: SftpSession, part: string, target: string): Promise<void> {
  try {
    await session.request((sftp, done) => sftp.ext_openssh_rename(part, target, done));
  } catch (error) {
    if (session.hasEnded || isStatus(error)) throw error;
    // The server has no rename that replaces a file.
    await session.request((sftp, done) => sftp.unlink(target, done)).catch(() => undefined);
    await session.request((sftp, done) => sftp.rename(part, target, done));
  }
}

/** A file that cannot be deleted is overwritten by the next upload. */
async function discard(session: SftpSession, part: string): Promise<void> {
  await session.request((sftp, done) => sftp.unlink(part, done)).catch(() => undefined);
}

/** SFTP has no status for a full disk, so the free space is queried after a failed write. */
async function explain(session: SftpSession, act: FileAct, missingBytes: number, error: unknown): Promise<Error> {
  if (error instanceof AppError) return error;
  if (isStatus(error) && error.code === sftpStatus.failure) {
    const free = await freeBytes(session, sftpPath(act.path));
    if (free !== undefined && free < missingBytes) return diskFull(act, free);
  }
  return fileFailure(act, error);
}

async function freeBytes(session: SftpSession, path: string): Promise<number | undefined> {
  const folder = foldersAbove(path).at(-1) ?? path;
  type Space = { f_frsize: number; f_bavail: number };
  try {
    const space = await session.request<Space>((sftp, done) => sftp.ext_openssh_statvfs(folder, done));
    return space.f_frsize * space.f_bavail;
  } catch {
    return undefined;
  }
}

function isStatus(error: unknown): error is Error & { code: number } {
  return error instanceof Error && typeof (error as { code?: unknown }).code === 'number';
}
