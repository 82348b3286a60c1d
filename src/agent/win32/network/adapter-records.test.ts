import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AdapterMemory, routeRows } from '../../../../test/kit/adapter-memory.ts';
import { AppError } from '#base/errors.ts';
import { decodeAdapters, decodeDefaultRoutes, joinRoutes } from './adapter-records.ts';
import { routeBytes } from './route-records.ts';

const base = 0x10_0000n;
const ipv4 = (text: string) => text.split('.').map(Number);
const ipv6 = (hex: string) => [...Buffer.from(hex.replaceAll(' ', ''), 'hex')];

test('reads name, index, hardware address, state and addresses', () => {
  const bytes = AdapterMemory.list([
    {
      name: 'vEthernet (Größe)',
      index: 17,
      addresses: [
        { bytes: ipv4('10.0.0.5'), prefix: 24 },
        { bytes: ipv6('fe80 0000 0000 0000 8829 b6ff fe18 072e'), prefix: 64 },
      ],
    },
  ]);
  expect(decodeAdapters(bytes, base)).toEqual([
    {
      name: 'vEthernet (Größe)',
      index: 17,
      mac: '00-15-5d-01-02-af',
      addresses: ['10.0.0.5/24', 'fe80::8829:b6ff:fe18:72e/64'],
      isUp: true,
      interfaceMetric: 25,
    },
  ]);
});

test('reads all adapters of the list, but not the loopback', () => {
  const bytes = AdapterMemory.list([{ name: 'a' }, { name: 'Loopback', type: 24 }, { name: 'b' }, { name: 'c' }]);
  expect(decodeAdapters(bytes, base).map(adapter => adapter.name)).toEqual(['a', 'b', 'c']);
});

test('reads the list wherever it lies in memory', () => {
  const high = 0x7fff_ffff_f000n;
  const bytes = AdapterMemory.list([{ name: 'a' }, { name: 'b' }], high);
  expect(decodeAdapters(bytes, high).map(adapter => adapter.name)).toEqual(['a', 'b']);
});

test.each([
  [1, true],
  [2, false],
  [6, false],
  [7, false],
])('maps the state %d to up: %j', (status, isUp) => {
  expect(decodeAdapters(AdapterMemory.list([{ status }]), base)[0]?.isUp).toBe(isUp);
});

test.each([
  [[], ''],
  [[0xab], 'ab'],
  [[1, 2, 3, 4, 5, 6, 7, 8], '01-02-03-04-05-06-07-08'],
])('prints the hardware address %j', (mac, want) => {
  expect(decodeAdapters(AdapterMemory.list([{ mac }]), base)[0]?.mac).toBe(want);
});

test.each([
  ['invalid', 0, 0],
  ['still being checked', 1, 0],
  ['of another host, too', 2, 0],
  ['deprecated', 3, 1],
  ['preferred', 4, 1],
])('an address that is %s (%d) counts %d times', (_, dad, count) => {
  const bytes = AdapterMemory.list([{ addresses: [{ bytes: ipv4('10.0.0.5'), prefix: 24, dad }] }]);
  expect(decodeAdapters(bytes, base)[0]?.addresses).toHaveLength(count);
});

test('leaves out addresses of other families', () => {
  const addresses = [
    { bytes: [1, 2], prefix: 0 },
    { bytes: ipv4('10.0.0.5'), prefix: 32 },
  ];
  expect(decodeAdapters(AdapterMemory.list([{ addresses }]), base)[0]?.addresses).toEqual(['10.0.0.5/32']);
});

const printed: [string, string][] = [
  ['0000 0000 0000 0000 0000 0000 0000 0000', '::'],
  ['0000 0000 0000 0000 0000 0000 0000 0001', '::1'],
  ['2001 0db8 0000 0000 0000 0000 0000 0000', '2001:db8::'],
  ['2001 0db8 0000 0001 0002 0003 0004 0005', '2001:db8:0:1:2:3:4:5'],
  ['2001 0000 0000 0001 0000 0000 0000 0001', '2001:0:0:1::1'],
  ['2001 0000 0000 0001 0000 0000 0001 0001', '2001::1:0:0:1:1'],
  ['0000 0000 0000 0000 0000 ffff 0a00 0005', '::ffff:a00:5'],
  ['ffff ffff ffff ffff ffff ffff ffff ffff', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];
test.each(printed)('prints %s as %s', (hex, want) => {
  const bytes = AdapterMemory.list([{ addresses: [{ bytes: ipv6(hex), prefix: 128 }] }]);
  expect(decodeAdapters(bytes, base)[0]?.addresses).toEqual([`${want}/128`]);
});

test.each([
  ['a plain one', 25, 25],
  ['none', 0, 0],
  ['one that is unknown, as on Wine', 0xffff_ffff, 0],
])('reads the metric of the interface: %s', (_, metric, want) => {
  expect(decodeAdapters(AdapterMemory.list([{ metric }]), base)[0]?.interfaceMetric).toBe(want);
});

test('finds the routes to everywhere among the others', () => {
  const rows = routeRows([
    { index: 4, metric: 256 },
    { index: 4, prefix: 24, metric: 1 },
    { index: 9, metric: 0xffff_ffff },
    { index: 9, metric: 5, family: 23 },
  ]);
  expect(decodeDefaultRoutes(rows)).toMatchObject([
    { interfaceIndex: 4, metric: 256 },
    { interfaceIndex: 9, metric: 0 },
  ]);
  expect(decodeDefaultRoutes(Buffer.alloc(0))).toEqual([]);
});

test('a row of the table of routes has the size Windows gives it', () => {
  expect(routeBytes).toBe(104);
});

const joined: [string, { index: number; metric: number }[], number | undefined][] = [
  ['no default route', [{ index: 6, metric: 1 }], undefined],
  ['one default route', [{ index: 5, metric: 256 }], 281],
  [
    'the best of several',
    [
      { index: 5, metric: 256 },
      { index: 5, metric: 10 },
    ],
    35,
  ],
];
test.each(joined)('adds up the metrics of route and interface: %s', (_, routes, want) => {
  const [adapter] = joinRoutes(
    decodeAdapters(AdapterMemory.list([{ index: 5 }]), base),
    decodeDefaultRoutes(routeRows(routes)),
  );
  expect(adapter).toEqual({
    name: 'Ethernet',
    index: 5,
    mac: '00-15-5d-01-02-af',
    addresses: [],
    isUp: true,
    defaultRouteMetric: want,
  });
});

test('rejects a pointer that leaves the buffer', () => {
  const bytes = AdapterMemory.list([{ name: 'a' }]);
  for (const target of [0x1n, base + BigInt(bytes.length), base - 8n, 0xffff_ffff_ffff_ffffn]) {
    bytes.writeBigUInt64LE(target, 72);
    expect(() => decodeAdapters(bytes, base)).toThrow(expect.objectContaining({ code: 'WINDOWS_ANSWER_INVALID' }));
  }
});

test('rejects a cyclic list', () => {
  const bytes = AdapterMemory.list([{ name: 'a' }, { name: 'b' }]);
  bytes.writeBigUInt64LE(base, 8);
  expect(() => decodeAdapters(bytes, base)).toThrow(/a list without an end/);
});

test('rejects a truncated structure', () => {
  const bytes = AdapterMemory.list([{ name: 'a' }]);
  expect(() => decodeAdapters(bytes.subarray(0, 200), base)).toThrow(/a pointer out of its buffer/);
});

test('gives a name without a pointer as an empty one', () => {
  const bytes = AdapterMemory.list([{ name: 'a' }]);
  bytes.writeBigUInt64LE(0n, 72);
  expect(decodeAdapters(bytes, base)[0]?.name).toBe('');
});

test('rejects a name without an end', () => {
  const bytes = AdapterMemory.list([{ name: 'a' }]);
  bytes.writeUInt16LE(0x41, bytes.length - 2);
  expect(() => decodeAdapters(bytes, base)).toThrow(/text without an end/);
});

test('throws only AppErrors for any bytes', () => {
  const good = AdapterMemory.list([{ addresses: [{ bytes: ipv4('10.0.0.5'), prefix: 24 }] }, { name: 'b' }]);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 12 }), changes => {
      const bytes = Buffer.from(good);
      for (const [at, value] of changes) bytes[at] = value;
      try {
        decodeAdapters(bytes, base);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
    { numRuns: 2000 },
  );
});
