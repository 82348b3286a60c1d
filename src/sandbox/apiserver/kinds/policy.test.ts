import { expect, test } from 'vitest';
import { created, objectOf, problems, row } from '../../../../test/kit/kind-checks.ts';
import { podDisruptionBudget } from './policy.ts';

const empty = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

test('ignores the status of a new budget', () => {
  expect(created(podDisruptionBudget, { status: { disruptionsAllowed: 5 } })).toMatchObject({ status: empty });
});

test('keeps status and spec apart', () => {
  const old = objectOf(podDisruptionBudget, { spec: { minAvailable: 1 }, status: { ...empty, currentHealthy: 1 } });
  const next = objectOf(podDisruptionBudget, { spec: { minAvailable: 2 }, status: { disruptionsAllowed: 1 } });
  expect(podDisruptionBudget.prepareUpdate(next, old, '')).toMatchObject({
    spec: { minAvailable: 2 },
    status: { currentHealthy: 1 },
  });
  expect(podDisruptionBudget.prepareUpdate(next, old, 'status')).toMatchObject({
    spec: { minAvailable: 1 },
    status: { ...empty, disruptionsAllowed: 1 },
  });
});

const percent = /a valid percent string must be a numeric string followed by an ending '%'/;
const judged: [string, Record<string, unknown>, RegExp[]][] = [
  ['nothing', {}, []],
  ['a number', { minAvailable: 1 }, []],
  ['nought', { maxUnavailable: 0 }, []],
  ['a percentage', { maxUnavailable: '50%' }, []],
  [
    'a negative number',
    { minAvailable: -1 },
    [/^spec\.minAvailable: Invalid value: -1: must be greater than or equal to 0$/],
  ],
  ['a word', { maxUnavailable: 'abc' }, [percent]],
  ['half a percentage', { minAvailable: '5' }, [percent]],
  [
    'both',
    { minAvailable: 1, maxUnavailable: 1 },
    [/^spec: Invalid value: .*minAvailable and maxUnavailable cannot be both set$/],
  ],
];
test.each(judged)('judges a budget with %s', (_, spec, wanted) => {
  expect(problems(podDisruptionBudget, { spec })).toEqual(wanted.map(pattern => expect.stringMatching(pattern)));
});

test('shows a budget', () => {
  expect(row(podDisruptionBudget, { spec: { minAvailable: 2 }, status: { disruptionsAllowed: 1 } })).toEqual({
    Name: 'a',
    'Min Available': 2,
    'Max Unavailable': 'N/A',
    'Allowed Disruptions': 1,
    Age: '60s',
  });
  expect(row(podDisruptionBudget, { spec: { maxUnavailable: '5%' } })).toMatchObject({
    'Min Available': 'N/A',
    'Max Unavailable': '5%',
    'Allowed Disruptions': 0,
  });
});
