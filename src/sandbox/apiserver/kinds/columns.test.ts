import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectOf } from '../../../../test/kit/kind-checks.ts';
import { ageColumn, ageOf, countOf, createdColumn, durationText, labelsText, nameColumn, wide } from './columns.ts';
import { configMap } from './config.ts';

const minute = 60;
const hour = 3600;
const day = 24 * hour;
const year = 365 * day;

const durations: [number, string][] = [
  [-5, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [1, '1s'],
  [119, '119s'],
  [120, '2m'],
  [125, '2m5s'],
  [10 * minute - 1, '9m59s'],
  [10 * minute, '10m'],
  [10 * minute + 59, '10m'],
  [3 * hour - 1, '179m'],
  [3 * hour, '3h'],
  [3 * hour + 5 * minute, '3h5m'],
  [8 * hour - 1, '7h59m'],
  [8 * hour, '8h'],
  [2 * day - 1, '47h'],
  [2 * day, '2d'],
  [2 * day + 5 * hour, '2d5h'],
  [8 * day - 1, '7d23h'],
  [8 * day, '8d'],
  [2 * year - 1, '729d'],
  [2 * year, '2y'],
  [2 * year + 3 * day, '2y3d'],
  [8 * year, '8y'],
  [80 * year, '80y'],
];
test.each(durations)('writes %i seconds as %s', (seconds, text) => expect(durationText(seconds)).toBe(text));

test('writes every duration in at most seven letters', () => {
  fc.assert(
    fc.property(fc.nat({ max: 90 * year }), seconds => {
      expect(durationText(seconds)).toMatch(/^(\d{1,3}[smhdy]|\d{1,2}[mhdy]\d{1,3}[smhd])$/);
    }),
    { numRuns: 2000 },
  );
});

test('formats an age or an unknown one', () => {
  const now = Date.parse('2026-01-01T00:01:00.900Z');
  expect(ageOf('2026-01-01T00:00:00Z', now)).toBe('60s');
  expect(ageOf(undefined, now)).toBe('<unknown>');
  expect(ageOf('', now)).toBe('<unknown>');
  expect(ageOf('yesterday', now)).toBe('<unknown>');
});

test('has the columns that all kinds share', () => {
  const object = objectOf(configMap, {}, { creationTimestamp: '2026-01-01T00:00:00Z' });
  expect(nameColumn).toMatchObject({ name: 'Name', format: 'name', type: 'string' });
  expect(nameColumn.cell(object, 0)).toBe('a');
  expect(nameColumn.cell({ ...object, metadata: {} }, 0)).toBe('');
  expect(createdColumn.cell(object, 0)).toBe('2026-01-01T00:00:00Z');
  expect(createdColumn.cell({ ...object, metadata: {} }, 0)).toBe('');
  expect(wide(ageColumn)).toMatchObject({ name: 'Age', priority: 1 });
});

test('writes labels in the order of their names', () => {
  expect(labelsText({ b: '2', a: '1' })).toBe('a=1,b=2');
  expect(labelsText({})).toBe('<none>');
});

test('counts members', () => {
  const object = objectOf(configMap, { data: { a: '1', b: '2' }, binaryData: { c: '' } });
  expect(countOf(object, 'data')).toBe(2);
  expect(countOf(object, 'data', 'binaryData', 'none')).toBe(3);
});
