import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { readInstallOptions } from '../../src/cli/install/options.ts';
import { readSandboxOptions } from '../../src/cli/sandbox/options.ts';
import { readStatusOptions } from '../../src/cli/status/options.ts';
import { runWmco } from '../kit/run-wmco.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Words in backquotes that look like a path in this repository. */
function pathsIn(text: string): string[] {
  const words = [...text.matchAll(/`([^`\n]+)`/g)].map(match => match[1] ?? '');
  return words.filter(word => /^\.?(src|test|docs|tools|bench|deploy|examples|\.ci)\/[\w./-]+$/.test(word));
}

for (const page of ['ARCHITECTURE.md', 'README.md', 'CONTRIBUTING.md', 'STYLE.md', 'AGENTS.md', 'GLOSSARY.md']) {
  test(`every path named in ${page} exists`, () => {
    expect(pathsIn(read(page)).filter(path => !existsSync(join(root, path)))).toEqual([]);
  });
}

const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.md'))
  .map(name => join('docs', name));

for (const page of docs) {
  test(`every path named in ${page} exists`, () => {
    expect(pathsIn(read(page)).filter(path => !existsSync(join(root, path)))).toEqual([]);
  });
}

test('no page has prose lines of more than 120 characters', () => {
  const long = [
    'ARCHITECTURE.md',
    'README.md',
    'CONTRIBUTING.md',
    'STYLE.md',
    'AGENTS.md',
    'GLOSSARY.md',
    ...docs,
  ].flatMap(page =>
    proseOf(page)
      .filter(line => line.length > 120 && !line.startsWith('|'))
      .map(line => `${page}: ${line}`),
  );
  expect(long).toEqual([]);
});

/** The recorded session contains commands, which must stay on one line. */
function proseOf(page: string): string[] {
  const parts = read(page).split(/^```$/m);
  return (page.endsWith('failing-join.md') ? parts.filter((_, index) => index % 2 === 0) : parts).join('').split('\n');
}

/** Every folder that contains TypeScript files itself. */
function codeFolders(): string[] {
  return ['src', 'test', 'tools', 'bench'].flatMap(top =>
    readdirSync(join(root, top), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
      .map(entry => relative(root, entry.parentPath)),
  );
}

test('ARCHITECTURE.md has one line for every folder with code, and for no other folder', () => {
  const rows = [...read('ARCHITECTURE.md').matchAll(/^\| `([\w./-]+)` \| [^|]+ \| [^|]+ \|/gm)].map(
    match => match[1] ?? '',
  );
  // A layer has its line even when all of its files are in folders below.
  const layers = readdirSync(join(root, 'src')).map(name => `src/${name}`);
  const folders = new Set([...codeFolders(), ...layers]);
  expect(rows.toSorted()).toEqual([...folders].toSorted());
});

test('ARCHITECTURE.md stays a map: at most 220 lines', () => {
  expect(read('ARCHITECTURE.md').split('\n').length).toBeLessThanOrEqual(220);
});

test('README.md stays short: under 120 lines, with a picture and the two commands for a fresh clone', () => {
  const text = read('README.md');
  expect(text.split('\n').length).toBeLessThan(120);
  for (const part of ['(docs/sandbox.svg)', 'make sandbox', 'make test']) expect(text).toContain(part);
});

const commands = [...read('README.md').matchAll(/^\.\/wmco ([^#\n]+)/gm)].map(match => (match[1] ?? '').trim());

test('README.md shows commands', () => expect(commands.length).toBeGreaterThan(3));

/** These run for long, or need a cluster, so that only their options are tested here. */
const readers = { sandbox: readSandboxOptions, status: readStatusOptions, install: readInstallOptions } as const;
const isLong = (command: string) => Object.hasOwn(readers, command.split(' ')[0] ?? '');

for (const command of commands.filter(isLong)) {
  test(`the options of "wmco ${command}" in README.md are valid`, () => {
    const [name = '', ...words] = command.split(/\s+/);
    expect(readers[name as keyof typeof readers](words, {})).toBeDefined();
  });
}

for (const command of commands.filter(each => !isLong(each))) {
  test(`"wmco ${command}" in README.md works`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wmco-readme-'));
    const words = command
      .split(/\s+/)
      .map(word => word.replace(/^examples/, join(root, 'examples')).replace(/^dir=.*/, `dir=${folder}`));
    const { code, out, err } = await runWmco(words);
    expect(out).not.toBe('');
    // Only the examples of instances and requests contain invalid ones.
    expect([code, err.match(/(?<=^error: )[A-Z_]+/gm) ?? []]).toEqual(
      /check instances/.test(command)
        ? [1, [expect.any(String)]]
        : /check csr/.test(command)
          ? [1, Array.from({ length: 3 }, () => 'CSR_REFUSED')]
          : [0, []],
    );
    rmSync(folder, { recursive: true });
  });
}

const sources = ['src', 'test', 'tools', 'bench'].flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name)),
);

test('no file is over 400 lines', () => {
  expect(sources.filter(path => read(path).split('\n').length > 400)).toEqual([]);
});

test('there are at least one and a half times as many lines of tests as of source', () => {
  const lines = (paths: string[]) => paths.reduce((sum, path) => sum + read(path).split('\n').length, 0);
  const isTest = (path: string) => path.endsWith('.test.ts') || path.startsWith('test');
  const product = sources.filter(path => path.startsWith('src') && !isTest(path));
  expect(lines(sources.filter(isTest))).toBeGreaterThanOrEqual(1.5 * lines(product));
});
