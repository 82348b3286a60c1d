import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle } from './bundle.ts';

let folder: string;
const made = () => join(folder, 'made.mjs');
const run = (...words: string[]) => execFileSync(process.execPath, [made(), ...words], { encoding: 'utf8' });
const root = join(import.meta.dirname, '..');

/** A folder far from node_modules: the bundle must contain everything. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-bundle-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('bundles the command line as one file that runs anywhere', async () => {
  await bundle(join(root, 'src/bin/wmco.ts'), made(), { "process.env['WMCO_VERSION']": '"1.2.3"' });
  expect(run('version')).toContain('1.2.3');
});

test('bundles the operator with its CommonJS packages', async () => {
  await bundle(join(root, 'src/bin/wmco.ts'), made(), { "process.env['WMCO_VERSION']": '"1.2.3"' });
  expect(run('operator', '--help')).toContain('--payload-dir');
});

test('fails when an import does not exist', async () => {
  const source = join(folder, 'broken.ts');
  writeFileSync(source, `import './missing.ts';\n`);
  const outfile = join(folder, 'broken.mjs');
  await expect(bundle(source, outfile)).rejects.toThrow(/missing\.ts/);
  expect(existsSync(outfile)).toBe(false);
});
