import { freeMemory } from '#base/free-memory.ts';
import { writeWire } from '#base/ssh-wire.ts';

/** SFTP version 3. */
export const request = {
  init: 1,
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  lstat: 7,
  fstat: 8,
  setstat: 9,
  fsetstat: 10,
  opendir: 11,
  readdir: 12,
  remove: 13,
  mkdir: 14,
  rmdir: 15,
  realpath: 16,
  stat: 17,
  rename: 18,
  extended: 200,
} as const;

const response = {
  version: 2,
  status: 101,
  handle: 102,
  data: 103,
  name: 104,
  attributes: 105,
  extended: 201,
} as const;

export const status = {
  ok: 0,
  endOfFile: 1,
  noSuchFile: 2,
  denied: 3,
  failure: 4,
  badMessage: 5,
  unsupported: 8,
} as const;

export const extension = {
  rename: 'posix-rename@openssh.com',
  space: 'statvfs@openssh.com',
  limits: 'limits@openssh.com',
} as const;

export interface Attributes {
  isFolder: boolean;
  bytes: number;
  modifiedMs: number;
}

export type Answer =
  | { is: 'status'; code: number }
  | { is: 'handle'; handle: string }
  | { is: 'data'; bytes: Uint8Array }
  | { is: 'names'; names: readonly { name: string; attributes: Attributes }[] }
  | { is: 'attributes'; attributes: Attributes }
  | { is: 'space'; totalBytes: number; freeBytes: number }
  | { is: 'limits' };

/** Clients write at most 255 KB at once. */
const maxPacketBytes = 256 * 1024;

/** Assembles packets from chunks, and frees chunks that are used up: uploads would otherwise keep the garbage collector busy. */
export class PacketAssembler {
  readonly #length = Buffer.alloc(4);
  #lengthBytes = 0;
  #packet: Buffer | undefined;
  #packetBytes = 0;

  /** Complete packets without their length. Throws if one is too long. */
  add(chunk: Uint8Array): Uint8Array[] {
    const packets: Uint8Array[] = [];
    for (let rest = chunk; rest.length > 0; ) {
      rest = rest.subarray(this.#packet === undefined ? this.#readLength(rest) : this.#fill(this.#packet, rest));
      if (this.#packet === undefined || this.#packetBytes < this.#packet.length) continue;
      packets.push(this.#packet);
      this.#packet = undefined;
    }
    freeMemory(chunk);
    return packets;
  }

  /** Returns how many bytes it has used. */
  #readLength(bytes: Uint8Array): number {
    const part = bytes.subarray(0, 4 - this.#lengthBytes);
    this.#length.set(part, this.#lengthBytes);
    this.#lengthBytes += part.length;
    if (this.#lengthBytes < 4) return part.length;
    const length = this.#length.readUInt32BE();
    if (length === 0 || length > maxPacketBytes) throw new Error(`SFTP packet of ${length} bytes is too long`);
    this.#packet = Buffer.allocUnsafe(length);
    [this.#lengthBytes, this.#packetBytes] = [0, 0];
    return part.length;
  }

  #fill(packet: Buffer, bytes: Uint8Array): number {
    const part = bytes.subarray(0, packet.length - this.#packetBytes);
    packet.set(part, this.#packetBytes);
    this.#packetBytes += part.length;
    return part.length;
  }
}

export function printVersion(): Uint8Array {
  return packet(
    response.version,
    number(3),
    writeWire(extension.rename, '1', extension.space, '2', extension.limits, '1'),
  );
}

export function printAnswer(id: number, answer: Answer): Uint8Array {
  switch (answer.is) {
    case 'status':
      return packet(response.status, number(id), number(answer.code), writeWire(`status ${answer.code}`, 'en'));
    case 'handle':
      return packet(response.handle, number(id), writeWire(answer.handle));
    case 'data':
      return packet(response.data, number(id), writeWire(answer.bytes));
    case 'names':
      return packet(response.name, number(id), number(answer.names.length), ...answer.names.flatMap(printName));
    case 'attributes':
      return packet(response.attributes, number(id), printAttributes(answer.attributes));
    case 'space':
      return packet(response.extended, number(id), ...printSpace(answer));
    case 'limits':
      return packet(response.extended, number(id), ...limits.map(long));
    default:
      return answer satisfies never;
  }
}

function packet(type: number, ...parts: Uint8Array[]): Uint8Array {
  const body = Buffer.concat([Buffer.of(type), ...parts]);
  return Buffer.concat([number(body.length), body]);
}

function printName({ name, attributes }: { name: string; attributes: Attributes }): Uint8Array[] {
  const long = `${attributes.isFolder ? 'd' : '-'}rwxrwxrwx    1 - - ${attributes.bytes} ${name}`;
  return [writeWire(name, long), printAttributes(attributes)];
}

const [hasSize, hasPermissions, hasTimes] = [0x1, 0x4, 0x8];
const [folderMode, fileMode] = [0o040_777, 0o100_777];

function printAttributes({ isFolder, bytes, modifiedMs }: Attributes): Uint8Array {
  const seconds = number(Math.floor(modifiedMs / 1000));
  const mode = number(isFolder ? folderMode : fileMode);
  return Buffer.concat([number(hasSize | hasPermissions | hasTimes), long(bytes), mode, seconds, seconds]);
}

/** As in OpenSSH: packet, read, write, open handles (no limit). */
const limits = [maxPacketBytes, 255 * 1024, 255 * 1024, 0];

/** Uses a block size of one byte. */
function printSpace({ totalBytes, freeBytes }: { totalBytes: number; freeBytes: number }): Uint8Array[] {
  return [1, 1, totalBytes, freeBytes, freeBytes, 0, 0, 0, 0, 0, 255].map(long);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function long(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
