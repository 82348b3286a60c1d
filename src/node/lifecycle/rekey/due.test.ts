import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { timestamp } from '#base/clock.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { InstanceKey } from '#contract/windows-instance/resource.ts';
import { rekeyDelayMs } from './due.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const [second, minute, hour] = [1000, 60_000, 3_600_000];
const longestMs = 5 * minute;
const at = (ms: number) => timestamp(nowMs + ms);

function instanceOf(pending?: InstanceKey['pending'], retry?: string): WindowsInstance {
  return {
    metadata: { name: 'win-1', ...(retry !== undefined && { annotations: { [instanceAnnotation.retry]: retry } }) },
    spec: { address: '10.0.0.1', username: 'a' },
    status: { key: { hash: 'former', ...(pending && { pending }) } },
  };
}

/** First rejected, last tried, and how long until the host is asked again. */
const rows: [name: string, since: string, tried: string, want: number | undefined][] = [
  ['just rejected for the first time', at(0), at(0), 30 * second],
  ['rejected 30 s ago', at(-30 * second), at(-30 * second), undefined],
  ['rejected for a minute', at(-minute), at(0), 30 * second],
  ['rejected for four minutes', at(-4 * minute), at(0), 2 * minute],
  ['rejected for four minutes, half of the pause is over', at(-5 * minute), at(-minute), minute],
  ['rejected for a week', at(-168 * hour), at(0), longestMs],
  ['rejected for a week, and not tried for an hour', at(-168 * hour), at(-hour), undefined],
  ['tried in the future: the clock was set back', at(0), at(hour), undefined],
  ['rejected in the future: the clock was set back, and it was tried since', at(hour), at(0), 30 * second],
  ['with times that cannot be read', 'x', 'y', undefined],
  ['with a first time that cannot be read', '', at(0), undefined],
];
for (const [name, since, tried, want] of rows) {
  test(`a host ${name}: ${want === undefined ? 'at once' : `in ${want / second} s`}`, () =>
    expect(rekeyDelayMs(instanceOf({ hash: 'b', since, tried }), 'b', nowMs)).toBe(want));
}

const pending = { hash: 'b', since: at(0), tried: at(0) };
const others: [name: string, instance: WindowsInstance, hash: string][] = [
  ['that has rejected none', instanceOf(), 'b'],
  ['without a record', { metadata: {}, spec: { address: 'a', username: 'b' } }, 'b'],
  ['that has rejected another key', instanceOf(pending), 'c'],
  ['for which there is no key', instanceOf(pending), ''],
  ['that an administrator wants to try again', instanceOf(pending, '1'), 'b'],
  ['that an administrator wants to try once more', instanceOf({ ...pending, retry: '1' }, '2'), 'b'],
  ['whose annotation was removed', instanceOf({ ...pending, retry: '1' }), 'b'],
];
for (const [name, instance, hash] of others) {
  test(`a host ${name} is asked at once`, () => expect(rekeyDelayMs(instance, hash, nowMs)).toBeUndefined());
}

test('a value of the annotation counts once', () =>
  expect(rekeyDelayMs(instanceOf({ ...pending, retry: '1' }, '1'), 'b', nowMs)).toBe(30 * second));

test('whatever is recorded, however clocks are set: a host waits five minutes at most, and never without end', () => {
  const someMs = fc.integer({ min: -48 * hour, max: 48 * hour });
  fc.assert(
    fc.property(someMs, someMs, someMs, (since, tried, now) => {
      const instance = instanceOf({ hash: 'b', since: at(since), tried: at(tried) });
      const delayMs = rekeyDelayMs(instance, 'b', nowMs + now);
      if (delayMs === undefined) return;
      expect(delayMs).toBeGreaterThan(0);
      expect(delayMs).toBeLessThanOrEqual(longestMs);
      expect(rekeyDelayMs(instance, 'b', nowMs + now + delayMs)).toBeUndefined();
      expect(rekeyDelayMs(instance, 'c', nowMs + now)).toBeUndefined();
    }),
  );
});
