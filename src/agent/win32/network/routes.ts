import { AppError, messageOf } from '#base/errors.ts';
import type { Route, Routes } from '../../ports.ts';
import { bind, type Koffi, type NativeFunction } from '../native.ts';
import { win32, windowsError } from '../win32-errors.ts';
import { adapterCalls, routeCalls } from './calls.ts';
import { decodeRoutes, encodeRoute, routeBytes } from './route-records.ts';

const ipv4 = 2;
const [notFound, alreadyExists] = [1168, 5010];

const checkRoutes =
  'Run `Get-NetRoute` and `route print` on the host; if they fail as well, run `Restart-Computer` there.';

/** The IPv4 routes of the host. */
export function openRoutes(koffi: Koffi): Routes {
  const calls = bind(koffi, adapterCalls);
  const change = (call: keyof typeof routeCalls, route: Route, done: number) => {
    const result = Number(bindChanges(koffi)[call](encodeRoute(route)));
    if (result !== 0 && result !== done)
      throw windowsError(call, `the route ${route.destination}`, result, checkRoutes);
  };
  return {
    list: async () => decodeRoutes(readRouteRows(koffi, calls)),
    add: async route => change('CreateIpForwardEntry2', route, alreadyExists),
    remove: async route => change('DeleteIpForwardEntry2', route, notFound),
  };
}

/** Only hosts of some clouds need them. */
function bindChanges(koffi: Koffi): Record<keyof typeof routeCalls, NativeFunction> {
  try {
    return bind(koffi, routeCalls);
  } catch (cause) {
    throw new AppError('WINDOWS_CALL_FAILED', `this Windows cannot change routes: ${messageOf(cause)}`, {
      remedy: 'Use Windows Server 2019, 2022 or 2025.',
      cause,
    });
  }
}

/** The rows of a MIB_IPFORWARD_TABLE2 of IPv4, without the count before them. */
export function readRouteRows(koffi: Koffi, calls: Record<keyof typeof adapterCalls, NativeFunction>): Buffer {
  const table = [null];
  const result = Number(calls.GetIpForwardTable2(ipv4, table));
  // A host without any route has no table.
  if (result === notFound || result === win32.fileNotFound) return Buffer.alloc(0);
  if (result !== 0) throw windowsError('GetIpForwardTable2', 'the routes', result, checkRoutes);
  try {
    const count = Number(koffi.decode(table[0], 0, 'uint32_t'));
    if (count === 0) return Buffer.alloc(0);
    return Buffer.from(koffi.decode(table[0], 8, 'uint8_t', count * routeBytes) as Uint8Array);
  } finally {
    calls.FreeMibTable(table[0]);
  }
}
