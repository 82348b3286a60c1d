import { expect, test } from 'vitest';
import { instanceAnnotation } from '#contract/names.ts';
import { at, instanceOf } from '../../../../test/kit/status-views.ts';
import { rebootsOf } from './reboots.ts';

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
