import { afterEach, beforeEach, expect, test } from 'vitest';
import { descriptorOf } from '#agent/access/plan.ts';
import { sha256 } from '#base/sha256.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { ContentStore } from './content-store.ts';
import { DiskFull, SimulatedFiles } from './files.ts';

let store: ContentStore;
let files: SimulatedFiles;
const paced: number[] = [];

function filesWith(diskBytes = 1e9): SimulatedFiles {
  const pace = async (bytes: number) => void paced.push(bytes);
  return new SimulatedFiles({ store, clock: manualClock(1000), diskBytes: () => diskBytes, pace });
}

beforeEach(async () => {
  store = await ContentStore.open();
  files = filesWith();
  paced.length = 0;
});
afterEach(() => store.close());

const path = 'C:\\k\\kubelet.conf';
async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}
async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(50_000);
  throw new Error('the source is gone');
}
const large = (seed: number, bytes = 100_000) => Buffer.alloc(bytes, seed);
const textOf = async (name: string) => Buffer.concat(await Array.fromAsync(files.readChunks(name))).toString();

test('returns what was written, as text, as chunks and as a hash', async () => {
  await files.write(path, 'größe');
  expect([await files.read(path), await textOf(path), await files.sha256(path)]).toEqual([
    'größe',
    'größe',
    sha256('größe'),
  ]);
});

const spellings = ['c:\\K\\KUBELET.CONF', 'C:/k/kubelet.conf', 'C:\\k\\kubelet.conf\\'];
for (const other of spellings) {
  test(`finds a file as ${other}, and writes no second one under it`, async () => {
    await files.write(path, 'one');
    expect(await files.read(other)).toBe('one');
    await files.write(other, 'two');
    expect([files.paths(), await files.read(path)]).toEqual([[path], 'two']);
  });
}

test('a missing file has no content and cannot be read', async () => {
  expect([await files.read(path), await files.sha256(path), await files.stat(path), files.has(path)]).toEqual([
    undefined,
    undefined,
    undefined,
    false,
  ]);
  await expect(textOf(path)).rejects.toMatchObject({
    code: 'HOST_FILE_UNUSABLE',
    message: `${path}: does not exist`,
    remedy: expect.stringContaining('Stage the files'),
  });
});

test('keeps who may read a file, until it is written for others', async () => {
  await files.write(path, 'key', 'secret');
  expect(files.accessOf(path)).toBe('secret');
  await files.write(path, 'key');
  expect(files.accessOf(path)).toBeUndefined();
});

test('returns size and time, which differs even for changes within a millisecond', async () => {
  const seen = new Set<number>();
  for (const text of ['a', 'bb', 'bb']) {
    await files.write(path, text);
    seen.add((await files.stat(path))?.modifiedMs ?? 0);
  }
  expect(seen.size).toBe(3);
  expect((await files.stat(path))?.bytes).toBe(2);
});

test('a file is replaced as a whole or not at all', async () => {
  await files.write(path, 'old');
  await expect(files.writeChunks(path, broken())).rejects.toThrow('the source is gone');
  expect([await files.read(path), store.size]).toEqual(['old', 0]);
  await files.writeChunks(path, chunks('n', 'e', 'w'));
  expect(await files.read(path)).toBe('new');
});

test('a file that was not finished when the power was cut is as it was before', async () => {
  await files.write(path, 'before');
  const writing = files.writeChunks(
    path,
    (async function* () {
      yield Buffer.from('half');
      files.cutPower();
      yield Buffer.from('whole');
    })(),
  );
  await expect(writing).rejects.toThrow('the power was cut');
  expect([await files.read(path), files.freeBytes]).toEqual(['before', 1e9 - 'before'.length]);
  await files.write(path, 'after');
  expect(await files.read(path)).toBe('after');
});

test('makes the folders above a file, and lists what is in a folder', async () => {
  await files.write('C:\\k\\cni\\config\\cni.conf', '{}');
  await files.write('C:\\k\\a.txt', '');
  expect(['C:', 'C:\\k', 'C:\\k\\cni', 'c:\\K\\cni\\config'].map(folder => files.isFolder(folder))).toEqual(
    Array(4).fill(true),
  );
  expect((await files.list('C:\\k')).toSorted()).toEqual(['a.txt', 'cni']);
  expect(await files.list('c:\\K\\CNI\\')).toEqual(['config']);
  expect(await files.list('C:\\nothing')).toEqual([]);
});

test('a folder with the same prefix is another folder', async () => {
  await files.write('C:\\k2\\x', '');
  await files.makeDirectory('C:\\k');
  expect(await files.list('C:\\k')).toEqual([]);
});

test('an empty folder is there, too', async () => {
  await files.makeDirectory('C:\\var\\log\\kubelet');
  expect([files.isFolder('C:\\var\\log'), await files.list('C:\\var')]).toEqual([true, ['log']]);
  expect(files.isFolder('C:\\var\\log\\kubelet\\x')).toBe(false);
});

test('removes a file; one that is not there is fine', async () => {
  await files.write(path, 'x');
  await files.remove(path.toUpperCase());
  await files.remove(path);
  expect(files.paths()).toEqual([]);
});

test('removes a folder with its content and no sibling', async () => {
  for (const name of ['C:\\k\\a', 'C:\\k\\b\\c', 'C:\\k2\\d']) await files.write(name, 'x');
  await files.removeDirectory('C:\\k');
  expect([files.paths(), files.isFolder('C:\\k'), files.isFolder('C:\\k\\b')]).toEqual([['C:\\k2\\d'], false, false]);
  await files.removeDirectory('C:\\k');
});

test('renames a file over another one', async () => {
  await files.write('C:\\k\\new', 'new');
  await files.write(path, 'old');
  await files.rename('C:\\k\\new', path);
  expect([files.paths(), await files.read(path)]).toEqual([[path], 'new']);
});

test('renaming a file to itself or a missing file has no effect', async () => {
  await files.write(path, 'x');
  await files.rename(path, path.toLowerCase());
  await files.rename('C:\\nothing', path);
  expect([files.paths(), await files.read(path)]).toEqual([[path], 'x']);
});

test('unreferenced contents are released', async () => {
  const [one, other] = ['C:\\one', 'C:\\other'];
  await files.writeChunks(one, chunks(large(1)));
  await files.writeChunks(other, chunks(large(2)));
  expect(store.size).toBe(2);
  await files.writeChunks(one, chunks(large(2)));
  expect(store.size).toBe(1);
  await files.rename(one, other);
  await files.remove(other);
  expect(store.size).toBe(0);
});

test('removing folders and wiping the disk release contents, too', async () => {
  await files.writeChunks('C:\\a\\x', chunks(large(1)));
  await files.writeChunks('C:\\b\\y', chunks(large(2)));
  await files.removeDirectory('C:\\a');
  expect(store.size).toBe(1);
  await files.wipe();
  expect([store.size, files.paths(), files.freeBytes]).toEqual([0, [], 1e9]);
});

test('hosts with the same file share it, and lose it each for itself', async () => {
  const other = filesWith();
  await files.writeChunks('C:\\x', chunks(large(1)));
  await other.writeChunks('C:\\y', chunks(large(1)));
  expect(store.size).toBe(1);
  await files.remove('C:\\x');
  expect(Buffer.concat(await Array.fromAsync(other.readChunks('C:\\y')))).toEqual(large(1));
});

test('a file that is removed while it is read is read to its end', async () => {
  await files.writeChunks('C:\\x', chunks(large(1, 600_000)));
  const reading = files.readChunks('C:\\x');
  const first = await reading.next();
  await files.remove('C:\\x');
  const rest = await Array.fromAsync(reading);
  const bytes = [first.value as Uint8Array, ...rest].reduce((sum, chunk) => sum + chunk.length, 0);
  expect([bytes, store.size]).toEqual([600_000, 0]);
});

test('counts what is on the disk', async () => {
  files = filesWith(1000);
  await files.write('C:\\a', 'x'.repeat(300));
  await files.write('C:\\b', 'x'.repeat(200));
  expect(files.freeBytes).toBe(500);
  await files.write('C:\\a', 'x');
  await files.remove('C:\\b');
  expect(files.freeBytes).toBe(999);
});

test('a full disk rejects a file in the words of Windows, and keeps the old one', async () => {
  files = filesWith(1000);
  await files.write(path, 'old');
  await expect(files.write(path, 'x'.repeat(998))).rejects.toMatchObject({
    code: 'HOST_FILE_UNUSABLE',
    message: `${path}: no space is left on the disk`,
    remedy: expect.stringContaining('Free space'),
  });
  expect([await files.read(path), files.freeBytes]).toEqual(['old', 997]);
});

test('what is being written takes room before it is a file, and gives it back when it is given up', async () => {
  files = filesWith(1000);
  const draft = files.draft();
  await files.writeInto(draft, Buffer.alloc(600));
  expect(files.freeBytes).toBe(400);
  await files.finish(draft, 'C:\\x');
  expect(files.freeBytes).toBe(400);
  await expect(files.writeChunks('C:\\y', broken())).rejects.toThrow();
  expect(files.freeBytes).toBe(400);
});

test('writing over what was written takes no more room', async () => {
  files = filesWith(1000);
  const draft = files.draft();
  await files.writeInto(draft, Buffer.alloc(1000));
  await files.writeInto(draft, Buffer.alloc(500), 100);
  expect([draft.bytes, files.freeBytes]).toEqual([1000, 0]);
  await draft.discard();
});

test('a draft notices the end of the disk at the byte that does not fit', async () => {
  files = filesWith(1000);
  const draft = files.draft();
  await files.writeInto(draft, Buffer.alloc(600));
  await files.writeInto(draft, Buffer.alloc(400));
  await expect(files.writeInto(draft, Buffer.alloc(1))).rejects.toThrow(DiskFull);
  expect(draft.bytes).toBe(1000);
  await draft.discard();
});

test('everything that is written takes its time on the disk', async () => {
  await files.write(path, 'abc');
  await files.writeChunks(path, chunks('a', 'bcd'));
  expect(paced).toEqual([3, 1, 3]);
});

test('reads parts of a content', async () => {
  await files.write(path, 'abcdef');
  const content = files.content(path);
  expect(Buffer.from((content && (await files.readAt(content, 2, 3))) ?? []).toString()).toBe('cde');
});

const user = { ...descriptorOf('programs'), owner: 'S-1-5-21-1-2-3-1001' };

test('returns the type of an entry with inherited or own permissions', async () => {
  await files.makeDirectory('C:\\k\\keys', 'secret');
  await files.write('C:\\k\\keys\\a.key', 'key');
  await files.write(path, 'text');
  files.rights.plantLink('C:\\k\\link');
  expect(await files.inspect('C:\\k\\keys\\a.key')).toEqual({ is: 'file', names: 1, access: descriptorOf('secret') });
  expect(await files.inspect(path)).toMatchObject({ is: 'file', access: descriptorOf('programs') });
  expect(await files.inspect('C:\\k')).toMatchObject({ is: 'directory' });
  expect(await files.inspect('C:\\k\\link')).toEqual({ is: 'link' });
  expect(await files.inspect('C:\\k\\none')).toBeUndefined();
  files.rights.set(path, user);
  expect(await files.inspect(path.toUpperCase())).toMatchObject({ access: user });
  await files.write(path, 'new');
  expect(await files.inspect(path)).toMatchObject({ access: descriptorOf('programs') });
});

test('lists links, removes them, and fails loudly when something is written through one', async () => {
  await files.makeDirectory('C:\\k');
  files.rights.plantLink('C:\\k\\link');
  expect(await files.list('C:\\k')).toEqual(['link']);
  await expect(files.write('C:\\k\\link\\a.txt', 'x')).rejects.toThrow(/through the link/);
  await files.remove('C:\\k\\link');
  expect(await files.list('C:\\k')).toEqual([]);
});

test('moves a folder with files, folders, links and rights', async () => {
  await files.write('C:\\k\\sub\\a.txt', 'a');
  await files.makeDirectory('C:\\k\\sub\\empty');
  files.rights.set('C:\\k\\sub', user);
  files.rights.plantLink('C:\\k\\sub\\link');
  expect(await files.move('C:\\k\\sub', 'C:\\aside\\1')).toBe(true);
  expect(await files.inspect('C:\\k\\sub')).toBeUndefined();
  expect([await files.read('C:\\aside\\1\\a.txt'), files.isFolder('C:\\aside\\1\\empty')]).toEqual(['a', true]);
  expect(await files.inspect('C:\\aside\\1')).toMatchObject({ access: user });
  expect(await files.inspect('C:\\aside\\1\\link')).toEqual({ is: 'link' });
});
