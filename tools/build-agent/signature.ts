/** Offsets in the headers of a 64-bit program. */
const headerPointer = 0x3c;
const optionalHeader = 24;
const pe32Plus = 0x20b;
const checksum = 64;
const certificateTable = 112 + 4 * 8;

/**
 * Removes the signature of node.exe. The injection leaves its bytes at the end and a header that points to other data, and an
 * invalid signature is worse than none. The checksum, which only drivers need, is cleared.
 */
export function removeSignature(exe: Buffer): Buffer {
  const header = exe.readUInt32LE(headerPointer) + optionalHeader;
  if (exe.readUInt16LE(header) !== pe32Plus) throw new Error('node.exe is not a 64-bit Windows program');
  const size = exe.readUInt32LE(header + certificateTable + 4);
  const start = exe.length - size;
  const isLast = size > 0 && exe.readUInt32LE(start) === size;
  const rest = Buffer.from(isLast ? exe.subarray(0, start) : exe);
  rest.writeUInt32LE(0, header + checksum);
  rest.fill(0, header + certificateTable, header + certificateTable + 8);
  return rest;
}
