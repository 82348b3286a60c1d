import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BudgetSpec, countBudget, type SelectedPods } from './budget.ts';

const pods = (healthy: number, scale: number | undefined = 10, count = 10): SelectedPods => ({ count, healthy, scale });

type Counts = [desired: number, expected: number, allowed: number] | undefined;
const cases: [string, BudgetSpec, SelectedPods, Counts][] = [
  ['a minimum', { minAvailable: 3 }, pods(5), [3, 10, 2]],
  ['a minimum that is met exactly', { minAvailable: 5 }, pods(5), [5, 10, 0]],
  ['a minimum that is not met', { minAvailable: 7 }, pods(5), [7, 10, 0]],
  ['a minimum needs no controllers', { minAvailable: 1 }, { count: 2, healthy: 2, scale: undefined }, [1, 2, 1]],
  ['a minimum without pods', { minAvailable: 0 }, { count: 0, healthy: 0, scale: 0 }, [0, 0, 0]],
  ['a minimum of nought', { minAvailable: 0 }, pods(4), [0, 10, 4]],
  ['a minimum in percent, rounded up', { minAvailable: '25%' }, pods(10), [3, 10, 7]],
  ['all of them', { minAvailable: '100%' }, pods(10), [10, 10, 0]],
  [
    'a minimum in percent without controllers',
    { minAvailable: '50%' },
    { count: 2, healthy: 2, scale: undefined },
    undefined,
  ],
  ['a minimum that is no number', { minAvailable: 'many' }, pods(5), undefined],
  ['a maximum', { maxUnavailable: 2 }, pods(10), [8, 10, 2]],
  ['a maximum that is used up', { maxUnavailable: 2 }, pods(8), [8, 10, 0]],
  ['a maximum above the scale', { maxUnavailable: 20 }, pods(3), [0, 10, 3]],
  ['a maximum of nought', { maxUnavailable: 0 }, pods(10), [10, 10, 0]],
  ['a maximum in percent, rounded up', { maxUnavailable: '15%' }, pods(10), [8, 10, 2]],
  ['a maximum without controllers', { maxUnavailable: 1 }, { count: 2, healthy: 2, scale: undefined }, undefined],
  ['a maximum that is no number', { maxUnavailable: '1.5' }, pods(5), undefined],
  ['a maximum without pods', { maxUnavailable: 1 }, { count: 0, healthy: 0, scale: 0 }, [0, 0, 0]],
  ['neither', {}, pods(5), [0, 0, 0]],
];
test.each(cases)('%s', (_, spec, selected, want) => {
  const counts = countBudget(spec, selected);
  expect(counts && [counts.desiredHealthy, counts.expectedPods, counts.disruptionsAllowed]).toEqual(want);
  expect(counts?.currentHealthy ?? selected.healthy).toBe(selected.healthy);
});

const amount = fc.oneof(
  fc.nat(20),
  fc.nat(100).map(percent => `${percent}%`),
);

test('the allowed number of evictions never violates the budget', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('minAvailable', 'maxUnavailable'),
      amount,
      fc.nat(20),
      fc.nat(20),
      (name, value, scale, healthy) => {
        const counts = countBudget({ [name]: value }, { count: scale, healthy, scale });
        if (counts === undefined || counts.disruptionsAllowed === 0) return;
        expect(healthy - counts.disruptionsAllowed).toBeGreaterThanOrEqual(counts.desiredHealthy);
      },
    ),
    { numRuns: 2000 },
  );
});
