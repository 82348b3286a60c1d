import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { tarOf } from '../../test/kit/tar-archive.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { fileOfTar } from './tar.ts';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const read = async (archive: Uint8Array, name: string, size = 1000) =>
  Buffer.concat(await Array.fromAsync(fileOfTar(pieces(archive, size), name))).toString();

test('finds a file by the last part of its path, whatever is before it', async () => {
  const archive = tarOf({ './readme': 'words', 'payload/kubelet.exe': 'program', 'kubelet.exe.old': 'x' });
  expect(await read(archive, 'kubelet.exe')).toBe('program');
  expect(await read(archive, 'readme')).toBe('words');
});

test('reads files of any size, in pieces of any size', async () => {
  for (const size of [0, 1, 511, 512, 513, 100_000]) {
    const archive = tarOf({ a: 'y'.repeat(700), b: 'x'.repeat(size) });
    for (const step of [1 + size, 512, 4096]) expect((await read(archive, 'b', step)).length).toBe(size);
  }
});

test('takes no directory for a file', async () => {
  const archive = tarOf({ 'kubelet.exe/': '', 'x/kubelet.exe': 'program' });
  expect(await read(archive, 'kubelet.exe')).toBe('program');
});

const broken: [string, Uint8Array, string][] = [
  ['without the file', tarOf({ other: 'x' }), 'has no such file'],
  ['that is empty', tarOf({}), 'has no such file'],
  ['that is no archive', Buffer.alloc(1024, 'x'), 'is not a tar archive'],
  ['that is nothing', Buffer.alloc(0), 'ends too early'],
  ['cut short in a file', tarOf({ a: 'x'.repeat(5000) }).subarray(0, 2000), 'ends too early'],
  ['cut short before the file', tarOf({ b: 'x'.repeat(5000), a: 'y' }).subarray(0, 3000), 'ends too early'],
  ['with a size that is none', tarOf({ a: 'x' }, { size: 'zzzzzzzzzzz' }), 'size cannot be read'],
];
for (const [name, archive, message] of broken) {
  test(`refuses an archive ${name}`, async () => {
    expect(await rejectionOf(read(archive, 'a'))).toMatchObject({
      code: 'PAYLOAD_UNREADABLE',
      message: `archive of a ${message.replace('size cannot', 'has a file whose size cannot')}`,
      remedy: expect.stringContaining('a.tar.gz') as string,
    });
  });
}

test('ends the source as soon as it has what it wants', async () => {
  let isEnded = false;
  async function* source() {
    try {
      yield tarOf({ a: 'content', b: 'rest' });
      expect.unreachable();
    } finally {
      isEnded = true;
    }
  }
  expect(Buffer.concat(await Array.fromAsync(fileOfTar(source(), 'a'))).toString()).toBe('content');
  expect(isEnded).toBe(true);
});

test('whatever the bytes are, it gives a file or an AppError', async () => {
  const archive = tarOf({ a: 'x'.repeat(600), b: 'y' });
  await fc.assert(
    fc.asyncProperty(fc.nat(archive.length - 1), fc.nat(255), async (at, byte) => {
      const changed = Uint8Array.from(archive);
      changed[at] = byte;
      await read(changed, 'b').catch((error: unknown) => expect(error).toBeInstanceOf(AppError));
    }),
    { numRuns: 1000 },
  );
});
