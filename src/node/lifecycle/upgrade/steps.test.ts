import { expect, test } from 'vitest';
import { documentedSteps, stepRows } from '../../../../test/kit/lifecycle/documented-steps.ts';
import { missingContents } from './stage-next.ts';
import { rollbackSteps, upgradeSteps } from './steps.ts';

test('every step has a unique name, a description, a usual time and a limit', () => {
  for (const steps of [upgradeSteps, rollbackSteps]) {
    const names = steps.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, description, usualMs, limitMs } of steps) {
      expect(description).toMatch(/^[a-z].*[^.]$/);
      if (name !== 'queued') expect(2 * (usualMs ?? Infinity)).toBeLessThan(limitMs);
    }
  }
});

test('docs/lifecycle.md has the steps in their order, with what they do, their times and codes', () => {
  expect(documentedSteps('upgrade')).toEqual(stepRows(upgradeSteps));
  expect(documentedSteps('rollback')).toEqual(stepRows(rollbackSteps));
});

test('only contents of which the host has no copy are missing, whatever their path was', () => {
  const file = (path: string, sha256: string) =>
    ({
      path,
      sha256,
      bytes: 1,
      packedBytes: 1,
      encoding: 'none',
      secret: false,
      packed: async function* none() {},
    }) as const;
  const files = [file('C:\\k\\a.exe', 'a'), file('C:\\k\\b.exe', 'b'), file('C:\\k\\c.exe', 'a')];
  expect(missingContents(files, ['a']).map(({ path }) => path)).toEqual(['C:\\k\\b.exe']);
  expect(missingContents(files, [])).toHaveLength(3);
});
