import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { complete } from './lock.ts';

const packages = {
  'node_modules/tool': {
    version: '1.2.3',
    resolved: 'https://example.com/tool.tgz',
    optionalDependencies: {
      '@tool/linux-x64': '1.2.3',
      '@tool/win32-arm64': '1.2.3',
      '@tool/linux-x64-musl': '^1.2.3',
    },
  },
  'node_modules/@tool/linux-x64': { version: '1.2.3', optional: true },
};

test('keeps existing entries and drops download addresses', () => {
  expect(complete(packages)['node_modules/tool']).not.toHaveProperty('resolved');
  expect(complete(packages)['node_modules/@tool/linux-x64']).toEqual({ version: '1.2.3', optional: true });
});

test('adds an optional entry for each missing build', () => {
  expect(complete(packages)['node_modules/@tool/win32-arm64']).toEqual({
    version: '1.2.3',
    dev: true,
    optional: true,
    os: ['win32'],
    cpu: ['arm64'],
  });
  expect(complete(packages)['node_modules/@tool/linux-x64-musl']).toMatchObject({ version: '1.2.3', libc: ['musl'] });
});

test('is idempotent', () => {
  expect(complete(complete(packages))).toEqual(complete(packages));
});

test('the lock file of this repository has no download addresses and all builds', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'package-lock.json'), 'utf8');
  const lock = JSON.parse(text) as { packages: typeof packages };
  expect(text).not.toContain('"resolved"');
  expect(Object.keys(complete(lock.packages))).toEqual(Object.keys(lock.packages).sort());
});
