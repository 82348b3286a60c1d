import { type FileHandle, open } from 'node:fs/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import { AppError, messageOf } from '#base/errors.ts';
import { maxProgramBytes } from './program-file.ts';
import { transformed } from '../transformed.ts';

export interface ZipEntry {
  path: string;
  kind: 'file' | 'folder' | 'link';
  content: AsyncIterable<Uint8Array>;
}

type Fail = (why: string) => Error;

const endBytes = 22;
const maxCommentBytes = 65_535;
const maxListBytes = 64 * 1024 ** 2;
const signature = { end: 0x06054b50, listed: 0x02014b50, local: 0x04034b50 } as const;

/** The entries that the list at the end of a zip file names. Refuses what needs zip64, encryption or several disks. */
export async function* readZip(path: string, fail: Fail): AsyncGenerator<ZipEntry> {
  const file = await open(path);
  try {
    const { list, count } = await readList(file, fail);
    let at = 0;
    for (let index = 0; index < count; index += 1) {
      const entry = readListed(list, at, fail);
      at += entry.length;
      yield { path: entry.path, kind: entry.kind, content: contentOf(file, entry, fail) };
    }
  } finally {
    await file.close();
  }
}

interface Listed {
  path: string;
  kind: ZipEntry['kind'];
  flags: number;
  method: number;
  crc: number;
  packedBytes: number;
  bytes: number;
  offset: number;
  /** Of its record in the list. */
  length: number;
}

async function readList(file: FileHandle, fail: Fail): Promise<{ list: Buffer; count: number }> {
  const { size } = await file.stat();
  const tail = await readAt(
    file,
    Math.max(0, size - endBytes - maxCommentBytes),
    Math.min(size, endBytes + maxCommentBytes),
    fail,
  );
  const at = endAt(tail);
  if (at === -1) throw fail('has no list of files: it was cut, or is not a zip file');
  const [disk, count, bytes, offset] = [
    tail.readUInt16LE(at + 4),
    tail.readUInt16LE(at + 10),
    tail.readUInt32LE(at + 12),
    tail.readUInt32LE(at + 16),
  ];
  if (disk !== 0 || count === 0xffff || bytes === 0xffffffff || offset === 0xffffffff)
    throw fail('is a zip file of several disks or in the format zip64, which is not supported');
  if (bytes > maxListBytes) throw fail(`has a list of files of ${bytes} bytes`);
  return { list: await readAt(file, offset, bytes, fail), count };
}

/** The last place whose comment reaches exactly to the end of the file. */
function endAt(tail: Buffer): number {
  for (let at = tail.length - endBytes; at >= 0; at -= 1)
    if (tail.readUInt32LE(at) === signature.end && at + endBytes + tail.readUInt16LE(at + 20) === tail.length)
      return at;
  return -1;
}

function readListed(list: Buffer, at: number, fail: Fail): Listed {
  if (at + 46 > list.length || list.readUInt32LE(at) !== signature.listed) throw fail('has a damaged list of files');
  const nameBytes = list.readUInt16LE(at + 28);
  const length = 46 + nameBytes + list.readUInt16LE(at + 30) + list.readUInt16LE(at + 32);
  if (at + length > list.length) throw fail('has a damaged list of files');
  const path = list.toString('utf8', at + 46, at + 46 + nameBytes);
  // The upper half is the mode of Unix, which zip writes on Linux.
  const isLink = list.readUInt32LE(at + 38) >>> 28 === 0o12;
  return {
    path,
    kind: isLink ? 'link' : path.endsWith('/') ? 'folder' : 'file',
    flags: list.readUInt16LE(at + 8),
    method: list.readUInt16LE(at + 10),
    crc: list.readUInt32LE(at + 16),
    packedBytes: list.readUInt32LE(at + 20),
    bytes: list.readUInt32LE(at + 24),
    offset: list.readUInt32LE(at + 42),
    length,
  };
}

async function* contentOf(file: FileHandle, entry: Listed, fail: Fail): AsyncGenerator<Uint8Array> {
  const { path, flags, method, bytes, crc } = entry;
  if ((flags & 1) === 1) throw fail(`has ${path} encrypted`);
  if (method !== 0 && method !== 8) throw fail(`has ${path} compressed by method ${method}, which is not supported`);
  if (bytes > maxProgramBytes) throw fail(`has ${path} with ${bytes} bytes`);
  const packed = piecesOf(file, await startOf(file, entry, fail), entry.packedBytes, fail);
  let [read, sum] = [0, 0];
  try {
    for await (const chunk of method === 0 ? packed : transformed(createInflateRaw(), packed)) {
      read += chunk.length;
      if (read > bytes) break;
      sum = crc32(chunk, sum);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof AppError ? error : fail(`has ${path} damaged: ${messageOf(error)}`);
  }
  if (read !== bytes || sum !== crc) throw fail(`has ${path} with other content than its list tells`);
}

/** The record before the content must agree with the list: other programs read it instead. */
async function startOf(file: FileHandle, { path, method, offset }: Listed, fail: Fail): Promise<number> {
  const header = await readAt(file, offset, 30, fail);
  const nameBytes = header.readUInt16LE(26);
  const name = (await readAt(file, offset + 30, nameBytes, fail)).toString('utf8');
  if (header.readUInt32LE(0) !== signature.local || name !== path || header.readUInt16LE(8) !== method)
    throw fail(`has ${path} under another name than in its list`);
  return offset + 30 + nameBytes + header.readUInt16LE(28);
}

async function* piecesOf(file: FileHandle, start: number, bytes: number, fail: Fail): AsyncGenerator<Buffer> {
  for (let done = 0; done < bytes; ) {
    const piece = await readAt(file, start + done, Math.min(bytes - done, 256 * 1024), fail);
    done += piece.length;
    yield piece;
  }
}

async function readAt(file: FileHandle, position: number, bytes: number, fail: Fail): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  let done = 0;
  while (done < bytes) {
    const { bytesRead } = await file.read(buffer, done, bytes - done, position + done);
    if (bytesRead === 0) throw fail('ends too early');
    done += bytesRead;
  }
  return buffer;
}
