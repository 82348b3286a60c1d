import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import type { Route } from '../../ports.ts';
import { decodeRoutes, encodeRoute, routeBytes } from './route-records.ts';
import { openRoutes } from './routes.ts';

const route: Route = { destination: '169.254.169.254/32', gateway: '10.0.0.1', interfaceIndex: 6, metric: 3 };

const octet = fc.integer({ min: 0, max: 255 });
const address = fc.tuple(octet, octet, octet, octet).map(bytes => bytes.join('.'));
const anyRoute = fc.record({
  destination: fc.tuple(address, fc.integer({ min: 0, max: 32 })).map(([start, length]) => `${start}/${length}`),
  gateway: address,
  interfaceIndex: fc.integer({ min: 1, max: 0xffff }),
  metric: fc.integer({ min: 0, max: 9999 }),
});

test('reads the routes that it writes', () => {
  fc.assert(
    fc.property(fc.array(anyRoute, { maxLength: 5 }), routes => {
      expect(decodeRoutes(Buffer.concat(routes.map(encodeRoute)))).toEqual(routes);
    }),
  );
});

test('a row has lifetimes without an end, and fields where Windows expects them', () => {
  const row = encodeRoute(route);
  expect(row).toHaveLength(routeBytes);
  expect([row.readUInt32LE(76), row.readUInt32LE(80)]).toEqual([0xffff_ffff, 0xffff_ffff]);
  expect([row.readUInt16LE(12), row.readUInt16LE(44), row.readUInt32LE(88), row.readUInt8(95)]).toEqual([2, 2, 3, 1]);
});

function hostWith(results: { create?: number; remove?: number } = {}) {
  const rows: Route[] = [];
  const koffi: FakeKoffi = new FakeKoffi({
    GetIpForwardTable2: () => 1168,
    FreeMibTable: () => undefined,
    GetAdaptersAddresses: () => 0,
    CreateIpForwardEntry2: (row: Buffer) => {
      rows.push(...decodeRoutes(row));
      return results.create ?? 0;
    },
    DeleteIpForwardEntry2: (row: Buffer) => {
      rows.push(...decodeRoutes(row));
      return results.remove ?? 0;
    },
  });
  return { routes: openRoutes(koffi), rows };
}

test('adds and removes a route; one that is there or gone is no failure', async () => {
  for (const results of [{}, { create: 5010, remove: 1168 }]) {
    const { routes, rows } = hostWith(results);
    await routes.add(route);
    await routes.remove(route);
    expect(rows).toEqual([route, route]);
    expect(await routes.list()).toEqual([]);
  }
});

test('reports a failed change with the route', async () => {
  const { routes } = hostWith({ create: 5, remove: 87 });
  await expect(routes.add(route)).rejects.toThrow(/CreateIpForwardEntry2 failed for the route 169\.254\.169\.254\/32/);
  await expect(routes.remove(route)).rejects.toThrow(/DeleteIpForwardEntry2 failed/);
});

test('reports a Windows that cannot change routes', async () => {
  const koffi = new FakeKoffi({
    GetAdaptersAddresses: () => 0,
    GetIpForwardTable2: () => 1168,
    FreeMibTable: () => undefined,
  });
  await expect(openRoutes(koffi).add(route)).rejects.toMatchObject({
    code: 'WINDOWS_CALL_FAILED',
    message: expect.stringContaining('CreateIpForwardEntry2'),
    remedy: expect.stringContaining('Windows Server'),
  });
});
