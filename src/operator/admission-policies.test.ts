import { expect, test } from 'vitest';
import { admissionManifests } from './admission-policies.ts';

const manifests = admissionManifests();
const pairs = [
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
] as const;
const policies = manifests.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');

test('every policy has a binding that denies', () => {
  for (const { metadata } of policies) {
    const binding = manifests.find(each => each.kind.endsWith('Binding') && each.metadata.name === metadata.name);
    expect(binding?.spec).toMatchObject({ policyName: metadata.name, validationActions: ['Deny'] });
  }
});

test('a request that cannot be judged is refused', () => {
  for (const { spec } of policies) expect(spec['failurePolicy']).toBe('Fail');
});

test('a policy is about requests of agents only', () => {
  const conditions = policies.map(({ spec }) => JSON.stringify(spec['matchConditions']));
  expect(conditions[0]).toContain('system:wicd-nodes');
  expect(conditions[1]).toContain('system:wicd-cloud-node:');
});

test('parentheses and quotes of every expression are closed', () => {
  for (const { spec } of policies) {
    const parts = [spec['validations'], spec['variables'], spec['matchConditions']].flat() as { expression: string }[];
    for (const { expression } of parts) {
      for (const [open, close] of pairs) {
        expect(expression.split(open).length, expression).toBe(expression.split(close).length);
      }
      expect(expression.split("'").length % 2, expression).toBe(1);
    }
  }
});
