/** One OpenPGP packet (RFC 9580, section 4) with its body in one piece. */
export interface Packet {
  tag: number;
  body: Uint8Array;
}

export const packetTag = { encryptedSessionKey: 3, compressed: 8, literal: 11, encryptedData: 18, mdc: 19 } as const;

/** All packets; undefined unless the bytes are complete packets only. */
export function readPackets(bytes: Uint8Array): Packet[] | undefined {
  const packets: Packet[] = [];
  let at = 0;
  while (at < bytes.length) {
    const found = readPacket(bytes, at);
    if (found === undefined) return undefined;
    packets.push(found.packet);
    at = found.end;
  }
  return packets;
}

/** A packet with the header of the new format and one definite length. */
export function writePacket(tag: number, body: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.of(0xc0 | tag), lengthOctets(body.length), body]);
}

function lengthOctets(length: number): Buffer {
  if (length < 192) return Buffer.of(length);
  if (length < 8384) return Buffer.of(((length - 192) >> 8) + 192, (length - 192) & 0xff);
  const octets = Buffer.alloc(5, 0xff);
  octets.writeUInt32BE(length, 1);
  return octets;
}

interface Found {
  packet: Packet;
  end: number;
}

function readPacket(bytes: Uint8Array, at: number): Found | undefined {
  const header = bytes[at] ?? 0;
  if ((header & 0x80) === 0) return undefined;
  return (header & 0x40) === 0 ? readOldPacket(bytes, at, header) : readNewPacket(bytes, at + 1, header & 0x3f);
}

function readOldPacket(bytes: Uint8Array, at: number, header: number): Found | undefined {
  const tag = (header & 0x3c) >> 2;
  const lengthSize = [1, 2, 4, 0][header & 0x03] ?? 0;
  const from = at + 1 + lengthSize;
  // Length type 3: up to the end of the message.
  const length = lengthSize === 0 ? bytes.length - from : readNumber(bytes, at + 1, lengthSize);
  return length === undefined ? undefined : whole(tag, bytes, { from, length });
}

function readNewPacket(bytes: Uint8Array, start: number, tag: number): Found | undefined {
  const chunks: Uint8Array[] = [];
  let at = start;
  for (;;) {
    const span = readLength(bytes, at);
    if (span === undefined || span.from + span.length > bytes.length) return undefined;
    at = span.from + span.length;
    chunks.push(bytes.subarray(span.from, at));
    if (!span.partial) return { packet: { tag, body: Buffer.concat(chunks) }, end: at };
  }
}

function whole(tag: number, bytes: Uint8Array, { from, length }: { from: number; length: number }): Found | undefined {
  const end = from + length;
  return end > bytes.length ? undefined : { packet: { tag, body: bytes.subarray(from, end) }, end };
}

/** Partial lengths may be as small as one octet: the Go library of existing clusters writes such. */
function readLength(bytes: Uint8Array, at: number): { from: number; length: number; partial: boolean } | undefined {
  const [first, second] = [bytes[at], bytes[at + 1]];
  if (first === undefined) return undefined;
  if (first < 192) return { from: at + 1, length: first, partial: false };
  if (first >= 224 && first < 255) return { from: at + 1, length: 2 ** (first & 0x1f), partial: true };
  if (first === 255) {
    const length = readNumber(bytes, at + 1, 4);
    return length === undefined ? undefined : { from: at + 5, length, partial: false };
  }
  return second === undefined
    ? undefined
    : { from: at + 2, length: (first - 192) * 256 + second + 192, partial: false };
}

function readNumber(bytes: Uint8Array, at: number, size: number): number | undefined {
  if (at + size > bytes.length) return undefined;
  return bytes.subarray(at, at + size).reduce((value, octet) => value * 256 + octet, 0);
}
