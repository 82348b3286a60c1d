import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { descriptorBytes } from '../../../test/kit/descriptor-bytes.ts';
import { type Descriptor, parseDescriptor, right, sid } from './descriptor.ts';

const anySid = fc
  .tuple(fc.integer({ min: 0, max: 2 ** 48 - 1 }), fc.array(fc.nat({ max: 2 ** 32 - 1 }), { maxLength: 15 }))
  .map(([authority, parts]) => ['S', 1, authority, ...parts].join('-'));
const anyEntry = fc.record({
  allows: fc.boolean(),
  sid: anySid,
  mask: fc.nat({ max: 2 ** 32 - 1 }),
  inheritOnly: fc.boolean(),
});
const anyDescriptor: fc.Arbitrary<Descriptor> = fc.record({
  owner: anySid,
  entries: fc.option(fc.array(anyEntry, { maxLength: 8 }), { nil: undefined }),
});

test('reads owner and entries of any descriptor', () => {
  fc.assert(
    fc.property(anyDescriptor, descriptor => {
      expect(parseDescriptor(descriptorBytes(descriptor))).toEqual(descriptor);
    }),
  );
});

test('rejects a truncated descriptor, and never reads beyond it', () => {
  fc.assert(
    fc.property(anyDescriptor, fc.double({ min: 0, max: 0.999, noNaN: true }), (descriptor, part) => {
      const bytes = descriptorBytes(descriptor);
      expect(() => parseDescriptor(bytes.subarray(0, Math.floor(bytes.length * part)))).toThrow(RangeError);
    }),
  );
});

test('treats an entry of an unknown type as one that allows everything to anyone', () => {
  const bytes = descriptorBytes({
    owner: sid.system,
    entries: [{ allows: false, sid: sid.users, mask: 1, inheritOnly: true }],
  });
  bytes.writeUInt8(5, 20 + 12 + 8);
  expect(parseDescriptor(bytes).entries).toEqual([{ allows: true, sid: '', mask: right.all, inheritOnly: false }]);
});

test('ends with any bytes, in a descriptor or a RangeError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      try {
        parseDescriptor(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }),
  );
});
