import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ModelClock } from '../../../../test/kit/model-host.ts';
import { AppError } from '#base/errors.ts';
import { createFiles } from './files.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const at = (...names: string[]) => join(folder, ...names);
const names = async (...below: string[]) => (await readdir(at(...below))).sort();

/** In which this process and those with the numbers given run, since the times given. */
function bench(protect: (path: string) => void = () => undefined, running: Record<number, number> = {}) {
  const clock = new ModelClock();
  const all: Record<number, number> = { [process.pid]: 0, ...running };
  return {
    clock,
    files: createFiles({ clock, access: { protect, inspect: () => undefined }, startedMs: pid => all[pid] }),
  };
}

async function* chunks(...parts: (string | Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield typeof part === 'string' ? Buffer.from(part) : part;
  }
}

test('writes and reads texts', async () => {
  const { files } = bench();
  await files.write(at('a.txt'), 'ä\r\nb\n');
  expect(await files.read(at('a.txt'))).toBe('ä\r\nb\n');
  await files.write(at('a.txt'), '');
  expect(await files.read(at('a.txt'))).toBe('');
  expect(await names()).toEqual(['a.txt']);
});

test('creates missing directories', async () => {
  const { files } = bench();
  await files.write(at('x', 'y', 'a.txt'), 'a');
  await files.writeChunks(at('z', 'b.bin'), chunks('b'));
  expect(await names('x', 'y')).toEqual(['a.txt']);
  expect(await names('z')).toEqual(['b.bin']);
});

test('gives undefined for a missing file', async () => {
  const { files } = bench();
  expect(await files.read(at('missing'))).toBeUndefined();
  expect(await files.read(at('missing', 'deeper'))).toBeUndefined();
  expect(await files.sha256(at('missing'))).toBeUndefined();
  expect(await files.stat(at('missing'))).toBeUndefined();
  expect(await files.list(at('missing'))).toEqual([]);
});

test('removes files; ignores a missing one', async () => {
  const { files } = bench();
  await files.write(at('a.txt'), 'a');
  await files.remove(at('a.txt'));
  await files.remove(at('a.txt'));
  expect(await names()).toEqual([]);
});

test('removes a directory with its content; ignores a missing one', async () => {
  const { files } = bench();
  await files.write(at('x', 'y', 'a.txt'), 'a');
  await files.removeDirectory(at('x'));
  await files.removeDirectory(at('x'));
  expect(await names()).toEqual([]);
});

test('lists the names in a directory', async () => {
  const { files } = bench();
  await files.write(at('b.txt'), '');
  await files.write(at('a', 'c.txt'), '');
  expect((await files.list(folder)).sort()).toEqual(['a', 'b.txt']);
});

test('reports size and time of change', async () => {
  const { files } = bench();
  await files.write(at('a.txt'), 'äb');
  await utimes(at('a.txt'), 1000, 1234.5);
  expect(await files.stat(at('a.txt'))).toEqual({ bytes: 3, modifiedMs: 1_234_500 });
});

test.each([0, 1, 1 << 20, (1 << 20) + 1, 3 << 20])('hashes and copies %d bytes', async size => {
  const { files } = bench();
  const bytes = randomBytes(size);
  await files.writeChunks(at('a.bin'), chunks(bytes));
  expect(await files.sha256(at('a.bin'))).toBe(createHash('sha256').update(bytes).digest('hex'));
  await files.writeChunks(at('b.bin'), files.readChunks(at('a.bin')));
  expect((await readFile(at('b.bin'))).equals(bytes)).toBe(true);
});

test('puts chunks together in order, empty ones too', async () => {
  const { files } = bench();
  await files.writeChunks(at('a.bin'), chunks('one ', '', 'two ', new Uint8Array(), 'three'));
  expect(await files.read(at('a.bin'))).toBe('one two three');
  await files.writeChunks(at('b.bin'), chunks());
  expect(await files.read(at('b.bin'))).toBe('');
});

test('requests a chunk only when the one before is written', async () => {
  const { files } = bench();
  const sizes: number[] = [];
  async function* slow() {
    for (const number of [1, 2, 3]) {
      const [draft] = (await names()).filter(name => name.endsWith('.wicd-new'));
      sizes.push((await stat(at(draft ?? ''))).size);
      yield Buffer.alloc(number * 1000);
    }
  }
  await files.writeChunks(at('a.bin'), slow());
  expect(sizes).toEqual([0, 1000, 3000]);
});

test('keeps a file when the chunks end in an error, and passes on that error', async () => {
  const { files } = bench();
  await files.write(at('a.bin'), 'old');
  const broken = new Error('the bundle is damaged');
  await expect(files.writeChunks(at('a.bin'), chunks('new', broken))).rejects.toBe(broken);
  await expect(files.writeChunks(at('b.bin'), chunks(broken))).rejects.toBe(broken);
  expect(await names()).toEqual(['a.bin']);
  expect(await files.read(at('a.bin'))).toBe('old');
});

test('shows the old content until the new one is complete', async () => {
  const { files } = bench();
  await files.write(at('a.bin'), 'old');
  const seen: unknown[] = [];
  async function* watched() {
    yield Buffer.from('n');
    seen.push(await files.read(at('a.bin')));
    yield Buffer.from('ew');
    seen.push(await files.read(at('a.bin')));
  }
  await files.writeChunks(at('a.bin'), watched());
  expect(seen).toEqual(['old', 'old']);
  expect(await files.read(at('a.bin'))).toBe('new');
});

test('ends the stream of a file that is read in part only', async () => {
  const { files } = bench();
  await files.write(at('a.bin'), 'x'.repeat(3 << 20));
  for await (const chunk of files.readChunks(at('a.bin'))) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  await rm(at('a.bin'));
  expect(await names()).toEqual([]);
});

test('protects a secret before it is written, and no other file', async () => {
  const protectedPaths: string[] = [];
  const { files } = bench(path => {
    protectedPaths.push(path.slice(folder.length + 1).replace(/\d+-\d+/, 'N'));
  });
  const draft = ['key.pem.N.wicd-new', 'key.pem.N.wicd-new/content'];
  async function* key() {
    expect(protectedPaths).toEqual(draft);
    yield Buffer.from('secret');
  }
  await files.write(at('plain.txt'), 'x');
  await files.writeChunks(at('key.pem'), key(), 'secret');
  expect(protectedPaths).toEqual(draft);
  expect(await files.read(at('key.pem'))).toBe('secret');
  expect(await names()).toEqual(['key.pem', 'plain.txt']);
});

test('writes no secret that cannot be protected, and leaves no draft', async () => {
  const refusal = new AppError('WINDOWS_ACCESS_DENIED', 'no', { remedy: 'r' });
  for (const failing of ['.wicd-new', 'content']) {
    const { files } = bench(path => {
      if (path.endsWith(failing)) throw refusal;
    });
    await expect(files.write(at('key.pem'), 'secret', 'secret')).rejects.toBe(refusal);
    expect(await names()).toEqual([]);
  }
});

test('removes drafts of exited processes, and programs that were moved aside', async () => {
  const { files } = bench(undefined, { 8: 0 });
  await writeFile(at('a.txt.4-1.wicd-new'), 'half');
  await mkdir(at('key.pem.4-2.wicd-new'));
  await writeFile(at('key.pem.4-2.wicd-new', 'content'), 'secret');
  await writeFile(at('kubelet.exe.wicd-old-1'), 'old');
  await files.write(at('other.txt'), 'x');
  expect(await names()).toEqual(['other.txt']);
});

test('removes drafts with a PID that another process has now, even its own', async () => {
  const later = Date.now() + 1000;
  const { files } = bench(undefined, { 4: later, [process.pid]: later });
  await writeFile(at('a.txt.4-1.wicd-new'), 'half');
  await mkdir(at(`key.pem.${process.pid}-1.wicd-new`));
  await files.write(at('other.txt'), 'x');
  expect(await names()).toEqual(['other.txt']);
});

test('writes beside a draft of a living process that cannot be read', async () => {
  const { files } = bench(undefined, { 8: Date.now() - 1000 });
  // A link to itself can be listed and not be followed, as a file on Windows that is being removed.
  await symlink('key.pem.8-1.wicd-new', at('key.pem.8-1.wicd-new'));
  await files.write(at('other.txt'), 'x');
  expect(await names()).toEqual(['key.pem.8-1.wicd-new', 'other.txt']);
});

test('does not touch what living processes write, nor files of others', async () => {
  const { files } = bench(undefined, { 8: Date.now() - 1000 });
  const others = [
    `a.txt.${process.pid}-1.wicd-new`,
    'b.txt.8-7.wicd-new',
    'config.old-1',
    'x.tmp',
    'notes.wicd-new',
    'a.1-2.wicd-new.txt',
    'kubelet.exe',
  ].sort();
  for (const name of others) await writeFile(at(name), 'x');
  await files.write(at('zz.txt'), 'x');
  expect(await names()).toEqual([...others, 'zz.txt']);
});

test('gets around a draft that it finds in its way', async () => {
  const { files } = bench();
  await writeFile(at(`a.txt.${process.pid}-1.wicd-new`), 'in the way');
  await mkdir(at(`a.txt.${process.pid}-2.wicd-new`));
  await files.write(at('a.txt'), 'text');
  await files.write(at('a.txt'), 'secret', 'secret');
  expect(await files.read(at('a.txt'))).toBe('secret');
});

test('keeps one complete content after concurrent writes', async () => {
  const { files } = bench();
  const texts = Array.from({ length: 20 }, (_, number) => `${number}`.repeat(50_000));
  await Promise.all(
    texts.map((text, number) => files.write(at('a.txt'), text, number % 2 === 0 ? 'secret' : undefined)),
  );
  expect(texts).toContain(await files.read(at('a.txt')));
  expect(await names()).toEqual(['a.txt']);
});

const failures: [string, (files: ReturnType<typeof bench>['files']) => Promise<unknown>, string, RegExp][] = [
  ['reads a directory', files => files.read(folder), '', /is a directory/],
  ['writes below a file', files => files.write(at('file', 'a.txt'), 'x'), 'file/a.txt', /EEXIST|a part of the path/],
  ['writes over a directory', files => files.write(at('full'), 'x'), 'full', /is a directory|in use|ENOTEMPTY/],
  ['hashes a directory', files => files.sha256(folder), '', /is a directory/],
  ['lists a file', files => files.list(at('file')), 'file', /a part of the path is a file/],
  ['removes a directory as a file', files => files.remove(at('full')), 'full', /is a directory|in use/],
];
test.each(failures)('names the path when another program %s', async (_, act, path, why) => {
  const { files } = bench();
  await writeFile(at('file'), 'x');
  await mkdir(at('full', 'sub'), { recursive: true });
  await expect(act(files)).rejects.toMatchObject({
    code: 'HOST_FILE_UNUSABLE',
    message: expect.stringMatching(why) as string,
    remedy: expect.stringMatching(/./) as string,
  });
  await expect(act(files)).rejects.toThrow(at(path));
  expect((await names()).filter(name => name.includes('wicd-new'))).toEqual([]);
});

test('rejects when a file to read in chunks does not exist', async () => {
  const { files } = bench();
  await expect(Array.fromAsync(files.readChunks(at('missing')))).rejects.toMatchObject({
    code: 'HOST_FILE_UNUSABLE',
    message: `${at('missing')}: does not exist`,
  });
});

test('keeps only the last content after any sequence of writes and removals', async () => {
  const { files } = bench();
  const step = fc.record({
    name: fc.constantFrom('a.txt', 'b.exe', 'c.pem'),
    content: fc.option(fc.string({ maxLength: 30 }), { nil: undefined }),
    how: fc.constantFrom('text', 'secret', 'chunks'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async steps => {
      const want = new Map<string, string>();
      for (const { name, content, how } of steps) {
        if (content === undefined) await files.remove(at(name));
        else if (how === 'chunks') await files.writeChunks(at(name), chunks(content));
        else await files.write(at(name), content, how === 'secret' ? 'secret' : undefined);
        if (content === undefined) want.delete(name);
        else want.set(name, Buffer.from(content).toString());
      }
      expect(await names()).toEqual([...want.keys()].sort());
      for (const [name, content] of want) expect(await files.read(at(name))).toBe(content);
      for (const name of await names()) await rm(at(name));
    }),
    { numRuns: 40 },
  );
});

test('creates a directory only if the path does not exist, and protects it', async () => {
  const protectedPaths: string[] = [];
  const { files } = bench(path => void protectedPaths.push(path));
  expect(await files.createDirectory(at('a', 'b'), 'secret')).toBe(true);
  expect(await files.createDirectory(at('a', 'b'), 'secret')).toBe(false);
  expect(protectedPaths).toEqual([at('a', 'b')]);
});

test('removes an empty directory only', async () => {
  const { files } = bench();
  await mkdir(at('empty'));
  await files.write(at('full', 'a'), 'a');
  const removed = await Promise.all(['empty', 'full', 'missing'].map(name => files.removeEmptyDirectory(at(name))));
  expect(removed).toEqual([true, false, false]);
  expect(await names()).toEqual(['full']);
});
