import { crc32, deflateRawSync } from 'node:zlib';

interface ZipFault {
  /** Name in front of the content, which readers of streams use. */
  localName?: string;
  /** Of the content, as the list tells it. */
  bytes?: number;
  flags?: number;
  /** File mode of Unix. */
  mode?: number;
}

/** A zip file of contents by path, compressed where that is shorter; `fault` changes each entry. */
export function zipOf(contents: Readonly<Record<string, Uint8Array>>, fault: ZipFault = {}): Buffer {
  const locals: Buffer[] = [];
  const listed: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of Object.entries(contents)) {
    const deflated = deflateRawSync(content);
    const isDeflated = deflated.length < content.length;
    const stored = isDeflated ? deflated : Buffer.from(content);
    const facts = Buffer.alloc(20);
    facts.writeUInt16LE(fault.flags ?? 0, 0);
    facts.writeUInt16LE(isDeflated ? 8 : 0, 2);
    facts.writeUInt32LE(crc32(content), 8);
    facts.writeUInt32LE(stored.length, 12);
    facts.writeUInt32LE(fault.bytes ?? content.length, 16);
    const localName = Buffer.from(fault.localName ?? path);
    locals.push(bytesOf([0x04034b50, 4], [20, 2]), facts, bytesOf([localName.length, 2], [0, 2]), localName, stored);
    listed.push(
      bytesOf([0x02014b50, 4], [0x0314, 2], [20, 2]),
      facts,
      bytesOf([Buffer.byteLength(path), 2], [0, 2], [0, 2], [0, 2], [0, 2]),
      bytesOf([((fault.mode ?? 0o100644) * 0x10000) >>> 0, 4], [offset, 4]),
      Buffer.from(path),
    );
    offset += 30 + localName.length + stored.length;
  }
  const list = Buffer.concat(listed);
  const count = Object.keys(contents).length;
  const end = bytesOf([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [list.length, 4], [offset, 4], [0, 2]);
  return Buffer.concat([...locals, list, end]);
}

function bytesOf(...numbers: readonly (readonly [value: number, bytes: 2 | 4])[]): Buffer {
  return Buffer.concat(
    numbers.map(([value, bytes]) => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeUIntLE(value, 0, bytes);
      return buffer;
    }),
  );
}
