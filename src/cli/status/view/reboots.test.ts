import { expect, test } from 'vitest';
import { instanceAnnotation } from '#contract/names.ts';
import { at, instanceOf, noonMs } from '../../../../test/kit/status-views.ts';
import { nextRebootMs, rebootsOf, recentReboots } from './reboots.ts';

const hostWith = (reboots: string[], rebootRequest?: string, wanted?: string) => {
  const status = { reboots, ...(rebootRequest !== undefined && { rebootRequest }) };
  const instance = instanceOf('a', status);
  const annotations = wanted === undefined ? {} : { [instanceAnnotation.reboot]: wanted };
  return { instance: { ...instance, metadata: { ...instance.metadata, annotations } } };
};

test('a host without reboots and requests has nothing to show', () => {
  expect([rebootsOf(hostWith([])), rebootsOf(hostWith([], 'x', 'x')), rebootsOf({ instance: undefined })]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('a request is open until it is carried out', () => {
  expect(rebootsOf(hostWith([at(0)], 'old', 'new'))).toEqual({ ordered: [at(0)], limit: 3, requested: 'new' });
  expect(rebootsOf(hostWith([at(0)], 'new', 'new'))?.requested).toBeUndefined();
});

const hour = 3600;
const limits: [what: string, times: number[], count: number, nextSeconds: number | undefined][] = [
  ['two reboots', [-5 * hour, -hour], 2, undefined],
  ['three reboots in a day', [-5 * hour, -hour, 0], 3, 19 * hour],
  ['one of three more than a day ago', [-25 * hour, -hour, 0], 2, undefined],
  ['more than three', [-6 * hour, -5 * hour, -hour, 0], 4, 19 * hour],
];
for (const [what, times, count, nextSeconds] of limits) {
  test(`${what}: ${nextSeconds === undefined ? 'another is allowed now' : 'the next has to wait'}`, () => {
    const reboots = { ordered: times.map(at), limit: 3, requested: undefined };
    expect(recentReboots(reboots, noonMs)).toHaveLength(count);
    expect(nextRebootMs(reboots, noonMs)).toBe(nextSeconds === undefined ? undefined : noonMs + nextSeconds * 1000);
  });
}

test('a time that cannot be read does not count', () => {
  expect(recentReboots({ ordered: ['soon', '9999-01-01T00:00:00Z'], limit: 3, requested: undefined }, noonMs)).toEqual(
    [],
  );
});
