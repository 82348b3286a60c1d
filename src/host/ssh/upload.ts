import { AppError } from '#base/errors.ts';
import type { UploadContent } from '../host.ts';
import { abortion, type Turn } from './limits.ts';
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

/** How a file is cut into write requests, and how many may be without an answer. */
export interface WritePlan {
  chunkBytes: number;
  inFlight: number;
}

/** As much as OpenSSH takes in one request, and enough of them for a network with some delay. */
const largeWrites: WritePlan = { chunkBytes: 255 * 1024, inFlight: 16 };
/** The same amount under way. */
const smallWrites: WritePlan = { chunkBytes: 100 * 1024, inFlight: 40 };

/** OpenSSH for Windows before 8.6, as Windows Server 2019 and 2022 came with, refuses larger writes. */
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
  turn: Turn;
}

/** Writes beside the target and renames at the end, so that nobody ever sees half a file under its name. */
export async function sendFile(session: SftpSession, upload: Upload): Promise<void> {
  const target = sftpPath(upload.act.path);
  const part = `${target}.part`;
  const size = sizeOf(upload.content);
  let acknowledged = 0;
  const onWritten = (bytes: number) => {
    acknowledged += bytes;
    upload.turn.progress();
    upload.onProgress?.(acknowledged);
  };
  upload.turn.end.throwIfAborted();
  try {
    const handle = await openForWriting(session, part);
    try {
      await writeContent(session, handle, upload, onWritten);
    } finally {
      await session.request((sftp, done) => sftp.close(handle, done));
    }
    await putInPlace(session, part, target);
  } catch (error) {
    // While the part still takes room: without it the disk would look as if the file had fitted.
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
  // What is there already cannot be made; whatever else goes wrong shows when the file is opened.
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
  const { act, content, plan, turn } = upload;
  const inFlight = new Set<Promise<void>>();
  const givenUp = abortion(turn.end);
  let offset = 0;
  const chunkBytes = Math.min(plan.chunkBytes, session.maxWriteBytes);
  for await (const chunk of piecesOf(upload, chunkBytes)) {
    turn.end.throwIfAborted();
    const [at, { length }] = [offset, chunk];
    offset += length;
    // The library copies the chunk before this returns, so that whoever gave it may fill it anew.
    const write = session
      .request((sftp, done) => sftp.write(handle, chunk, 0, length, at, done))
      .then(() => onWritten(length));
    inFlight.add(write);
    write.then(
      () => inFlight.delete(write),
      // A failed write stays, so that whoever waits next sees it.
      () => undefined,
    );
    if (inFlight.size >= plan.inFlight) await Promise.race([...inFlight, givenUp]);
  }
  await Promise.race([Promise.all(inFlight), givenUp]);
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
    // Whoever gives the content knows best what is wrong with it.
    throw error instanceof AppError ? error : sourceUnreadable(act, error);
  }
}

async function putInPlace(session: SftpSession, part: string, target: string): Promise<void> {
  try {
    await session.request((sftp, done) => sftp.ext_openssh_rename(part, target, done));
  } catch (error) {
    if (session.isOver || isStatus(error)) throw error;
    // The server does not know a rename that replaces.
    await session.request((sftp, done) => sftp.unlink(target, done)).catch(() => undefined);
    await session.request((sftp, done) => sftp.rename(part, target, done));
  }
}

/** What cannot be removed is overwritten next time. */
async function discard(session: SftpSession, part: string): Promise<void> {
  await session.request((sftp, done) => sftp.unlink(part, done)).catch(() => undefined);
}

/** SFTP has no status for a full disk, so the host is asked for its free space when a write failed. */
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
