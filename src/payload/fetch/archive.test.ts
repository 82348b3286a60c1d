import { randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { temporaryFolder } from '../../../test/kit/payload-command.ts';
import { bytesOf } from '../../../test/kit/payload-image.ts';
import { tarOf } from '../../../test/kit/tar-archive.ts';
import { zipOf } from '../../../test/kit/zip-archive.ts';
import { unpackMembers } from './archive.ts';
import { storeProgram } from './program-file.ts';

const member = 'bin/kubelet.exe';
const program = Buffer.concat([Buffer.from('MZ'), randomBytes(70_000), Buffer.alloc(70_000)]);
const good = { 'bin/other.exe': randomBytes(1000), [member]: program, 'bin/': Buffer.alloc(0) };

async function unpack(archive: Uint8Array, members = [member]) {
  const folder = await temporaryFolder();
  const path = join(folder, 'archive');
  await writeFile(path, archive);
  const stored: [string, number][] = [];
  const error = await rejectionOf(
    unpackMembers(path, 'archive', members, async (name, content) => {
      await storeProgram(content, join(folder, 'program'), name);
      stored.push([name, (await readdir(folder)).length]);
    }),
  );
  return { error, stored, files: await readdir(folder, { recursive: true }) };
}

const formats: [name: string, archive: Uint8Array][] = [
  ['.tar.gz', gzipSync(tarOf(good))],
  [
    '.tar.gz of several parts',
    Buffer.concat([gzipSync(tarOf(good).subarray(0, 3000)), gzipSync(tarOf(good).subarray(3000))]),
  ],
  ['.tar', tarOf(good)],
  ['.tar.zst', zstdCompressSync(tarOf(good))],
  ['.zip', zipOf(good)],
];

describe('of each format', () => {
  for (const [name, archive] of formats)
    test(`unpacks only the named file of ${name}`, async () => {
      expect(await unpack(archive)).toEqual({
        error: undefined,
        stored: [[member, 2]],
        files: expect.anything() as unknown,
      });
    });
});

/** One entry with another type. */
function typed(path: string, type: string): Buffer {
  const archive = tarOf({ [path]: Buffer.alloc(0) });
  archive.write(type, 156);
  archive.write('        ', 148);
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return archive;
}
const flipped = (archive: Buffer, at: number) => {
  archive.writeUInt8(archive.readUInt8(at) ^ 1, at);
  return archive;
};
/** With the padding of a tape, the end of the tar comes long before that of gzip. */
function flippedCrc(archive: Buffer): Buffer {
  const packed = gzipSync(Buffer.concat([archive, Buffer.alloc(2_000_000)]));
  return flipped(packed, packed.length - 8);
}
const twice = Buffer.concat([tarOf({ [member]: 'one' }).subarray(0, 1024), tarOf({ [member]: program })]);

const hostile: [about: string, archive: Uint8Array, error: string][] = [
  ['no such file', gzipSync(tarOf({ 'bin/kubelet': program })), 'has no file "bin/kubelet.exe"'],
  ['a path out of the archive', gzipSync(tarOf({ [`../${member}`]: program })), 'has no file'],
  ['an absolute path', gzipSync(tarOf({ [`/${member}`]: program })), 'has no file'],
  ['a symbolic link', gzipSync(typed(member, '2')), 'as a link, not as a file'],
  ['a hard link', gzipSync(typed(member, '1')), 'as a link, not as a file'],
  ['a device', gzipSync(typed(member, '3')), 'as a other'],
  ['the same file twice', gzipSync(twice), 'has "bin/kubelet.exe" twice'],
  ['a tar that was cut', gzipSync(tarOf(good).subarray(0, 5000)), 'ends too early'],
  ['a gzip that was cut', gzipSync(tarOf(good)).subarray(0, 5000), 'cannot be unpacked'],
  ['a bit flipped in gzip', flipped(gzipSync(tarOf(good)), 40_000), 'archive '],
  ['a wrong checksum of gzip behind the end of the tar', flippedCrc(tarOf(good)), 'cannot be unpacked'],
  ['a page of HTML', Buffer.from('<html>'.repeat(500)), 'is not a tar archive'],
  ['nothing', Buffer.alloc(0), 'ends too early'],
  ['a program of more than a gigabyte', tarOf({ [member]: program }, { size: '77777777777' }), 'ends too early'],
  ['a zip with a link', zipOf(good, { mode: 0o120777 }), 'as a link, not as a file'],
  ['a zip with encryption', zipOf(good, { flags: 1 }), 'encrypted'],
  ['a zip with other names before the content', zipOf(good, { localName: 'x' }), 'under another name than in its list'],
  ['a zip with wrong sizes', zipOf(good, { bytes: 500 }), 'with other content than its list tells'],
  ['a zip with a size beyond all programs', zipOf(good, { bytes: 2 ** 31 }), 'with 2147483648 bytes'],
  ['a bit flipped in zip', flipped(zipOf(good), 1000 + 200 + 40_000), 'bin/kubelet.exe'],
  ['a zip that was cut', zipOf(good).subarray(0, -30), 'has no list of files'],
  ['a zip with a damaged list', flipped(zipOf(good), zipOf(good).length - 22 - 50), 'archive '],
];

describe('refuses', () => {
  for (const [about, archive, error] of hostile)
    test(about, async () => {
      const result = await unpack(archive);
      expect(result.error).toMatchObject({
        code: 'PAYLOAD_ARCHIVE_REFUSED',
        message: expect.stringContaining(error) as string,
      });
      expect(result.files.toSorted()).toEqual(result.files.includes('program') ? ['archive', 'program'] : ['archive']);
    });
});

test('no damage makes a zip file give another program, or anything else fail', async () => {
  const content = Buffer.from('MZ a program '.repeat(20));
  const archive = zipOf({ [member]: content, other: randomBytes(50) });
  const folder = await temporaryFolder();
  const random = new Uint32Array(randomBytes(4 * 400).buffer);
  for (const [index, number] of random.entries()) {
    const damaged = flipped(Buffer.from(archive), number % archive.length);
    const path = join(folder, String(index));
    await writeFile(path, damaged);
    const taken: Buffer[] = [];
    await rejectionOf(
      unpackMembers(path, 'archive', [member], async (_, pieces) => {
        taken.push(await bytesOf(pieces));
      }),
    );
    if (taken.length > 0) expect(taken).toEqual([content]);
  }
});
