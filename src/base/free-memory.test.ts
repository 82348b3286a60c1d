import { expect, test } from 'vitest';
import { freeMemory, freeWithLastPart } from './free-memory.ts';

const large = () => Buffer.allocUnsafeSlow(100_000);

test.each([
  ['a whole buffer', large()],
  ['a part', large().subarray(10, 20)],
])('frees the memory of %s', (_, buffer) => {
  const memory = buffer.buffer;
  freeMemory(buffer);
  expect(memory.byteLength).toBe(0);
  expect(buffer.length).toBe(0);
});

test.each([
  ['a buffer in the pool of Node.js', Buffer.from('pooled')],
  ['a small buffer', Buffer.allocUnsafeSlow(1000).fill(1)],
  ['memory shared with other threads', new Uint8Array(new SharedArrayBuffer(100_000))],
])('keeps %s', (_, buffer) => {
  const { length } = buffer;
  freeMemory(buffer);
  expect(buffer.length).toBe(length);
});

test('ignores a buffer that is free already', () => {
  const buffer = large();
  freeMemory(buffer);
  expect(() => freeMemory(buffer)).not.toThrow();
});

test('frees memory that is used in parts with its last part', () => {
  const whole = large();
  const parts = [whole.subarray(0, 60_000), whole.subarray(60_000)];
  const lengths = parts.map(part => {
    freeWithLastPart(part);
    return whole.length;
  });
  expect(lengths).toEqual([100_000, 0]);
});

test('gives memory back at once: gigabytes can be used in turn', () => {
  for (let round = 0; round < 200; round += 1) freeMemory(Buffer.alloc(20_000_000));
  expect(process.memoryUsage().arrayBuffers).toBeLessThan(500_000_000);
});
