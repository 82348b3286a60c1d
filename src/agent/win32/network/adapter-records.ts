import { AppError } from '#base/errors.ts';
import type { Adapter } from '../../ports.ts';

/** An adapter as it is listed, with the part of the metric that belongs to it. */
export interface ListedAdapter extends Omit<Adapter, 'defaultRouteMetric'> {
  interfaceMetric: number;
}

/** A route to everywhere. */
export interface DefaultRoute {
  interfaceIndex: number;
  metric: number;
}

export const routeBytes = 104;

/** A list of IP_ADAPTER_ADDRESSES that begins the buffer, of which the address is given. The loopback is left out. */
export function decodeAdapters(bytes: Buffer, address: bigint): ListedAdapter[] {
  const memory = new Memory(bytes, address);
  const offsets = memory.chain(0, adapterSize).filter(at => bytes.readUInt32LE(at + 100) !== softwareLoopback);
  return offsets.map(at => ({
    name: memory.text(at + 72),
    index: bytes.readUInt32LE(at + 4),
    mac: macOf(bytes.subarray(at + 80, at + 80 + Math.min(8, bytes.readUInt32LE(at + 88)))),
    addresses: memory.list(at + 24, unicastSize).flatMap(unicast => unicastAddress(memory, unicast)),
    isUp: bytes.readUInt32LE(at + 104) === operationalUp,
    interfaceMetric: knownMetric(bytes.readUInt32LE(at + 216)),
  }));
}

/** The rows of a MIB_IPFORWARD_TABLE2 of IPv4, without the count that stands before them. */
export function decodeDefaultRoutes(rows: Buffer): DefaultRoute[] {
  const count = Math.floor(rows.length / routeBytes);
  const routes = Array.from({ length: count }, (_, index) => rows.subarray(index * routeBytes));
  return routes
    .filter(row => row.readUInt16LE(12) === ipv4Family && row.readUInt8(40) === 0)
    .map(row => ({ interfaceIndex: row.readUInt32LE(8), metric: knownMetric(row.readUInt32LE(84)) }));
}

/** The lowest sum of route and interface decides which way a packet takes. */
export function joinRoutes(listed: readonly ListedAdapter[], routes: readonly DefaultRoute[]): Adapter[] {
  return listed.map(({ interfaceMetric, ...adapter }) => {
    const metrics = routes.filter(route => route.interfaceIndex === adapter.index).map(route => route.metric);
    const lowest = metrics.length === 0 ? undefined : Math.min(...metrics) + interfaceMetric;
    return { ...adapter, defaultRouteMetric: lowest };
  });
}

/** What we read of the structures; each may be longer. */
const [adapterSize, unicastSize] = [220, 57];
const [ipv4Family, ipv6Family] = [2, 23];
const [operationalUp, softwareLoopback] = [1, 24];
/** Addresses that are being checked, or that another host has, cannot be used. Deprecated and preferred ones can. */
const usableDadStates = [3, 4];

function unicastAddress(memory: Memory, at: number): string[] {
  const socket = memory.pointer(at + 16);
  if (socket === undefined || !usableDadStates.includes(memory.bytes.readUInt32LE(at + 40))) return [];
  const text = socketAddress(memory, socket);
  return text === undefined ? [] : [`${text}/${memory.bytes.readUInt8(at + 56)}`];
}

/** The address of a SOCKADDR_IN or SOCKADDR_IN6. */
function socketAddress(memory: Memory, at: number): string | undefined {
  const family = memory.slice(at, 2).readUInt16LE();
  if (family === ipv4Family) return memory.slice(at + 4, 4).join('.');
  return family === ipv6Family ? printIpv6(memory.slice(at + 8, 16)) : undefined;
}

/** The longest run of zeros is left out, the first one if there are several, as is the custom. */
function printIpv6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index));
  const runs = groups.map((_, start) => {
    const end = groups.findIndex((group, index) => index >= start && group !== 0);
    return { start, length: (end === -1 ? groups.length : end) - start };
  });
  const { start, length } = runs.reduce((best, run) => (run.length > best.length ? run : best));
  const print = (part: number[]) => part.map(group => group.toString(16)).join(':');
  return length < 2 ? print(groups) : `${print(groups.slice(0, start))}::${print(groups.slice(start + length))}`;
}

function macOf(bytes: Buffer): string {
  return [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('-');
}

/** All bits set stand for "not known". */
function knownMetric(metric: number): number {
  return metric === 0xff_ff_ff_ff ? 0 : metric;
}

/** Structures that point to each other within one buffer. In all of them the pointer to the next one is at offset 8. */
class Memory {
  readonly bytes: Buffer;
  readonly #address: bigint;

  constructor(bytes: Buffer, address: bigint) {
    this.bytes = bytes;
    this.#address = address;
  }

  /** Offsets of the structures in a list, of which a pointer shows the first. */
  list(pointerAt: number, size: number): number[] {
    return this.chain(this.pointer(pointerAt), size);
  }

  /** Offsets of the structures in a list that starts at the offset. */
  chain(first: number | undefined, size: number): number[] {
    const offsets: number[] = [];
    for (let at = first; at !== undefined; at = this.pointer(at + 8)) {
      // Every structure has its own bytes, so a list that goes on for longer runs in a circle.
      if (offsets.length * size > this.bytes.length) throw garbled('a list without an end');
      this.slice(at, size);
      offsets.push(at);
    }
    return offsets;
  }

  /** Where a pointer leads to; undefined when it is empty. */
  pointer(at: number): number | undefined {
    const target = this.slice(at, 8).readBigUInt64LE();
    return target === 0n ? undefined : Number(target - this.#address);
  }

  /** The UTF-16 text that a pointer leads to; '' when it is empty. */
  text(pointerAt: number): string {
    const start = this.pointer(pointerAt);
    if (start === undefined) return '';
    let end = start;
    while (this.slice(end, 2).readUInt16LE() !== 0) end += 2;
    return this.bytes.toString('utf16le', start, end);
  }

  slice(at: number, length: number): Buffer {
    if (at < 0 || at + length > this.bytes.length) throw garbled('a pointer out of its buffer');
    return this.bytes.subarray(at, at + length);
  }
}

function garbled(what: string): AppError {
  return new AppError('WINDOWS_ANSWER_INVALID', `the list of network adapters has ${what}`, {
    remedy: 'Report it with the version of Windows of the host.',
  });
}
