import { expect, test } from 'vitest';
import { ApiError, type Status } from '../api-error.ts';
import type { LabelSelector, Pod, PodDisruptionBudget } from '../resources.ts';
import { budgetsOf, causesOf, type PolicyVersion } from './budgets.ts';

const pod = (labels?: Record<string, string>): Pod => ({
  metadata: { name: 'p', namespace: 'ns', ...(labels && { labels }) },
});
const budget = (name: string, selector?: LabelSelector, namespace = 'ns'): PodDisruptionBudget => ({
  metadata: { name, namespace },
  spec: { ...(selector && { selector }) },
});
const expression = (operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'app', operator, values }],
});
const web = { app: 'web', tier: 'front' };

const cases: [string, LabelSelector | undefined, Record<string, string> | undefined, boolean][] = [
  ['the same label', { matchLabels: { app: 'web' } }, web, true],
  ['all of several labels', { matchLabels: { app: 'web', tier: 'front' } }, web, true],
  ['one of several labels', { matchLabels: { app: 'web', tier: 'back' } }, web, false],
  ['another value', { matchLabels: { app: 'db' } }, web, false],
  ['a pod without labels', { matchLabels: { app: 'web' } }, undefined, false],
  ['In', expression('In', 'db', 'web'), web, true],
  ['In, other values', expression('In', 'db'), web, false],
  ['In, no such label', expression('In', 'web'), {}, false],
  ['NotIn', expression('NotIn', 'db'), web, true],
  ['NotIn, its value', expression('NotIn', 'web'), web, false],
  ['NotIn, no such label', expression('NotIn', 'web'), {}, true],
  ['Exists', expression('Exists'), web, true],
  ['Exists, no such label', expression('Exists'), {}, false],
  ['DoesNotExist', expression('DoesNotExist'), {}, true],
  ['DoesNotExist, but it does', expression('DoesNotExist'), web, false],
  ['an operator of the future', expression('Like', 'w%'), web, true],
  ['labels and an expression', { matchLabels: { tier: 'front' }, ...expression('In', 'web') }, web, true],
  ['labels but not the expression', { matchLabels: { tier: 'front' }, ...expression('In', 'db') }, web, false],
  ['a label that every object seems to have', { matchLabels: { constructor: 'x' } }, web, false],
  ['no selector', undefined, web, false],
];
for (const [name, selector, labels, want] of cases) {
  test(`a budget ${want ? 'protects' : 'does not protect'}: ${name}`, () => {
    for (const version of ['v1', 'v1beta1'] as const) {
      expect(budgetsOf(pod(labels), [budget('b', selector)], version)).toEqual(want ? ['b'] : []);
    }
  });
}

const empty: [PolicyVersion, LabelSelector, string[]][] = [
  ['v1', {}, ['b']],
  ['v1beta1', {}, []],
  ['v1', { matchLabels: {}, matchExpressions: [] }, ['b']],
  ['v1beta1', { matchLabels: {}, matchExpressions: [] }, []],
];
for (const [version, selector, want] of empty) {
  test(`an empty selector of policy/${version} selects ${want.length === 0 ? 'nothing' : 'everything'}`, () => {
    expect(budgetsOf(pod(web), [budget('b', selector)], version)).toEqual(want);
  });
}

test('names all budgets that protect, in order, and none of another namespace', () => {
  const selector = { matchLabels: { app: 'web' } };
  const budgets = [budget('z', selector), budget('a', selector), budget('c', selector, 'other'), budget('d', {})];
  expect(budgetsOf(pod(web), budgets, 'v1beta1')).toEqual(['a', 'z']);
});

const error = (status: Status) => new ApiError({ code: 429, message: 'Cannot evict pod', ...status }, 'POST /x');
const causes: [string, Status, string][] = [
  [
    'the budget, where the server names it',
    { details: { causes: [{ reason: 'DisruptionBudget', message: 'b needs 2' }] } },
    'b needs 2',
  ],
  ['the message, where there is no cause', {}, 'POST /x: Cannot evict pod'],
  [
    'the message, where the cause is another',
    { details: { causes: [{ reason: 'Other', message: 'x' }] } },
    'POST /x: Cannot evict pod',
  ],
  [
    'the message, where the cause says nothing',
    { details: { causes: [{ reason: 'DisruptionBudget' }] } },
    'POST /x: Cannot evict pod',
  ],
];
for (const [name, status, want] of causes) {
  test(`the reason is ${name}`, () => expect(causesOf(error(status))).toBe(want));
}
