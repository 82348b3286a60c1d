import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const sources = readdirSync(import.meta.dirname).filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'));

test('the view is pure: it uses no terminal, no Node.js modules and no clock', () => {
  const impure = /from '(\.\.\/|node:)|Date\.now\(|new Date\(\)|\bprocess\.|Math\.random/;
  expect(sources.length).toBeGreaterThan(3);
  expect(sources.filter(name => impure.test(readFileSync(join(import.meta.dirname, name), 'utf8')))).toEqual([]);
});
