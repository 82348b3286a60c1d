import { AppError } from '#base/errors.ts';
import { type FileAct, fileFailure, outputTooLong, sftpStatus } from './operation-failures.ts';
import type { SftpSession } from './sftp-session.ts';
import { sftpPath } from './windows-path.ts';

/** Fails when the file is longer than `maxBytes`. */
export async function fetchFile(session: SftpSession, act: FileAct, maxBytes: number): Promise<Uint8Array> {
  const path = sftpPath(act.path);
  try {
    const handle = await session.request<Buffer>((sftp, done) => sftp.open(path, 'r', done));
    try {
      return await readAll(session, handle, act, maxBytes);
    } finally {
      session.request((sftp, done) => sftp.close(handle, done)).catch(() => undefined);
    }
  } catch (error) {
    throw error instanceof AppError ? error : fileFailure(act, error);
  }
}

const readBytes = 31 * 1024;

async function readAll(session: SftpSession, handle: Buffer, act: FileAct, maxBytes: number): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let length = 0;
  for (;;) {
    const piece = await readPiece(session, handle, length);
    length += piece.length;
    if (length > maxBytes) throw outputTooLong(act.address, act.path, maxBytes);
    if (piece.length === 0) return Buffer.concat(pieces);
    pieces.push(piece);
  }
}

/** Empty at the end of the file. */
async function readPiece(session: SftpSession, handle: Buffer, at: number): Promise<Buffer> {
  const buffer = Buffer.alloc(readBytes);
  try {
    const got = await session.request<number>((sftp, done) =>
      sftp.read(handle, buffer, 0, readBytes, at, (error, count) => done(error, count)),
    );
    return buffer.subarray(0, got);
  } catch (error) {
    if ((error as { code?: unknown }).code === sftpStatus.endOfFile) return buffer.subarray(0, 0);
    throw error;
  }
}
