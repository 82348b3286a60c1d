import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Condition, findCondition, hasConditionStatus, type NewCondition, setCondition } from './condition.ts';

const earlier = '2026-03-01T11:00:00Z';
const now = '2026-03-01T12:00:00Z';
const nowMs = Date.parse(now);
const ready = (status: string, more: Partial<Condition> = {}): Condition => ({
  type: 'Ready',
  status,
  reason: 'A',
  message: 'a',
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
  test(`findCondition finds ${name}`, () => expect(findCondition(conditions, 'Ready')).toEqual(want));
}

const statuses: [string, Condition[] | undefined, boolean][] = [
  ['the status', [ready('True')], true],
  ['another status', [ready('False')], false],
  ['the first of two', [ready('Unknown'), ready('True')], false],
  ['no condition', [], false],
  ['no list', undefined, false],
];
for (const [name, conditions, want] of statuses) {
  test(`hasConditionStatus compares with ${name}`, () =>
    expect(hasConditionStatus(conditions, 'Ready', 'True')).toBe(want));
}

const update = (status: NewCondition['status'], more: Partial<NewCondition> = {}): NewCondition => ({
  type: 'Ready',
  status,
  reason: 'A',
  message: 'a',
  ...more,
});
const sets: [string, Condition[] | undefined, NewCondition, Condition[]][] = [
  ['a first one, dated now', undefined, update('True'), [ready('True', { lastTransitionTime: now })]],
  ['a new one, at the end', [other], update('True'), [other, ready('True', { lastTransitionTime: now })]],
  [
    'another status, dated now, at its old place',
    [ready('False'), other],
    update('True'),
    [ready('True', { lastTransitionTime: now }), other],
  ],
  [
    'another reason, with the old date',
    [ready('True')],
    update('True', { reason: 'B' }),
    [ready('True', { reason: 'B' })],
  ],
  [
    'another message, with the old date',
    [ready('True')],
    update('True', { message: 'b' }),
    [ready('True', { message: 'b' })],
  ],
  [
    'without an optional member, with the old date',
    [ready('True', { observedGeneration: 1 })],
    update('True'),
    [ready('True')],
  ],
  [
    'a date where there was none',
    [{ type: 'Ready', status: 'True' }],
    update('True'),
    [ready('True', { lastTransitionTime: now })],
  ],
  [
    'the first of two; the second goes',
    [ready('False'), other, ready('True')],
    update('False'),
    [ready('False'), other],
  ],
  ['from unknown to false', [ready('Unknown')], update('False'), [ready('False', { lastTransitionTime: now })]],
];
for (const [name, conditions, next, want] of sets) {
  test(`setCondition sets ${name}`, () => expect(setCondition(conditions, next, nowMs)).toEqual(want));
}

test('setCondition returns the same list when nothing changes, for any order of members', () => {
  const conditions = [other, ready('True')];
  const { message, reason, ...rest } = update('True');
  expect(setCondition(conditions, { message, reason, ...rest }, nowMs)).toBe(conditions);
});

test('setCondition keeps members that only some kinds have', () => {
  const conditions = [ready('True', { observedGeneration: 1 })];
  const changed = setCondition(conditions, update('True', { observedGeneration: 2 }), nowMs);
  expect(changed).toEqual([ready('True', { observedGeneration: 2 })]);
});

test('setCondition does not modify its arguments', () => {
  const conditions = Object.freeze([Object.freeze(ready('False')), Object.freeze(other)]);
  setCondition(conditions, update('True'), nowMs);
  expect(conditions).toEqual([ready('False'), other]);
});

test('setCondition leaves one condition per type, and its time changes only with its status', () => {
  const step = fc.record({
    type: fc.constantFrom('A', 'B'),
    status: fc.constantFrom('True' as const, 'False' as const),
    reason: fc.constantFrom('x', 'y'),
    message: fc.constant('m'),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 15 }), steps => {
      let conditions: readonly Condition[] = [];
      for (const [index, next] of steps.entries()) {
        const before = findCondition(conditions, next.type);
        conditions = setCondition(conditions, next, nowMs + index * 1000);
        const current = findCondition(conditions, next.type);
        expect(current).toMatchObject(next);
        expect(current?.lastTransitionTime === before?.lastTransitionTime).toBe(before?.status === next.status);
      }
      const types = conditions.map(condition => condition.type);
      expect(new Set(types).size).toBe(types.length);
    }),
  );
});
