import { expect, test } from 'vitest';
import { documentedSteps, stepRows } from '../../../../test/kit/lifecycle/documented-steps.ts';
import { refreshSteps, restartSteps } from './steps.ts';

test('docs/lifecycle.md has the steps in their order, with what they do, their times and codes', () => {
  expect(documentedSteps('refresh')).toEqual(stepRows(refreshSteps));
  expect(documentedSteps('restart')).toEqual(stepRows(restartSteps));
});
