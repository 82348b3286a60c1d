import type { Adapter } from '../../ports.ts';
import { bind, fillBuffer, type Koffi, type NativeFunction } from '../native.ts';
import { win32, windowsError } from '../win32-errors.ts';
import {
  decodeAdapters,
  decodeDefaultRoutes,
  type DefaultRoute,
  joinRoutes,
  type ListedAdapter,
  routeBytes,
} from './adapter-records.ts';
import { adapterCalls } from './calls.ts';

type Calls = Record<keyof typeof adapterCalls, NativeFunction>;

const [anyFamily, ipv4] = [0, 2];
/** Anycast, multicast and DNS servers are not needed. */
const skipped = 0x2 | 0x4 | 0x8;
const [bufferOverflow, noData, notFound] = [111, 232, 1168];

const checkAdapters =
  'Run `Get-NetAdapter` and `ipconfig /all` on the host; if they fail as well, run `Restart-Computer` there.';
const checkRoutes =
  'Run `Get-NetRoute` and `route print` on the host; if they fail as well, run `Restart-Computer` there.';

/** Lists the network adapters without the loopback. */
export function openAdapters(koffi: Koffi): () => Adapter[] {
  const calls = bind(koffi, adapterCalls);
  return () => joinRoutes(readAdapters(koffi, calls), readRoutes(koffi, calls));
}

function readAdapters(koffi: Koffi, { GetAdaptersAddresses }: Calls): ListedAdapter[] {
  const { result, bytes } = fillBuffer(16_384, bufferOverflow, (buffer, size) =>
    GetAdaptersAddresses(anyFamily, skipped, null, buffer, size),
  );
  if (result === noData) return [];
  if (result !== 0) throw windowsError('GetAdaptersAddresses', 'the network adapters', result, checkAdapters);
  return decodeAdapters(bytes, koffi.address(bytes));
}

function readRoutes(koffi: Koffi, calls: Calls): DefaultRoute[] {
  const table = [null];
  const result = Number(calls.GetIpForwardTable2(ipv4, table));
  // A host without any route has no table.
  if (result === notFound || result === win32.fileNotFound) return [];
  if (result !== 0) throw windowsError('GetIpForwardTable2', 'the routes', result, checkRoutes);
  try {
    const count = Number(koffi.decode(table[0], 0, 'uint32_t'));
    if (count === 0) return [];
    return decodeDefaultRoutes(Buffer.from(koffi.decode(table[0], 8, 'uint8_t', count * routeBytes) as Uint8Array));
  } finally {
    calls.FreeMibTable(table[0]);
  }
}
