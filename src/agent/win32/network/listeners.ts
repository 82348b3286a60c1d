import { listenerCalls } from './listeners-calls.ts';
import { bind, type Koffi, type NativeFunction } from '../native.ts';
import { windowsError } from '../win32-errors.ts';

type Calls = Record<keyof typeof listenerCalls, NativeFunction>;

/** TCP_TABLE_BASIC_LISTENER has no form for IPv6, but this one has. */
const listenersWithOwner = 3;
const insufficientBuffer = 122;
const maxAttempts = 10;

/** Programs that listen for both kinds of addresses show among those of IPv6 only. */
const families = [
  { family: 2, rowBytes: 24, portAt: 8 },
  { family: 23, rowBytes: 56, portAt: 20 },
] as const;

/** The TCP ports on which somebody listens, in rising order; found out anew with every call. */
export function openListeners(koffi: Koffi): () => number[] {
  const calls = bind(koffi, listenerCalls);
  return () => {
    const ports = families.flatMap(({ family, rowBytes, portAt }) => {
      const table = readTable(calls, family);
      const count = table.length < 4 ? 0 : table.readUInt32LE(0);
      const fitting = Math.min(count, Math.floor((table.length - 4) / rowBytes));
      // The port is in the order of the network, in the first two of four bytes.
      return Array.from({ length: Math.max(fitting, 0) }, (_, row) => table.readUInt16BE(4 + row * rowBytes + portAt));
    });
    return [...new Set(ports)].toSorted((one, other) => one - other);
  };
}

function readTable(calls: Calls, family: number): Buffer {
  let size = 8192;
  for (let attempt = 1; ; attempt += 1) {
    const [table, wanted] = [Buffer.alloc(size), [size]];
    const result = Number(calls.GetExtendedTcpTable(table, wanted, 0, family, listenersWithOwner, 0));
    if (result === 0) return table;
    if (result !== insufficientBuffer || attempt === maxAttempts) {
      throw windowsError('GetExtendedTcpTable', 'the ports in use', result);
    }
    // Others may begin to listen between two calls.
    size = Math.max(size, wanted[0] ?? 0) * 2;
  }
}
