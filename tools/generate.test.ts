import { expect, test } from 'vitest';
import { errorCodes } from '../src/base/error-codes.ts';
import { generated, outdated } from './generate.ts';

test('generated files are up to date (fix with: npm run generate)', async () => {
  expect(await outdated()).toEqual([]);
});

test('the error page has a row for every code', () => {
  const page = generated['docs/reference/errors.md']?.() ?? '';
  for (const code of Object.keys(errorCodes)) expect(page).toContain(`\`${code}\``);
});

test('codes are upper-case constants, meanings are sentences', () => {
  for (const [code, meaning] of Object.entries(errorCodes)) {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(meaning).toMatch(/^[A-Z].*\.$/);
  }
});
