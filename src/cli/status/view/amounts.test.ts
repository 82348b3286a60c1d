import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesText, countText, durationText, shareText, uploadText } from './amounts.ts';

const durations: [ms: number, want: string][] = [
  [0, '0.0 s'],
  [-5000, '0.0 s'],
  [49, '0.0 s'],
  [340, '0.3 s'],
  [9949, '9.9 s'],
  [9950, '10 s'],
  [42_400, '42 s'],
  [59_400, '59 s'],
  [59_600, '1 min'],
  [60_000, '1 min'],
  [200_000, '3 min 20 s'],
  [3_599_400, '59 min 59 s'],
  [3_599_600, '1 h'],
  [7_500_000, '2 h 5 min'],
  [86_399_000, '23 h 59 min'],
  [86_400_000, '1 d'],
  [273_600_000, '3 d 4 h'],
];
for (const [ms, want] of durations) test(`${ms} ms are ${want}`, () => expect(durationText(ms)).toBe(want));

const amounts: [bytes: number, want: string][] = [
  [0, '0 B'],
  [-1, '0 B'],
  [812, '812 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [7785, '7.8 kB'],
  [9960, '10 kB'],
  [999_400, '999 kB'],
  [999_600, '1.0 MB'],
  [24_000_000, '24 MB'],
  [207_000_000, '207 MB'],
  [2_400_000_000, '2.4 GB'],
  [9e15, '9000 TB'],
];
for (const [bytes, want] of amounts) test(`${bytes} bytes are ${want}`, () => expect(bytesText(bytes)).toBe(want));

const shares: [bytes: number, total: number, want: string][] = [
  [0, 24_000_000, '0 B of 24 MB (0 %)'],
  [12_000_000, 24_000_000, '12 of 24 MB (50 %)'],
  [800_000, 24_000_000, '800 kB of 24 MB (3 %)'],
  [23_999_999, 24_000_000, '24 of 24 MB (99 %)'],
  [24_000_000, 24_000_000, '24 of 24 MB (100 %)'],
  [30, 20, '30 of 20 B (100 %)'],
  [0, 0, '0 of 0 B (100 %)'],
];
for (const [bytes, total, want] of shares) {
  test(`${bytes} of ${total} are ${want}`, () => expect(shareText(bytes, total)).toBe(want));
}

test('every duration is short', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e12 }), ms => {
      expect(durationText(ms)).toMatch(/^\d+(\.\d)? (s|min|h|d)( \d+ (s|min|h))?$/);
    }),
    { numRuns: 2000 },
  );
});

test('counts in singular and plural', () => {
  expect([0, 1, 2].map(count => countText(count, 'host'))).toEqual(['0 hosts', '1 host', '2 hosts']);
});

const uploads: [progress: Parameters<typeof uploadText>[0], want: string][] = [
  [{ bytes: 0, totalBytes: 100 }, '[----------] 0 %, 0 of 100 B'],
  [{ bytes: 0, totalBytes: 100, started: new Date(0).toISOString() }, '[----------] 0 %, 0 of 100 B'],
  [
    { bytes: 12e6, totalBytes: 24e6, started: new Date(0).toISOString() },
    '[#####-----] 50 %, 4.0 s left, 3.0 MB/s, 12 of 24 MB',
  ],
  [
    { bytes: 24e6, totalBytes: 24e6, started: new Date(0).toISOString() },
    '[##########] 100 %, 0.0 s left, 6.0 MB/s, 24 of 24 MB',
  ],
  [{ bytes: 30, totalBytes: 20, started: 'soon' }, '[##########] 100 %, 30 of 20 B'],
  [{ bytes: -5, totalBytes: 0, started: '' }, '[##########] 100 %, 0 of 0 B'],
];
for (const [progress, want] of uploads) {
  test(`an upload of ${JSON.stringify(progress)} after four seconds is ${want}`, () =>
    expect(uploadText(progress, 4000)).toBe(want));
}
