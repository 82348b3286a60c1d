import type { Adapter } from '../../ports.ts';
import { bind, fillBuffer, type Koffi, type NativeFunction } from '../native.ts';
import { windowsError } from '../win32-errors.ts';
import { decodeAdapters, decodeDefaultRoutes, joinRoutes, type ListedAdapter } from './adapter-records.ts';
import { adapterCalls } from './calls.ts';
import { readRouteRows } from './routes.ts';

type Calls = Record<keyof typeof adapterCalls, NativeFunction>;

const anyFamily = 0;
/** Anycast, multicast and DNS servers are not needed. */
const skipped = 0x2 | 0x4 | 0x8;
const [bufferOverflow, noData] = [111, 232];

const checkAdapters =
  'Run `Get-NetAdapter` and `ipconfig /all` on the host; if they fail as well, run `Restart-Computer` there.';

/** Lists the network adapters without the loopback. */
export function openAdapters(koffi: Koffi): () => Adapter[] {
  const calls = bind(koffi, adapterCalls);
  return () => joinRoutes(readAdapters(koffi, calls), decodeDefaultRoutes(readRouteRows(koffi, calls)));
}

function readAdapters(koffi: Koffi, { GetAdaptersAddresses }: Calls): ListedAdapter[] {
  const { result, bytes } = fillBuffer(16_384, bufferOverflow, (buffer, size) =>
    GetAdaptersAddresses(anyFamily, skipped, null, buffer, size),
  );
  if (result === noData) return [];
  if (result !== 0) throw windowsError('GetAdaptersAddresses', 'the network adapters', result, checkAdapters);
  return decodeAdapters(bytes, koffi.address(bytes));
}
