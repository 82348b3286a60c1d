import type { Adapter } from '../../ports.ts';
import { decodeAdapters, decodeDefaultRoutes, type DefaultRoute, joinRoutes, routeBytes } from './adapter-records.ts';
import { adapterCalls } from './adapters-calls.ts';
import { bind, type Koffi, type NativeFunction } from '../native.ts';
import { win32, windowsError } from '../win32-errors.ts';

type Calls = Record<keyof typeof adapterCalls, NativeFunction>;

const [anyFamily, ipv4] = [0, 2];
/** Anycast, multicast and DNS servers are nothing to us. */
const skipped = 0x2 | 0x4 | 0x8;
const [bufferOverflow, noData, notFound] = [111, 232, 1168];
const maxAttempts = 10;

/** Lists the network adapters but for the loopback; the list is a new one with every call. */
export function openAdapters(koffi: Koffi): () => Adapter[] {
  const calls = bind(koffi, adapterCalls);
  return () => {
    const { bytes, address } = readAdapters(koffi, calls);
    return joinRoutes(bytes.length === 0 ? [] : decodeAdapters(bytes, address), readRoutes(koffi, calls));
  };
}

function readAdapters(koffi: Koffi, calls: Calls): { bytes: Buffer; address: bigint } {
  let size = 16_384;
  for (let attempt = 1; ; attempt += 1) {
    const [bytes, wanted] = [Buffer.alloc(size), [size]];
    const result = Number(calls.GetAdaptersAddresses(anyFamily, skipped, null, bytes, wanted));
    if (result === 0) return { bytes, address: koffi.address(bytes) };
    if (result === noData) return { bytes: Buffer.alloc(0), address: 0n };
    // Adapters may appear between two calls, so the size that was asked for need not be enough.
    if (result !== bufferOverflow || attempt === maxAttempts) {
      throw windowsError('GetAdaptersAddresses', 'the network adapters', result);
    }
    size = Math.max(size, wanted[0] ?? 0) * 2;
  }
}

function readRoutes(koffi: Koffi, calls: Calls): DefaultRoute[] {
  const table = [null];
  const result = Number(calls.GetIpForwardTable2(ipv4, table));
  // A host that has no route at all has no table either.
  if (result === notFound || result === win32.fileNotFound) return [];
  if (result !== 0) throw windowsError('GetIpForwardTable2', 'the routes', result);
  try {
    const count = Number(koffi.decode(table[0], 0, 'uint32_t'));
    if (count === 0) return [];
    return decodeDefaultRoutes(Buffer.from(koffi.decode(table[0], 8, 'uint8_t', count * routeBytes) as Uint8Array));
  } finally {
    calls.FreeMibTable(table[0]);
  }
}
