import { expect, test } from 'vitest';
import { documentedSteps, stepRows } from '../../../../test/kit/lifecycle/documented-steps.ts';
import { rebootSteps } from './steps.ts';

test('docs/lifecycle.md has the steps in their order, with what they do, their times and codes', () => {
  expect(documentedSteps('reboot')).toEqual(stepRows(rebootSteps));
});
