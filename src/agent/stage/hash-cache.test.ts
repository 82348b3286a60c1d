import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { createHashCache } from './hash-cache.ts';

const path = 'C:\\k\\kubelet.exe';

/** A host with one file, and how often files were read to be hashed. */
function hostWith(text: string) {
  const host = new ModelHost();
  host.fileTexts.set(path, text);
  let reads = 0;
  host.before = call => {
    if (call.startsWith('hash ')) reads += 1;
  };
  return { host, hashOf: createHashCache(host.files, host.clock), reads: () => reads };
}

test('reads a file once as long as it stays unchanged', async () => {
  const { hashOf, reads } = hostWith('program');
  const hashes = [await hashOf(path), await hashOf(path), await hashOf(path.toUpperCase())];
  expect([hashes, reads()]).toEqual([Array(3).fill(sha256('program')), 1]);
});

const changes: [string, (host: ModelHost) => unknown, string | undefined][] = [
  ['another size', host => host.files.tamper(path, 'PROGRAMME'), sha256('PROGRAMME')],
  ['another time of change', host => host.fileTexts.set(path, 'PROGRAM'), sha256('PROGRAM')],
  ['the same content written anew', host => host.fileTexts.set(path, 'program'), sha256('program')],
  ['the end of the file', host => host.fileTexts.delete(path), undefined],
];
for (const [name, change, want] of changes) {
  test(`notices ${name}`, async () => {
    const { host, hashOf, reads } = hostWith('program');
    await hashOf(path);
    change(host);
    expect([await hashOf(path), reads()]).toEqual([want, 2]);
  });
}

test('finds out after an hour at the latest what was changed in secret', async () => {
  const { host, hashOf } = hostWith('program');
  await hashOf(path);
  host.files.tamper(path, 'PROGRAM');
  host.clock.ms += 60 * 60 * 1000 - 1;
  expect(await hashOf(path)).toBe(sha256('program'));
  host.clock.ms += 1;
  expect(await hashOf(path)).toBe(sha256('PROGRAM'));
});

test('hashes a file that was deleted and created again', async () => {
  const { host, hashOf } = hostWith('program');
  host.fileTexts.delete(path);
  expect(await hashOf(path)).toBeUndefined();
  host.fileTexts.set(path, 'back');
  expect(await hashOf(path)).toBe(sha256('back'));
});

test('does not cache the hash of a file that was written while it was read', async () => {
  const { host, hashOf } = hostWith('program');
  const count = host.before;
  host.before = call => {
    count(call);
    if (call.startsWith('hash ')) host.fileTexts.set(path, 'half');
    host.before = count;
  };
  await hashOf(path);
  host.files.tamper(path, 'FULL');
  expect(await hashOf(path)).toBe(sha256('FULL'));
});

test('keeps files apart', async () => {
  const { host, hashOf } = hostWith('program');
  host.fileTexts.set('C:\\k\\other.exe', 'other');
  expect([await hashOf(path), await hashOf('C:\\k\\other.exe')]).toEqual([sha256('program'), sha256('other')]);
});

test('passes on that a file cannot be read, and tries again', async () => {
  const { host, hashOf } = hostWith('program');
  host.before = () => {
    throw new Error('access denied');
  };
  await expect(hashOf(path)).rejects.toThrow('access denied');
  host.before = () => undefined;
  expect(await hashOf(path)).toBe(sha256('program'));
});
