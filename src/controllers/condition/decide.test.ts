import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Activity,
  type Condition,
  hasStatus,
  type OperatorConditionView,
  type Tracking,
  trackActivity,
} from './decide.ts';

const now = '2026-03-01T12:00:00Z';
const safe = {
  type: 'Upgradeable',
  status: 'True',
  reason: 'upgradeIsSafe',
  message: 'The operator is safe for upgrade',
  lastTransitionTime: now,
};
const unsafe = {
  type: 'Upgradeable',
  status: 'False',
  reason: 'upgradeIsNotSafe',
  message: 'The operator is currently processing sub-components. At least one controller is busy.',
  lastTransitionTime: now,
};
const other = { type: 'Other', status: 'True', reason: 'x', extra: { kept: [1] } };

const idle: Tracking = { conditionName: 'oc', busy: new Set() };
const busyWith = (...keys: string[]): Tracking => ({ conditionName: 'oc', busy: new Set(keys) });
const start = (key: string): Activity => ({ key, is: 'started' });
const end = (key: string, clean = true): Activity => ({ key, is: 'ended', clean });
const view = (...specConditions: Condition[]): OperatorConditionView => ({
  resourceVersion: '7',
  specConditions,
  statusConditions: [],
});

const steps: [string, Tracking, Activity, Condition[], string[], Condition[] | undefined][] = [
  ['writes unsafe when the first work starts', idle, start('a'), [safe], ['a'], [unsafe]],
  ['writes unsafe when there was no condition yet', idle, start('a'), [], ['a'], [unsafe]],
  ['writes nothing when more work starts', busyWith('a'), start('b'), [unsafe], ['a', 'b'], undefined],
  ['writes nothing when known work starts again', busyWith('a'), start('a'), [unsafe], ['a'], undefined],
  ['writes nothing while other work is left', busyWith('a', 'b'), end('a'), [unsafe], ['b'], undefined],
  ['writes safe when the last work ends', busyWith('a'), end('a'), [unsafe], [], [safe]],
  ['writes safe when nothing was known of the work that ends', idle, end('a'), [], [], [safe]],
  ['writes nothing when it is safe already', idle, end('a'), [safe], [], undefined],
  [
    'stays busy with work that failed or is to be called again',
    busyWith('a'),
    end('a', false),
    [unsafe],
    ['a'],
    undefined,
  ],
  ['becomes free once such work ends well', busyWith('a'), end('a'), [unsafe], [], [safe]],
  ['does not become busy by the end of unknown work', idle, end('a', false), [safe], [], undefined],
  ['frees nobody else', busyWith('node/x'), end('wicd-csr/x'), [unsafe], ['node/x'], undefined],
  ['keeps the conditions of others', idle, start('a'), [other, safe], ['a'], [other, unsafe]],
  ['keeps others where ours is missing', busyWith('a'), end('a'), [other], [], [other, safe]],
  ['writes when somebody else has changed ours', busyWith('a', 'b'), end('a'), [safe], ['b'], [unsafe]],
  ['lets the first of two conditions of ours decide', idle, start('a'), [unsafe, safe], ['a'], undefined],
  ['leaves one condition of ours', idle, start('a'), [safe, other, unsafe], ['a'], [other, unsafe]],
  ['does not mind another reason', idle, start('a'), [{ ...unsafe, reason: 'x', message: '' }], ['a'], undefined],
  ['fixes an unknown status', idle, end('a'), [{ ...safe, status: 'Unknown' }], [], [safe]],
];
for (const [title, tracking, activity, conditions, busy, written] of steps) {
  test(title, () => {
    const { tracking: next, patch } = trackActivity(tracking, activity, view(...conditions), now);
    expect([...next.busy]).toEqual(busy);
    expect(patch?.spec.conditions).toEqual(written);
  });
}

const silent: [string, string | undefined, OperatorConditionView | undefined][] = [
  ['without a name', undefined, view()],
  ['with an empty name', '', view()],
  ['when the object could not be read', 'oc', undefined],
];
for (const [title, conditionName, current] of silent) {
  test(`keeps count but never writes ${title}`, () => {
    const started = trackActivity({ conditionName, busy: new Set() }, start('a'), current, now);
    const ended = trackActivity(started.tracking, end('a'), current, now);
    expect([started.patch, ended.patch]).toEqual([undefined, undefined]);
    expect([started.tracking.busy.size, ended.tracking.busy.size]).toEqual([1, 0]);
  });
}

test('patches the version it has seen, so that a concurrent change is a conflict', () => {
  expect(trackActivity(idle, start('a'), view(), now).patch?.metadata).toEqual({ resourceVersion: '7' });
  const unversioned = { ...view(), resourceVersion: undefined };
  expect(trackActivity(idle, start('a'), unversioned, now).patch?.metadata).toEqual({});
});

test('changes neither the tracking nor the conditions it is given', () => {
  const tracking = busyWith('a');
  const current = view(Object.freeze({ ...unsafe }));
  trackActivity(tracking, end('a'), current, now);
  expect([...tracking.busy]).toEqual(['a']);
  expect(current.specConditions).toEqual([unsafe]);
});

const lookups: [string, Condition[], string, boolean][] = [
  ['the status', [other, safe], 'True', true],
  ['another status', [safe], 'False', false],
  ['the first of a type', [unsafe, safe], 'True', false],
  ['no condition of the type', [other], 'True', false],
  ['no condition at all', [], 'True', false],
  ['a condition without status', [{ type: 'Upgradeable' }], 'True', false],
];
for (const [title, conditions, status, want] of lookups) {
  test(`looks up ${title}`, () => expect(hasStatus(conditions, 'Upgradeable', status)).toBe(want));
}

test('UPG-05: after any history it is unsafe exactly while something is busy, and others’ conditions stay', () => {
  const activity = fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    is: fc.constantFrom('started' as const, 'ended' as const),
    clean: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(activity, { minLength: 1, maxLength: 20 }), history => {
      let tracking = idle;
      let conditions: readonly Condition[] = [other];
      let writes = 0;
      for (const one of history) {
        const tracked = trackActivity(tracking, one, view(...conditions), now);
        writes += tracked.patch === undefined ? 0 : 1;
        conditions = tracked.patch?.spec.conditions ?? conditions;
        tracking = tracked.tracking;
      }
      expect(conditions[0]).toEqual(other);
      expect(conditions[1]).toEqual(tracking.busy.size > 0 ? unsafe : safe);
      // A second look at the same state has nothing to write.
      expect(trackActivity(tracking, end('none'), view(...conditions), now).patch).toBeUndefined();
      return writes <= history.length;
    }),
    { numRuns: 500 },
  );
});
