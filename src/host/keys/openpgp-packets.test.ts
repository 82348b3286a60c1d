import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Packet, readPackets, writePacket } from './openpgp-packets.ts';

const hex = (text: string): Uint8Array => Uint8Array.fromHex(text.replaceAll(' ', ''));
const summary = (packets: Packet[] | undefined): [number, string][] | undefined =>
  packets?.map(({ tag, body }) => [tag, body.toHex()]);

const readable: [name: string, bytes: string, want: [tag: number, body: string][]][] = [
  ['nothing', '', []],
  ['a packet in the new format', 'c3 02 aabb', [[3, 'aabb']]],
  ['an empty packet', 'cb 00', [[11, '']]],
  [
    'two packets in a row',
    'c3 01 aa d2 01 bb',
    [
      [3, 'aa'],
      [18, 'bb'],
    ],
  ],
  ['the highest tag', 'ff 01 aa', [[63, 'aa']]],
  ['a length of 191', `cb bf ${'00'.repeat(191)}`, [[11, '00'.repeat(191)]]],
  ['a length of 192 in two octets', `cb c000 ${'00'.repeat(192)}`, [[11, '00'.repeat(192)]]],
  ['a length of 447 in two octets', `cb c0ff ${'00'.repeat(447)}`, [[11, '00'.repeat(447)]]],
  ['a length of 8383 in two octets', `cb dfff ${'00'.repeat(8383)}`, [[11, '00'.repeat(8383)]]],
  ['a length in five octets', 'cb ff00000002 aabb', [[11, 'aabb']]],
  ['parts of one octet', 'd2 e0 aa e0 bb 00', [[18, 'aabb']]],
  ['a part of two octets and a rest', 'd2 e1 aabb 01 cc', [[18, 'aabbcc']]],
  [
    'parts that grow smaller, as the Go library writes them',
    `d2 e4 ${'11'.repeat(16)} e1 2222 e0 33 00`,
    [[18, `${'11'.repeat(16)}222233`]],
  ],
  ['a part and a rest of two octets length', `d2 e0 aa c000 ${'bb'.repeat(192)}`, [[18, `aa${'bb'.repeat(192)}`]]],
  ['a part and a rest of five octets length', 'd2 e0 aa ff00000001 bb', [[18, 'aabb']]],
  [
    'a packet behind parts',
    'd2 e0 aa 00 cb 01 bb',
    [
      [18, 'aa'],
      [11, 'bb'],
    ],
  ],
  ['the old format with one octet of length', '8c 02 aabb', [[3, 'aabb']]],
  ['the old format with two octets of length', '8d 0002 aabb', [[3, 'aabb']]],
  ['the old format with four octets of length', '8e 00000002 aabb', [[3, 'aabb']]],
  [
    'the old format without length, up to the end',
    '8c 01 aa af bbccdd',
    [
      [3, 'aa'],
      [11, 'bbccdd'],
    ],
  ],
  ['the old format without length and content', 'af', [[11, '']]],
];
for (const [name, bytes, want] of readable)
  test(`reads ${name}`, () => expect(summary(readPackets(hex(bytes)))).toEqual(want));

const unreadable: [name: string, bytes: string][] = [
  ['an octet that begins no packet', '00'],
  ['ASCII text', '48454c4c4f'],
  ['a header without length', 'c3'],
  ['a packet cut off', 'c3 03 aabb'],
  ['a length of two octets cut off', 'c3 c0'],
  ['a length of five octets cut off', 'c3 ff000000'],
  ['a length of 4 GiB', 'c3 ffffffffff aa'],
  ['a part of 1 GiB', 'd2 fe aa'],
  ['a part without a rest', 'd2 e0 aa'],
  ['a part whose rest is cut off', 'd2 e0 aa 02 bb'],
  ['an old length of one octet cut off', '8c'],
  ['an old length of two octets cut off', '8d 00'],
  ['an old length of four octets cut off', '8e 000000'],
  ['an old length of 4 GiB', '8e ffffffff aa'],
  ['an old packet cut off', '8c 03 aabb'],
  ['a good packet with garbage behind', 'c3 01 aa 7f'],
];
for (const [name, bytes] of unreadable) test(`refuses ${name}`, () => expect(readPackets(hex(bytes))).toBeUndefined());

const lengths: [length: number, header: string][] = [
  [0, 'cb00'],
  [1, 'cb01'],
  [191, 'cbbf'],
  [192, 'cbc000'],
  [8383, 'cbdfff'],
  [8384, 'cbff000020c0'],
  [100_000, 'cbff000186a0'],
];
for (const [length, header] of lengths) {
  test(`writes a body of ${length} octets with the header ${header}`, () => {
    const bytes = writePacket(11, new Uint8Array(length));
    expect(bytes.toHex().slice(0, header.length)).toBe(header);
    expect(summary(readPackets(bytes))).toEqual([[11, '00'.repeat(length)]]);
  });
}

test('joins parts of any sizes to the body they were cut from', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 12 });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 6000 }), sizes, (body, exponents) => {
      let at = 0;
      const chunks: Uint8Array[] = [];
      for (const exponent of exponents.filter(exponent => body.length >= 2 ** exponent)) {
        if (at + 2 ** exponent > body.length) break;
        chunks.push(Uint8Array.of(0xe0 | exponent), body.subarray(at, (at += 2 ** exponent)));
      }
      const rest = writePacket(0, body.subarray(at)).subarray(1);
      const bytes = Buffer.concat([Uint8Array.of(0xd2), ...chunks, rest]);
      expect(summary(readPackets(bytes))).toEqual([[18, body.toHex()]]);
    }),
    { numRuns: 500 },
  );
});

test('reads back any packets it has written', () => {
  const packet = fc.tuple(fc.integer({ min: 0, max: 63 }), fc.uint8Array({ maxLength: 300 }));
  fc.assert(
    fc.property(fc.array(packet, { maxLength: 5 }), packets => {
      const bytes = Buffer.concat(packets.map(([tag, body]) => writePacket(tag, body)));
      expect(summary(readPackets(bytes))).toEqual(packets.map(([tag, body]) => [tag, body.toHex()]));
    }),
  );
});

test('never throws and never makes more bytes than it was given', () => {
  const lengthy = fc.constantFrom(0xe0, 0xe1, 0xe4, 0xfe, 0xff, 0xc0, 0xd2, 0x8c, 0x8f, 0);
  fc.assert(
    fc.property(fc.array(fc.oneof(lengthy, fc.nat(255)), { maxLength: 200 }), octets => {
      const packets = readPackets(Uint8Array.from(octets)) ?? [];
      expect(packets.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThanOrEqual(octets.length);
    }),
    { numRuns: 2000 },
  );
});
