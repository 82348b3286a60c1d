import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ModelClock } from '../../../../test/kit/model-host.ts';
import { asideName, replaceFile, untilFree } from './busy-files.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'busy-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: operation not permitted`), { code });
}

/** Renames as Windows does: what runs can be renamed but not replaced, what is open can be neither. */
class Windows {
  readonly running = new Set<string>();
  readonly open = new Map<string, number>();
  readonly clock = new ModelClock();
  code = 'EPERM';

  rename = async (from: string, to: string): Promise<void> => {
    const [source, target] = [this.#name(from), this.#name(to)];
    if (this.#isOpen(source) || this.#isOpen(target) || this.running.has(target)) throw failure(this.code);
    await rename(from, to);
    if (this.running.delete(source)) this.running.add(target);
  };

  #isOpen(name: string): boolean {
    return (this.open.get(name) ?? 0) > this.clock.ms;
  }

  #name(path: string): string {
    return path.slice(folder.length + 1);
  }
}

async function replace(windows: Windows, name: string): Promise<void> {
  await writeFile(join(folder, 'new'), 'new');
  await replaceFile(join(folder, 'new'), join(folder, name), windows);
}

async function contents(): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async name => [name, await readFile(join(folder, name), 'utf8')])),
  );
}

test('creates a missing file', async () => {
  await replace(new Windows(), 'a.txt');
  expect(await contents()).toEqual({ 'a.txt': 'new' });
});

test('replaces a file', async () => {
  await writeFile(join(folder, 'a.txt'), 'old');
  await replace(new Windows(), 'a.txt');
  expect(await contents()).toEqual({ 'a.txt': 'new' });
});

test.each(['kubelet.exe', 'KUBELET.EXE', 'hcs.dll', 'koffi.node'])('moves %s aside when it runs', async name => {
  await writeFile(join(folder, name), 'old');
  const windows = new Windows();
  windows.running.add(name);
  await replace(windows, name);
  expect(await contents()).toEqual({ [name]: 'new', [`${name}.wicd-old-1`]: 'old' });
  expect(windows.clock.ms).toBe(0);
});

test('moves aside one after the other while all of them run', async () => {
  const windows = new Windows();
  await writeFile(join(folder, 'a.exe'), 'old 0');
  for (const number of [1, 2, 3]) {
    windows.running.add('a.exe');
    await writeFile(join(folder, 'new'), `old ${number}`);
    await replaceFile(join(folder, 'new'), join(folder, 'a.exe'), windows);
  }
  expect(await contents()).toEqual({
    'a.exe': 'old 3',
    'a.exe.wicd-old-1': 'old 0',
    'a.exe.wicd-old-2': 'old 1',
    'a.exe.wicd-old-3': 'old 2',
  });
});

test.each(['EPERM', 'EBUSY', 'EACCES'])('waits for a file that another program reads (%s)', async code => {
  await writeFile(join(folder, 'a.txt'), 'old');
  const windows = Object.assign(new Windows(), { code });
  windows.open.set('a.txt', 700);
  await replace(windows, 'a.txt');
  expect(await contents()).toEqual({ 'a.txt': 'new' });
  expect(windows.clock.ms).toBe(750);
});

test('gives up after six seconds and keeps the old file', async () => {
  await writeFile(join(folder, 'a.txt'), 'old');
  const windows = new Windows();
  windows.open.set('a.txt', Number.POSITIVE_INFINITY);
  await expect(replace(windows, 'a.txt')).rejects.toMatchObject({ code: 'EPERM' });
  expect(await contents()).toEqual({ 'a.txt': 'old', new: 'new' });
  expect(windows.clock.ms).toBe(6050);
});

test('waits while a scanner has the new program, with the old one in its place', async () => {
  await writeFile(join(folder, 'a.exe'), 'old');
  const windows = new Windows();
  windows.open.set('new', 300);
  const seen: boolean[] = [];
  const sleep = windows.clock.sleep;
  windows.clock.sleep = async (...args) => {
    seen.push('a.exe' in (await contents()));
    await sleep(...args);
  };
  await replace(windows, 'a.exe');
  expect(await contents()).toEqual({ 'a.exe': 'new' });
  expect(seen).toEqual([true, true, true]);
});

test('restores a running program when the new one stays in use', async () => {
  await writeFile(join(folder, 'a.exe'), 'old');
  const windows = new Windows();
  windows.running.add('a.exe');
  windows.open.set('new', Number.POSITIVE_INFINITY);
  await expect(replace(windows, 'a.exe')).rejects.toMatchObject({ code: 'EPERM' });
  expect(await contents()).toEqual({ 'a.exe': 'old', new: 'new' });
  expect(windows.running).toEqual(new Set(['a.exe']));
});

test('waits for a program that can not even be renamed', async () => {
  await writeFile(join(folder, 'a.exe'), 'old');
  const windows = new Windows();
  windows.open.set('a.exe', 100);
  await replace(windows, 'a.exe');
  expect(await contents()).toEqual({ 'a.exe': 'new' });
});

test('does not wait for what no waiting fixes', async () => {
  const windows = new Windows();
  await expect(replaceFile(join(folder, 'missing'), join(folder, 'a.exe'), windows)).rejects.toMatchObject({
    code: 'ENOENT',
  });
  expect(windows.clock.ms).toBe(0);
});

test('tries at most eight times', async () => {
  let tries = 0;
  const clock = new ModelClock();
  const act = async () => {
    tries += 1;
    throw failure('EBUSY');
  };
  await expect(untilFree(clock, act)).rejects.toMatchObject({ code: 'EBUSY' });
  expect(tries).toBe(8);
});

test.each([
  ['kubelet.exe.wicd-old-1', true],
  ['kubelet.exe.wicd-old-12', true],
  ['kubelet.exe.old-1', false],
  ['kubelet.exe.wicd-old-', false],
  ['kubelet.exe.wicd-old-1.txt', false],
])('recognizes %s as moved aside: %j', (name, want) => {
  expect(asideName.test(name)).toBe(want);
});
