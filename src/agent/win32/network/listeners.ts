import { bind, fillBuffer, type Koffi } from '../native.ts';
import { win32, windowsError } from '../win32-errors.ts';
import { listenerCalls } from './calls.ts';

/** TCP_TABLE_OWNER_PID_LISTENER: the basic table has no form for IPv6. */
const listenersWithOwner = 3;

/** Programs that listen on both families are only in the table of IPv6. */
const families = [
  { family: 2, rowBytes: 24, portAt: 8 },
  { family: 23, rowBytes: 56, portAt: 20 },
] as const;

/** Reads the TCP ports that are listened on, in ascending order. */
export function openListeners(koffi: Koffi): () => number[] {
  const { GetExtendedTcpTable } = bind(koffi, listenerCalls);
  return () => {
    const ports = families.flatMap(({ family, rowBytes, portAt }) => {
      const { result, bytes: table } = fillBuffer(8192, win32.insufficientBuffer, (bytes, size) =>
        GetExtendedTcpTable(bytes, size, 0, family, listenersWithOwner, 0),
      );
      if (result !== 0) throw windowsError('GetExtendedTcpTable', 'the ports in use', result);
      const fitting = Math.min(table.readUInt32LE(0), Math.floor((table.length - 4) / rowBytes));
      // The port is in network byte order, in the first two of four bytes.
      return Array.from({ length: fitting }, (_, row) => table.readUInt16BE(4 + row * rowBytes + portAt));
    });
    return [...new Set(ports)].toSorted((one, other) => one - other);
  };
}
