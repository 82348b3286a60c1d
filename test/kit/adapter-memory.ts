/** Results of GetAdaptersAddresses and GetIpForwardTable2: structures of 64-bit Windows that point to each other. */

export interface AdapterContent {
  name?: string;
  index?: number;
  mac?: number[];
  /** 6 is Ethernet, 24 the loopback. */
  type?: number;
  /** 1 is up, 2 is down. */
  status?: number;
  metric?: number;
  addresses?: { bytes: number[]; prefix: number; dad?: number }[];
}

export interface RouteContent {
  index: number;
  prefix?: number;
  metric: number;
  family?: number;
}

/** Writes structures one after another into a buffer at this address. */
export class AdapterMemory {
  readonly #parts: Buffer[] = [];
  readonly #address: bigint;
  #length = 0;

  constructor(address: bigint) {
    this.#address = address;
  }

  /** A list of IP_ADAPTER_ADDRESSES. */
  static list(adapters: readonly AdapterContent[], address = 0x10_0000n): Buffer {
    const memory = new AdapterMemory(address);
    let previous: Buffer | undefined;
    for (const adapter of adapters) {
      const { bytes, at } = memory.#adapter(adapter);
      previous?.writeBigUInt64LE(at, 8);
      previous = bytes;
    }
    return Buffer.concat(memory.#parts);
  }

  #adapter({ name = 'Ethernet', index = 5, mac = [0, 0x15, 0x5d, 1, 2, 0xaf], ...rest }: AdapterContent) {
    const { type = 6, status = 1, metric = 25, addresses = [] } = rest;
    const { bytes, at } = this.#put(Buffer.alloc(448, 0));
    bytes.writeUInt32LE(448, 0);
    bytes.writeUInt32LE(index, 4);
    bytes.writeBigUInt64LE(this.#put(Buffer.from(`${name}\0`, 'utf16le')).at, 72);
    Buffer.from(mac).copy(bytes, 80);
    bytes.writeUInt32LE(mac.length, 88);
    bytes.writeUInt32LE(type, 100);
    bytes.writeUInt32LE(status, 104);
    bytes.writeUInt32LE(metric, 216);
    let link: { bytes: Buffer; offset: number } = { bytes, offset: 24 };
    for (const address of addresses) {
      const unicast = this.#unicast(address);
      link.bytes.writeBigUInt64LE(unicast.at, link.offset);
      link = { bytes: unicast.bytes, offset: 8 };
    }
    return { bytes, at };
  }

  /** IP_ADAPTER_UNICAST_ADDRESS with the SOCKADDR_IN or SOCKADDR_IN6 behind it; neither for another number of bytes. */
  #unicast({ bytes: address, prefix, dad = 4 }: { bytes: number[]; prefix: number; dad?: number }) {
    const socket = Buffer.alloc(28);
    const [family, offset] = address.length === 4 ? [2, 4] : [address.length === 16 ? 23 : 17, 8];
    socket.writeUInt16LE(family, 0);
    Buffer.from(address).copy(socket, offset);
    const unicast = this.#put(Buffer.alloc(64));
    unicast.bytes.writeBigUInt64LE(this.#put(socket).at, 16);
    unicast.bytes.writeUInt32LE(dad, 40);
    unicast.bytes.writeUInt8(prefix, 56);
    return unicast;
  }

  #put(bytes: Buffer): { bytes: Buffer; at: bigint } {
    const at = this.#address + BigInt(this.#length);
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return { bytes, at };
  }
}

/** Rows of MIB_IPFORWARD_ROW2. */
export function routeRows(routes: readonly RouteContent[]): Buffer {
  return Buffer.concat(
    routes.map(({ index, prefix = 0, metric, family = 2 }) => {
      const row = Buffer.alloc(104);
      row.writeUInt32LE(index, 8);
      row.writeUInt16LE(family, 12);
      row.writeUInt8(prefix, 40);
      row.writeUInt32LE(metric, 84);
      return row;
    }),
  );
}
