import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { FakeKoffi } from '../../../test/kit/fake-koffi.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { addressOf, bind, bindChecked, fillBuffer, inLibrary, loadKoffi, placeAddon, placed } from './native.ts';

const calls = {
  ...inLibrary('kernel32.dll', { Beep: { prototype: 'int __stdcall Beep(uint32_t hertz, uint32_t ms)', why: 'x' } }),
  ...inLibrary('advapi32.dll', { Open: { prototype: 'void * __stdcall Open(str16 name)', why: 'x', proof: 'double' } }),
};

test('sets the library of each call, and Wine as its default proof', () => {
  expect(calls.Beep).toMatchObject({ dll: 'kernel32.dll', proof: 'wine' });
  expect(calls.Open).toMatchObject({ dll: 'advapi32.dll', proof: 'double' });
});

const root = mkdtempSync(join(tmpdir(), 'wmco-native-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
const freshFolder = () => join(root, `${folders++}`);

const addon = Buffer.from('the addon');
const stem = `koffi-${createHash('sha256').update(addon).digest('hex')}`;

test('gives a function for each call', () => {
  const bound = bind(new FakeKoffi({ Beep: (hertz: number) => hertz + 1, Open: (name: string) => name }), calls);
  expect([bound.Beep(440, 1), bound.Open('x')]).toEqual([441, 'x']);
});

test('loads libraries from the system directory only', () => {
  const koffi = new FakeKoffi({ Beep: () => 0, Open: () => 0 });
  const libraries: string[] = [];
  const load = (library: string) => {
    libraries.push(library);
    return koffi.load(library);
  };
  const watched = Object.assign(Object.create(koffi) as FakeKoffi, { load });
  bind(watched, calls);
  addressOf(watched, 'user32.dll', 'MessageBeep');
  const system = 'C:\\Windows\\system32';
  expect(libraries.filter(name => name !== 'kernel32.dll')).toEqual([
    `${system}\\kernel32.dll`,
    `${system}\\advapi32.dll`,
    `${system}\\user32.dll`,
  ]);
});

test.each([0, 261])('does not guess the directory of the system (answer %i)', length => {
  const koffi = new FakeKoffi({ GetSystemDirectoryW: () => length, Beep: () => 0, Open: () => 0 });
  const error = errorOf(() => bind(koffi, calls));
  expect(error).toMatchObject({ code: 'WINDOWS_CALL_FAILED', message: expect.stringContaining('GetSystemDirectoryW') });
});

test('gives the number of the last failure for every read', () => {
  const koffi = new FakeKoffi({ Beep: () => 0, Open: () => null });
  const { lastError } = bindChecked(koffi, calls);
  koffi.lastError = 1060;
  expect([lastError(), lastError()]).toEqual([1060, 1060]);
});

test('a checked call gives its result, or throws the error of Windows', () => {
  const koffi = new FakeKoffi({ Beep: (hertz: number) => hertz, Open: () => null });
  const { check } = bindChecked(koffi, calls);
  koffi.lastError = 5;
  expect(check('Beep', 'the speaker', 440, 1)).toBe(440);
  for (const failing of [() => check('Beep', 'the speaker', 0, 1), () => check('Open', 'the speaker', 'x')])
    expect(errorOf(failing)).toMatchObject({
      code: 'WINDOWS_ACCESS_DENIED',
      message: expect.stringContaining('for the speaker: Windows error 5'),
    });
});

test.each([
  ['fits at once', 8, { result: 0, length: 8, sizes: [16] }],
  ['needs more room', 40, { result: 0, length: 40, sizes: [16, 80] }],
  ['never fits', Infinity, { result: 122, sizes: expect.objectContaining({ length: 10 }) }],
] as const)('fills a buffer with data that %s', (_, needed, want) => {
  const sizes: number[] = [];
  const filled = fillBuffer(16, 122, (bytes, size) => {
    sizes.push(bytes.length);
    if (needed !== Infinity) size[0] = needed;
    return needed <= bytes.length ? 0 : 122;
  });
  expect({ ...filled, sizes }).toMatchObject(want);
});

test('sets pointers to where the bytes are', () => {
  const koffi = new FakeKoffi({});
  const encoded = { bytes: Buffer.alloc(32, 7), pointers: [[0, 16] as const, [8, 24] as const] };
  const bytes = placed(koffi, encoded);
  const address = koffi.address(bytes);
  expect([bytes.readBigUInt64LE(0) - address, bytes.readBigUInt64LE(8) - address]).toEqual([16n, 24n]);
  expect(bytes.subarray(16)).toEqual(Buffer.alloc(16, 7));
});

test('writes the addon under the hash of its content and makes the directory', () => {
  const folder = join(freshFolder(), 'deep', 'down');
  expect(placeAddon(addon, folder)).toBe(join(folder, `${stem}.node`));
  expect(readdirSync(folder)).toEqual([`${stem}.node`]);
  expect(readFileSync(join(folder, `${stem}.node`))).toEqual(addon);
});

test('does not rewrite an unchanged addon', () => {
  const folder = freshFolder();
  const before = statSync(placeAddon(addon, folder));
  const after = statSync(placeAddon(addon, folder));
  expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
});

const damages: [name: string, content: string][] = [
  ['was tampered with', 'the addom'],
  ['is cut short', 'the a'],
  ['is empty', ''],
  ['is longer', 'the addon and more'],
];
test.each(damages)('replaces an addon that %s', (_, content) => {
  const folder = freshFolder();
  writeFileSync(placeAddon(addon, folder), content);
  expect(readFileSync(placeAddon(addon, folder))).toEqual(addon);
  expect(readdirSync(folder)).toEqual([`${stem}.node`]);
});

test('keeps the addon of another version, which may be loaded', () => {
  const folder = freshFolder();
  const other = placeAddon(Buffer.from('an older addon'), folder);
  placeAddon(addon, folder);
  expect(existsSync(other)).toBe(true);
});

test('removes leftovers of an interrupted write, but no other file', () => {
  const folder = freshFolder();
  mkdirSync(folder);
  for (const name of [`${stem}.77.tmp`, `${stem}.78.tmp`, 'koffi-0.79.tmp', 'x.node']) {
    writeFileSync(join(folder, name), 'x');
  }
  placeAddon(addon, folder);
  expect(readdirSync(folder).sort()).toEqual(['koffi-0.79.tmp', `${stem}.node`, 'x.node'].sort());
});

test('ignores leftovers that cannot be removed', () => {
  const folder = freshFolder();
  mkdirSync(join(folder, `${stem}.77.tmp`), { recursive: true });
  expect(placeAddon(addon, folder)).toBe(join(folder, `${stem}.node`));
});

const obstacles: [name: string, make: (folder: string) => void][] = [
  ['the directory is a file', folder => writeFileSync(folder, '')],
  ['a directory has its name', folder => mkdirSync(join(folder, `${stem}.node`, 'x'), { recursive: true })],
];
test.each(obstacles)('reports what is wrong when %s', (_, make) => {
  const folder = freshFolder();
  make(folder);
  const error = errorOf(() => placeAddon(addon, folder));
  expect(error).toMatchObject({ code: 'WINDOWS_NATIVE_UNUSABLE', remedy: expect.stringContaining('administrator') });
  expect(error?.message).toContain(`${join(folder, stem)}.node cannot be written: `);
  expect(error?.cause).toBeInstanceOf(Error);
});

test('leaves nothing of a failed attempt once one succeeds', () => {
  const folder = freshFolder();
  mkdirSync(join(folder, `${stem}.node`, 'x'), { recursive: true });
  expect(errorOf(() => placeAddon(addon, folder))?.code).toBe('WINDOWS_NATIVE_UNUSABLE');
  expect(readdirSync(folder)).toContain(`${stem}.${process.pid}.tmp`);
  rmSync(join(folder, `${stem}.node`), { recursive: true });
  placeAddon(addon, folder);
  expect(readdirSync(folder)).toEqual([`${stem}.node`]);
});

test('reports what is wrong when the addon cannot be loaded', () => {
  const folder = freshFolder();
  const error = errorOf(() => loadKoffi(addon, folder));
  expect(error?.code).toBe('WINDOWS_NATIVE_UNUSABLE');
  expect(error?.message).toContain(`${join(folder, stem)}.node cannot be loaded: `);
});
