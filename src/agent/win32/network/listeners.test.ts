import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { openListeners } from './listeners.ts';

const rows = { 2: { bytes: 24, at: 8 }, 23: { bytes: 56, at: 20 } } as const;

/** Ports behind the function of Windows, which at first says that the buffer is too small for so many attempts. */
function listening(v4: readonly number[], v6: readonly number[], tooSmall = 0, error = 0): number[] {
  const sizes: number[] = [];
  const koffi = new FakeKoffi({
    GetExtendedTcpTable: (...args: unknown[]) => {
      const [table, wanted, sorted, family, kind, reserved] = args as [
        Buffer,
        number[],
        number,
        2 | 23,
        number,
        number,
      ];
      expect([sorted, kind, reserved, wanted[0]]).toEqual([0, 3, 0, table.length]);
      if (error !== 0) return error;
      sizes.push(table.length);
      if (sizes.length <= tooSmall) return 122;
      const ports = family === 2 ? v4 : v6;
      const { bytes, at } = rows[family];
      const needed = 4 + ports.length * bytes;
      if (table.length < needed) {
        wanted[0] = needed;
        return 122;
      }
      table.writeUInt32LE(ports.length);
      for (const [row, port] of ports.entries()) table.writeUInt16BE(port, 4 + row * bytes + at);
      return 0;
    },
  });
  return openListeners(koffi)();
}

test('reports the ports of both kinds of addresses, each once and in order', () => {
  expect(listening([10250, 22, 135], [22, 9182])).toEqual([22, 135, 9182, 10250]);
});

test('gives no ports for a host without listeners', () => expect(listening([], [])).toEqual([]));

test('uses a larger buffer for a longer list, also when it grows meanwhile', () => {
  const many = Array.from({ length: 2000 }, (_, index) => index + 1);
  expect(listening(many, many, 3)).toEqual(many);
});

test('gives up after ten attempts', () => {
  expect(() => listening([1], [], 99)).toThrow(
    expect.objectContaining({ message: expect.stringContaining('GetExtendedTcpTable') as string }),
  );
});

test('reports a failure of Windows', () => {
  expect(() => listening([], [], 0, 5)).toThrow(expect.objectContaining({ code: 'WINDOWS_ACCESS_DENIED' }));
});

test('reads back any ports', () => {
  const port = fc.integer({ min: 1, max: 65_535 });
  fc.assert(
    fc.property(fc.array(port, { maxLength: 400 }), fc.array(port, { maxLength: 400 }), (v4, v6) => {
      expect(listening(v4, v6)).toEqual([...new Set([...v4, ...v6])].toSorted((one, other) => one - other));
    }),
    { numRuns: 200 },
  );
});
