import { expect, test } from 'vitest';
import { removeSignature } from './signature.ts';

const header = 0x80 + 24;
const [checksum, table] = [header + 64, header + 144];

interface Shape {
  magic?: number;
  /** Of the certificate at the end; none when 0. */
  certificateBytes?: number;
  /** Size in the header. */
  listedBytes?: number;
}

function program({ magic = 0x20b, certificateBytes = 16, listedBytes = certificateBytes }: Shape = {}): Buffer {
  const body = Buffer.alloc(600, 7);
  body.writeUInt32LE(0x80, 0x3c);
  body.writeUInt16LE(magic, header);
  body.writeUInt32LE(123, checksum);
  body.writeUInt32LE(333, table);
  body.writeUInt32LE(listedBytes, table + 4);
  const certificate = Buffer.alloc(certificateBytes, 9);
  if (certificateBytes > 0) certificate.writeUInt32LE(certificateBytes, 0);
  return Buffer.concat([body, certificate]);
}

test('removes the certificate and its header entry', () => {
  const rest = removeSignature(program());
  expect(rest.length).toBe(600);
  expect(rest.subarray(table, table + 8)).toEqual(Buffer.alloc(8));
  expect(rest.readUInt32LE(checksum)).toBe(0);
});

test('keeps all other bytes', () => {
  const [before, rest] = [program(), removeSignature(program())];
  const changed = [...rest.keys()].filter(index => rest[index] !== before[index]);
  expect(
    changed.every(index => (index >= checksum && index < checksum + 4) || (index >= table && index < table + 8)),
  ).toBe(true);
});

const kept: [string, Shape][] = [
  ['a program without a signature', { certificateBytes: 0 }],
  ['data at the end that is no certificate', { certificateBytes: 16, listedBytes: 12 }],
];
for (const [name, shape] of kept) {
  test(`keeps the size of ${name}`, () => expect(removeSignature(program(shape)).length).toBe(program(shape).length));
}

test('does not change its argument', () => {
  const exe = program();
  removeSignature(exe);
  expect(exe).toEqual(program());
});

test('is idempotent', () => {
  const once = removeSignature(program());
  expect(removeSignature(once)).toEqual(once);
});

test('rejects a 32-bit program', () => {
  expect(() => removeSignature(program({ magic: 0x10b }))).toThrow(/not a 64-bit Windows program/);
});
