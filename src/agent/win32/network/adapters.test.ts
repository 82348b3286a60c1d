import { expect, test } from 'vitest';
import {
  type AdapterContent,
  AdapterMemory,
  type RouteContent,
  routeRows,
} from '../../../../test/kit/adapter-memory.ts';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { errorOf } from '../../../../test/kit/outcome.ts';
import { openAdapters } from './adapters.ts';

interface VerbDeps {
  adapters?: AdapterContent[];
  routes?: RouteContent[];
  /** Results instead of an answer. */
  adaptersResult?: number;
  routesResult?: number;
  /** How often an adapter appears between two calls. */
  growths?: number;
}

function bench(world: VerbDeps) {
  const tables = new Set<bigint>();
  let { growths = 0 } = world;
  const koffi: FakeKoffi = new FakeKoffi({
    GetAdaptersAddresses: (...args: unknown[]) => {
      const [buffer, size] = [args[3] as Buffer, args[4] as number[]];
      expect([args[0], args[1], size]).toEqual([0, 0xe, [buffer.length]]);
      if (world.adaptersResult !== undefined) return world.adaptersResult;
      const answer = AdapterMemory.list(world.adapters ?? [], koffi.address(buffer));
      if (growths > 0) {
        growths -= 1;
        size[0] = buffer.length + 1;
        return 111;
      }
      size[0] = answer.length;
      if (answer.length > buffer.length) return 111;
      answer.copy(buffer);
      return 0;
    },
    GetIpForwardTable2: (family: number, table: unknown[]) => {
      expect(family).toBe(2);
      if (world.routesResult !== undefined) return world.routesResult;
      const rows = routeRows(world.routes ?? []);
      const head = Buffer.alloc(8);
      head.writeUInt32LE(rows.length / 104);
      const address = koffi.store(Buffer.concat([head, rows]));
      tables.add(address);
      table[0] = address;
      return 0;
    },
    FreeMibTable: (table: bigint) => {
      expect(tables.delete(table)).toBe(true);
    },
  });
  return { list: openAdapters(koffi), tables };
}

const ethernet: AdapterContent = { index: 5, addresses: [{ bytes: [10, 0, 0, 5], prefix: 24 }] };

test('lists adapters with their way out', () => {
  const { list, tables } = bench({ adapters: [ethernet], routes: [{ index: 5, metric: 10 }] });
  expect(list()).toEqual([
    {
      name: 'Ethernet',
      index: 5,
      mac: '00-15-5d-01-02-af',
      addresses: ['10.0.0.5/24'],
      isUp: true,
      defaultRouteMetric: 35,
    },
  ]);
  expect(tables.size).toBe(0);
});

test('uses a large enough buffer', () => {
  const { list } = bench({ adapters: Array.from({ length: 200 }, (_, index) => ({ ...ethernet, index })) });
  expect(list()).toHaveLength(200);
});

test('retries with a larger buffer when adapters appear meanwhile, but not forever', () => {
  expect(bench({ adapters: [ethernet], growths: 3 }).list()).toHaveLength(1);
  expect(() => bench({ adapters: [ethernet], growths: 50 }).list()).toThrow(
    expect.objectContaining({ code: 'WINDOWS_CALL_FAILED', message: expect.stringContaining('111') as string }),
  );
});

test.each([
  ['no adapter', { adaptersResult: 232 }, 0],
  ['no route, as Windows says it', { adapters: [ethernet], routesResult: 1168 }, 1],
  ['no route, as Wine says it', { adapters: [ethernet], routesResult: 2 }, 1],
  ['an empty table of routes', { adapters: [ethernet], routes: [] }, 1],
])('ignores %s', (_, world, count) => {
  const { list, tables } = bench(world);
  const adapters = list();
  expect(adapters).toHaveLength(count);
  expect(adapters.map(adapter => adapter.defaultRouteMetric)).toEqual(Array.from({ length: count }));
  expect(tables.size).toBe(0);
});

test.each([
  ['GetAdaptersAddresses', { adaptersResult: 8 }],
  ['GetIpForwardTable2', { adapters: [ethernet], routesResult: 8 }],
])('reports that %s failed', (call, world) => {
  expect(() => bench(world).list()).toThrow(new RegExp(`${call} failed .* Windows error 8 `));
});

const failures: [number: number, remedy: RegExp][] = [
  [2, /Get-NetAdapter.*ipconfig \/all/],
  [87, /Get-NetAdapter.*ipconfig \/all/],
  [4711, /Get-NetAdapter.*ipconfig \/all/],
  [5, /Administrators/],
  [8, /Free memory/],
];
test.each(failures)('names commands for the administrator when the adapters cannot be listed: %i', (number, remedy) => {
  const error = errorOf(() => bench({ adaptersResult: number }).list());
  expect(error?.remedy).toMatch(remedy);
  expect(error?.remedy).not.toContain('program');
});
