import type { Adapter, Route } from '../../ports.ts';
import { Memory } from '../memory.ts';
import { decodeRoutes, knownMetric } from './route-records.ts';

/** An adapter with its own part of the metric. */
export interface ListedAdapter extends Omit<Adapter, 'defaultRouteMetric'> {
  interfaceMetric: number;
}

/** A route to 0.0.0.0/0. */
type DefaultRoute = Pick<Route, 'interfaceIndex' | 'metric'>;

/** The list of IP_ADAPTER_ADDRESSES in a buffer with the given address, without the loopback. */
export function decodeAdapters(bytes: Buffer, address: bigint): ListedAdapter[] {
  const memory = new Memory(bytes, address, 'the list of network adapters');
  const offsets = chain(memory, 0, adapterSize).filter(at => bytes.readUInt32LE(at + 100) !== softwareLoopback);
  return offsets.map(at => ({
    name: memory.text(at + 72),
    index: bytes.readUInt32LE(at + 4),
    mac: macOf(bytes.subarray(at + 80, at + 80 + Math.min(8, bytes.readUInt32LE(at + 88)))),
    addresses: chain(memory, memory.pointer(at + 24), unicastSize).flatMap(unicast => unicastAddress(memory, unicast)),
    isUp: bytes.readUInt32LE(at + 104) === operationalUp,
    interfaceMetric: knownMetric(bytes.readUInt32LE(at + 216)),
  }));
}

/** The default routes in the rows of a MIB_IPFORWARD_TABLE2. */
export function decodeDefaultRoutes(rows: Buffer): DefaultRoute[] {
  return decodeRoutes(rows).filter(({ destination }) => destination.endsWith('/0'));
}

/** The route with the lowest sum of route and interface metric is used. */
export function joinRoutes(listed: readonly ListedAdapter[], routes: readonly DefaultRoute[]): Adapter[] {
  return listed.map(({ interfaceMetric, ...adapter }) => {
    const metrics = routes.filter(route => route.interfaceIndex === adapter.index).map(route => route.metric);
    const lowest = metrics.length === 0 ? undefined : Math.min(...metrics) + interfaceMetric;
    return { ...adapter, defaultRouteMetric: lowest };
  });
}

/** Bytes that are read of each structure; it may be longer. */
const [adapterSize, unicastSize] = [220, 57];
const [ipv4Family, ipv6Family] = [2, 23];
const [operationalUp, softwareLoopback] = [1, 24];
/** Deprecated and preferred addresses; tentative and duplicate ones cannot be used. */
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

/** The first of the longest runs of zeros becomes `::` (RFC 5952). */
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

/** Offsets of the structures in a linked list; the pointer to the next one is at offset 8 of each. */
function chain(memory: Memory, first: number | undefined, size: number): number[] {
  const offsets: number[] = [];
  for (let at = first; at !== undefined; at = memory.pointer(at + 8)) {
    // The structures do not overlap, so a longer list is a cycle.
    if (offsets.length * size > memory.bytes.length) throw memory.invalid('has a list without an end');
    memory.slice(at, size);
    offsets.push(at);
  }
  return offsets;
}
