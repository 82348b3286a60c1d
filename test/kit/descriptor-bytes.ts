import type { AccessEntry, Descriptor } from '../../src/agent/access/descriptor.ts';

/** A security descriptor as Windows has it in memory, in self-relative form. */
export function descriptorBytes({ owner, entries }: Descriptor): Buffer {
  const head = Buffer.alloc(20);
  const [ownerSid, list] = [sidBytes(owner), entries === undefined ? Buffer.alloc(0) : listBytes(entries)];
  head.writeUInt8(1, 0);
  head.writeUInt16LE(0x8000 | 0x4, 2);
  head.writeUInt32LE(head.length, 4);
  head.writeUInt32LE(entries === undefined ? 0 : head.length + ownerSid.length, 16);
  return Buffer.concat([head, ownerSid, list]);
}

function listBytes(entries: readonly AccessEntry[]): Buffer {
  const body = Buffer.concat(entries.map(entryBytes));
  const head = Buffer.alloc(8);
  head.writeUInt8(2, 0);
  head.writeUInt16LE(head.length + body.length, 2);
  head.writeUInt16LE(entries.length, 4);
  return Buffer.concat([head, body]);
}

function entryBytes({ allows, sid, mask, inheritOnly }: AccessEntry): Buffer {
  const who = sidBytes(sid);
  const head = Buffer.alloc(8);
  head.writeUInt8(allows ? 0 : 1, 0);
  head.writeUInt8(inheritOnly ? 0xb : 0x3, 1);
  head.writeUInt16LE(head.length + who.length, 2);
  head.writeUInt32LE(mask, 4);
  return Buffer.concat([head, who]);
}

function sidBytes(sid: string): Buffer {
  const [revision = 1, authority = 0, ...parts] = sid.split('-').slice(1).map(Number);
  const bytes = Buffer.alloc(8 + 4 * parts.length);
  bytes.writeUInt8(revision, 0);
  bytes.writeUInt8(parts.length, 1);
  bytes.writeUIntBE(authority, 2, 6);
  for (const [index, part] of parts.entries()) bytes.writeUInt32LE(part, 8 + 4 * index);
  return bytes;
}
