import type { Route } from '../../ports.ts';

/** Size of a MIB_IPFORWARD_ROW2. */
export const routeBytes = 104;

const ipv4Family = 2;
/** MIB_IPPROTO_NETMGMT: a route that was set by hand or by a program. */
const setByProgram = 3;
const forever = 0xff_ff_ff_ff;

/** The rows of a MIB_IPFORWARD_TABLE2 of IPv4, without the count before them. */
export function decodeRoutes(rows: Buffer): Route[] {
  const count = Math.floor(rows.length / routeBytes);
  return Array.from({ length: count }, (_, index) => rows.subarray(index * routeBytes, (index + 1) * routeBytes))
    .filter(row => row.readUInt16LE(12) === ipv4Family)
    .map(row => ({
      destination: `${row.subarray(16, 20).join('.')}/${row.readUInt8(40)}`,
      gateway: row.subarray(48, 52).join('.'),
      interfaceIndex: row.readUInt32LE(8),
      metric: knownMetric(row.readUInt32LE(84)),
    }));
}

/** A row without LUID: Windows finds the adapter by its index. The route lasts until the next boot. */
export function encodeRoute({ destination, gateway, interfaceIndex, metric }: Route): Buffer {
  const [address = '', length] = destination.split('/');
  const row = Buffer.alloc(routeBytes);
  row.writeUInt32LE(interfaceIndex, 8);
  row.writeUInt16LE(ipv4Family, 12);
  row.set(address.split('.').map(Number), 16);
  row.writeUInt8(Number(length), 40);
  row.writeUInt16LE(ipv4Family, 44);
  row.set(gateway.split('.').map(Number), 48);
  row.writeUInt32LE(forever, 76);
  row.writeUInt32LE(forever, 80);
  row.writeUInt32LE(metric, 84);
  row.writeUInt32LE(setByProgram, 88);
  row.writeUInt8(1, 95);
  return row;
}

/** All bits set mean unknown. */
export function knownMetric(metric: number): number {
  return metric === 0xff_ff_ff_ff ? 0 : metric;
}
