import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findCondition, hasConditionStatus, setCondition } from './conditions.ts';
import type { Condition } from './resources.ts';

const earlier = '2026-03-01T11:00:00Z';
const now = '2026-03-01T12:00:00Z';
const nowMs = Date.parse(now);
const ready = (status: string, more: Partial<Condition> = {}): Condition => ({
  type: 'Ready',
  status,
  lastTransitionTime: earlier,
  ...more,
});
const other: Condition = { type: 'Other', status: 'True', lastTransitionTime: earlier };

const lookups: [string, Condition[] | undefined, Condition | undefined][] = [
  ['among others', [other, ready('True')], ready('True')],
  ['the first of two', [ready('False'), ready('True')], ready('False')],
  ['none of that type', [other], undefined],
  ['no conditions', [], undefined],
  ['no list at all', undefined, undefined],
];
for (const [name, conditions, want] of lookups) {
  test(`finds: ${name}`, () => expect(findCondition(conditions, 'Ready')).toEqual(want));
}

const statuses: [string, Condition[] | undefined, boolean][] = [
  ['the status', [ready('True')], true],
  ['another status', [ready('False')], false],
  ['the first of two', [ready('Unknown'), ready('True')], false],
  ['no condition', [], false],
  ['no list', undefined, false],
];
for (const [name, conditions, want] of statuses) {
  test(`has the status True: ${name}`, () => expect(hasConditionStatus(conditions, 'Ready', 'True')).toBe(want));
}

type News = Omit<Condition, 'lastTransitionTime'>;
const sets: [string, Condition[] | undefined, News, Condition[]][] = [
  [
    'a first one, dated now',
    undefined,
    { type: 'Ready', status: 'True' },
    [ready('True', { lastTransitionTime: now })],
  ],
  [
    'a new one, at the end',
    [other],
    { type: 'Ready', status: 'True' },
    [other, ready('True', { lastTransitionTime: now })],
  ],
  [
    'another status, dated now, at its old place',
    [ready('False'), other],
    { type: 'Ready', status: 'True' },
    [ready('True', { lastTransitionTime: now }), other],
  ],
  [
    'another reason, with the old date',
    [ready('True', { reason: 'A' })],
    { type: 'Ready', status: 'True', reason: 'B' },
    [ready('True', { reason: 'B' })],
  ],
  [
    'another message, with the old date',
    [ready('True', { message: 'a' })],
    { type: 'Ready', status: 'True', message: 'b' },
    [ready('True', { message: 'b' })],
  ],
  [
    'a reason less, with the old date',
    [ready('True', { reason: 'A' })],
    { type: 'Ready', status: 'True' },
    [ready('True')],
  ],
  [
    'a date where there was none',
    [{ type: 'Ready', status: 'True' }],
    { type: 'Ready', status: 'True' },
    [ready('True', { lastTransitionTime: now })],
  ],
  [
    'the first of two; the second goes',
    [ready('False'), other, ready('True')],
    { type: 'Ready', status: 'False' },
    [ready('False'), other],
  ],
  [
    'from unknown to false',
    [ready('Unknown')],
    { type: 'Ready', status: 'False' },
    [ready('False', { lastTransitionTime: now })],
  ],
];
for (const [name, conditions, news, want] of sets) {
  test(`sets ${name}`, () => expect(setCondition(conditions, news, nowMs)).toEqual(want));
}

test('the very same list comes back when nothing changes, so that nothing is written', () => {
  const conditions = [other, ready('True', { reason: 'A', message: 'm' })];
  const news = { message: 'm', reason: 'A', type: 'Ready', status: 'True' };
  expect(setCondition(conditions, news, nowMs)).toBe(conditions);
  expect(setCondition(conditions, { ...news, lastHeartbeatTime: undefined } as never, nowMs)).toBe(conditions);
});

test('keeps members that only some kinds have', () => {
  interface Observed extends Condition {
    observedGeneration: number;
  }
  const conditions: Observed[] = [
    { type: 'Ready', status: 'True', observedGeneration: 1, lastTransitionTime: earlier },
  ];
  const changed = setCondition(conditions, { type: 'Ready', status: 'True', observedGeneration: 2 }, nowMs);
  expect(changed).toEqual([{ type: 'Ready', status: 'True', observedGeneration: 2, lastTransitionTime: earlier }]);
});

test('changes nothing that it is given', () => {
  const conditions = Object.freeze([Object.freeze(ready('False')), Object.freeze(other)]);
  setCondition(conditions, { type: 'Ready', status: 'True' }, nowMs);
  expect(conditions).toEqual([ready('False'), other]);
});

test('whatever is set: there is one of each type set, its date moves with its status only', () => {
  const step = fc.record({
    type: fc.constantFrom('A', 'B'),
    status: fc.constantFrom('True', 'False'),
    reason: fc.constantFrom('x', 'y'),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 15 }), steps => {
      let conditions: readonly Condition[] = [];
      for (const [index, news] of steps.entries()) {
        const before = findCondition(conditions, news.type);
        conditions = setCondition(conditions, news, nowMs + index * 1000);
        const current = findCondition(conditions, news.type);
        expect(current).toMatchObject(news);
        expect(current?.lastTransitionTime === before?.lastTransitionTime).toBe(before?.status === news.status);
      }
      const types = conditions.map(condition => condition.type);
      expect(new Set(types).size).toBe(types.length);
    }),
  );
});
