import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hourMs, minuteMs, startMs } from '../../../test/kit/agent-certificates.ts';
import { drawFraction, type Held, isExpired, renewalOf, retryDelayMs, validityProblem } from './lifetime.ts';

const hour = { notBeforeMs: startMs - 5 * minuteMs, notAfterMs: startMs + 55 * minuteMs };
const held = (more: Partial<Held> = {}): Held => ({
  ...hour,
  obtainedMs: startMs,
  fraction: 0.8,
  isRefused: false,
  ...more,
});
const secondMs = 1000;

const times: [name: string, atMs: number, problem: string | undefined][] = [
  ['in the middle of its life', startMs, undefined],
  ['in the last millisecond', hour.notAfterMs - 1, undefined],
  ['at its end', hour.notAfterMs, 'expired at 2026-03-01T12:55:00Z'],
  ['long after its end', hour.notAfterMs + 1000 * hourMs, 'expired at 2026-03-01T12:55:00Z'],
  ['at its beginning', hour.notBeforeMs, undefined],
  ['five minutes before its beginning, as clocks differ', hour.notBeforeMs - 5 * minuteMs, undefined],
  ['earlier than clocks differ', hour.notBeforeMs - 5 * minuteMs - 1, 'is not valid before 2026-03-01T11:55:00Z'],
];
for (const [name, atMs, problem] of times) {
  test(`judges a certificate ${name}`, () => {
    expect(validityProblem(hour, atMs)).toBe(problem);
    expect(isExpired(hour, atMs)).toBe(problem?.startsWith('expired') === true);
  });
}

const due: [name: string, held: Held | undefined, atMs: number, why: string][] = [
  ['there is none', undefined, startMs, 'there is no certificate'],
  ['it has expired', held(), startMs + 2 * hourMs, 'the certificate expired at 2026-03-01T12:55:00Z'],
  ['it is of the future', held(), startMs - hourMs, 'the certificate is not valid before 2026-03-01T11:55:00Z'],
  ['the server refuses it', held({ isRefused: true }), startMs, 'the API server rejects the certificate'],
  ['its time has come', held(), startMs + 43 * minuteMs, 'half of its lifetime is over'],
  ['it was found with most of its life over', held({ obtainedMs: undefined }), startMs + 50 * minuteMs, 'half of'],
  ['a short one is found that was dated back', found(10 * secondMs), startMs, 'half of its lifetime is over'],
];
for (const [name, given, atMs, why] of due) {
  test(`renews at once when ${name}`, () =>
    expect(renewalOf(given, atMs)).toEqual({ isDue: true, why: expect.stringContaining(why) }));
}

const later: [name: string, held: Held, minutes: number][] = [
  ['an hour at 80 %', held(), 43],
  ['an hour at 70 %', held({ fraction: 0.7 }), 37],
  ['an hour at 90 %', held({ fraction: 0.9 }), 49],
  ['an hour found in the store', held({ obtainedMs: undefined }), 43],
  ['ten minutes dated back by five: of the five that are left', fresh(5 * minuteMs, 0.7), 3.5],
  ['two minutes that are left of seven', fresh(2 * minuteMs, 0.7), 1.4],
  ['two minutes that are left of seven, by the whole life, since that is late enough', fresh(2 * minuteMs, 0.9), 1.3],
  ['ten seconds that are left', fresh(10 * secondMs, 0.8), 8 / 60],
  ['two minutes that were not dated back', { ...fresh(2 * minuteMs, 0.8), notBeforeMs: startMs }, 1.6],
];
for (const [name, given, minutes] of later) {
  test(`renews later: ${name}`, () =>
    expect(renewalOf(given, startMs)).toEqual({ isDue: false, atMs: startMs + minutes * minuteMs }));
}

/** As a signer gives it that dates back by five minutes. */
function fresh(leftMs: number, fraction: number): Held {
  return held({ notBeforeMs: startMs - 5 * minuteMs, notAfterMs: startMs + leftMs, fraction });
}
function found(leftMs: number): Held {
  return { ...fresh(leftMs, 0.8), obtainedMs: undefined };
}

const milliseconds = fc.integer({ min: 1000, max: 400 * 24 * hourMs });
const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('uses a new certificate for at least half of the remaining time, and renews it before it expires', () => {
  fc.assert(
    fc.property(milliseconds, fc.integer({ min: 0, max: hourMs }), unit, (leftMs, backdatedMs, random) => {
      const given = held({
        notBeforeMs: startMs - backdatedMs,
        notAfterMs: startMs + leftMs,
        fraction: drawFraction(random),
      });
      const renewal = renewalOf(given, startMs);
      if (renewal.isDue) return false;
      const afterMs = renewal.atMs - startMs;
      return afterMs >= leftMs / 2 - 1 && afterMs < leftMs;
    }),
    { numRuns: 5000 },
  );
});

test('renews between 50 and 70 % of the lifetime', () => {
  fc.assert(
    fc.property(milliseconds, unit, (lifeMs, random) => {
      const given = held({ notBeforeMs: startMs, notAfterMs: startMs + lifeMs, fraction: drawFraction(random) });
      const renewal = renewalOf(given, startMs);
      if (renewal.isDue) return false;
      const share = (renewal.atMs - startMs) / lifeMs;
      return share > 0.499 && share < 0.701;
    }),
    { numRuns: 5000 },
  );
});

test('what is due stays due until there is another certificate, and the time does not move', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3 * hourMs }), fc.integer({ min: 0, max: hourMs }), (firstMs, moreMs) => {
      const [one, two] = [renewalOf(held(), startMs + firstMs), renewalOf(held(), startMs + firstMs + moreMs)];
      if (one.isDue) return two.isDue;
      return two.isDue ? startMs + firstMs + moreMs >= one.atMs : two.atMs === one.atMs;
    }),
    { numRuns: 2000 },
  );
});

test('waits longer from failure to failure, and never longer than 32 s and a bit', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 100, 1e6].map(failures => retryDelayMs(failures, 0))).toEqual([
    2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000, 32_000, 32_000,
  ]);
  expect(retryDelayMs(1, 0.5)).toBe(2100);
  fc.assert(
    fc.property(fc.integer({ min: 1 }), unit, (failures, random) => {
      const delayMs = retryDelayMs(failures, random);
      return delayMs >= 2000 && delayMs < 35_200.1;
    }),
  );
});
