import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readWire } from '#base/ssh-wire.ts';
import { type Answer, PacketAssembler, printAnswer, printVersion } from './sftp-packets.ts';
import { sftpPath, windowsPath } from './sftp-paths.ts';

const framed = (body: Uint8Array) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
};

test('a packet is returned when it is complete', () => {
  const assembler = new PacketAssembler();
  const bytes = framed(Buffer.from('hello'));
  expect(assembler.add(bytes.subarray(0, 2))).toEqual([]);
  expect(assembler.add(bytes.subarray(2, 7))).toEqual([]);
  expect(assembler.add(bytes.subarray(7)).map(String)).toEqual([String(Buffer.from('hello'))]);
});

test('several packets in one chunk are returned in order, and an incomplete one is kept', () => {
  const assembler = new PacketAssembler();
  const [one, two] = [framed(Buffer.from('one')), framed(Buffer.from('two'))];
  const first = assembler.add(Buffer.concat([one, one, two.subarray(0, 5)]));
  expect(first.map(packet => Buffer.from(packet).toString())).toEqual(['one', 'one']);
  expect(assembler.add(two.subarray(5)).map(packet => Buffer.from(packet).toString())).toEqual(['two']);
});

for (const [name, length] of [
  ['longer than any true one', 256 * 1024 + 1],
  ['empty', 0],
] as const) {
  test(`rejects a packet that is ${name}`, () => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(length);
    expect(() => new PacketAssembler().add(head)).toThrow(`${length} bytes`);
  });
}

test('takes writes of 255 KB', () => {
  const assembler = new PacketAssembler();
  const body = Buffer.alloc(255 * 1024 + 30, 7);
  const packets = assembler.add(framed(body));
  expect(packets.map(packet => packet.length)).toEqual([body.length]);
});

test('any split of a stream, the packets are the same', () => {
  const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 10 });
  fc.assert(
    fc.property(bodies, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (packets, cuts) => {
      const stream = Buffer.concat(packets.map(framed));
      const assembler = new PacketAssembler();
      const found: Uint8Array[] = [];
      for (let at = 0, turn = 0; at < stream.length; turn += 1) {
        const size = cuts[turn % cuts.length] ?? 1;
        found.push(...assembler.add(stream.subarray(at, at + size)).map(packet => Uint8Array.from(packet)));
        at += size;
      }
      expect(found).toEqual(packets.map(packet => Uint8Array.from(packet)));
    }),
    { numRuns: 500 },
  );
});

/** The body of an answer behind length, type and id. */
function bodyOf(answer: Answer): { type: number; id: number; body: Uint8Array } {
  const bytes = Buffer.from(printAnswer(77, answer));
  expect(bytes.readUInt32BE(0)).toBe(bytes.length - 4);
  return { type: bytes[4] ?? 0, id: bytes.readUInt32BE(5), body: bytes.subarray(9) };
}

const folder = { isFolder: true, bytes: 0, modifiedMs: 0 };
const shapes: [string, Answer, number][] = [
  ['a status', { is: 'status', code: 2 }, 101],
  ['a handle', { is: 'handle', handle: '1' }, 102],
  ['data', { is: 'data', bytes: Buffer.from('x') }, 103],
  ['names', { is: 'names', names: [{ name: 'a', attributes: folder }] }, 104],
  ['attributes', { is: 'attributes', attributes: folder }, 105],
  ['space', { is: 'space', totalBytes: 1, freeBytes: 1 }, 201],
  ['limits', { is: 'limits' }, 201],
];
for (const [name, answer, type] of shapes) {
  test(`${name} is written as type ${type} with the request ID`, () => {
    expect(bodyOf(answer)).toMatchObject({ type, id: 77 });
  });
}

test('a status has a message', () => {
  const { body } = bodyOf({ is: 'status', code: 4 });
  expect(readWire(body, reader => [reader.uint32(), reader.text(), reader.text()])).toEqual([4, 'status 4', 'en']);
});

test('attributes hold size, kind and time', () => {
  const attributes = { isFolder: false, bytes: 5_000_000_000, modifiedMs: 1_700_000_000_999 };
  const read = readWire(bodyOf({ is: 'attributes', attributes }).body, reader => ({
    flags: reader.uint32(),
    size: reader.uint32() * 2 ** 32 + reader.uint32(),
    mode: reader.uint32(),
    times: [reader.uint32(), reader.uint32()],
  }));
  expect(read).toEqual({ flags: 0xd, size: 5_000_000_000, mode: 0o100_777, times: [1_700_000_000, 1_700_000_000] });
});

test('a folder is marked as one', () => {
  const mode = readWire(bodyOf({ is: 'attributes', attributes: folder }).body, reader => {
    reader.bytes(12);
    const value = reader.uint32();
    reader.rest();
    return value;
  });
  expect(mode).toBe(0o040_777);
});

test('free space is in bytes', () => {
  const { body } = bodyOf({ is: 'space', totalBytes: 80e9, freeBytes: 12_345_678_901 });
  const numbers = Array.from({ length: 11 }, (_, index) => Number(Buffer.from(body).readBigUInt64BE(index * 8)));
  expect(numbers.slice(0, 5)).toEqual([1, 1, 80e9, 12_345_678_901, 12_345_678_901]);
});

test('takes requests of 255 KB, as OpenSSH does', () => {
  const { body } = bodyOf({ is: 'limits' });
  const values = [0, 8, 16, 24].map(at => Number(Buffer.from(body).readBigUInt64BE(at)));
  expect(values).toEqual([262_144, 261_120, 261_120, 0]);
});

test('presents itself as version 3 with the extensions of OpenSSH that are used', () => {
  const bytes = printVersion();
  const read = readWire(bytes.subarray(5), reader => ({
    version: reader.uint32(),
    extensions: Array.from({ length: 6 }, () => reader.text()),
  }));
  expect(read).toEqual({
    version: 3,
    extensions: ['posix-rename@openssh.com', '1', 'statvfs@openssh.com', '2', 'limits@openssh.com', '1'],
  });
});

const paths: [string, string][] = [
  ['/C:/k/x', 'C:\\k\\x'],
  ['C:/k/x', 'C:\\k\\x'],
  ['C:\\k\\x', 'C:\\k\\x'],
  ['/C:/k/', 'C:\\k'],
  ['/C:/k//x', 'C:\\k\\x'],
  ['/C:/k/../x', 'C:\\x'],
  ['/C:/../../x', 'C:\\x'],
  ['/C:', 'C:'],
  ['.', 'C:\\Users\\Administrator'],
  ['', 'C:\\Users\\Administrator'],
  ['a/b', 'C:\\Users\\Administrator\\a\\b'],
];
for (const [given, want] of paths) {
  test(`takes ${JSON.stringify(given)} for ${want}`, () => expect(windowsPath(given)).toBe(want));
}

test('a path survives conversion in both directions', () => {
  for (const path of ['C:\\k\\x', 'C:\\', 'D:\\a b\\c']) {
    expect(windowsPath(sftpPath(path))).toBe(path.replace(/\\$/, ''));
  }
});

test('no path leads out of the drive', () => {
  const part = fc.constantFrom('..', '.', 'a', 'b', '');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), parts => {
      expect(windowsPath(`/C:/${parts.join('/')}`)).toMatch(/^C:(\\[ab])*$/);
    }),
    { numRuns: 500 },
  );
});
