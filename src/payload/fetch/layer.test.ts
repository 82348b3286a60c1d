import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { temporaryFolder } from '../../../test/kit/payload-command.ts';
import { bytesOf } from '../../../test/kit/payload-image.ts';
import { tarOf } from '../../../test/kit/tar-archive.ts';
import { readLayer } from './layer.ts';

const member = 'root/windows/x.exe';

async function read(entries: Record<string, string>, isWindows = false) {
  const path = join(await temporaryFolder(), 'layer');
  await writeFile(path, gzipSync(tarOf(entries)));
  const contents: string[] = [];
  const take = async (_: string, content: AsyncIterable<Uint8Array>) => {
    contents.push((await bytesOf(content)).toString());
  };
  const { taken, hidden } = await readLayer({ path, what: 'layer', isWindows }, [member], take);
  return { contents, isTaken: taken.has(member), isHidden: hidden.has(member) };
}

type Seen = 'taken' | 'hidden' | 'not there' | 'taken and hidden below';
const rows: [about: string, entries: Record<string, string>, seen: Seen][] = [
  ['the file', { [member]: 'new' }, 'taken'],
  ['the file with ./', { [`./${member}`]: 'new' }, 'taken'],
  ['the file with a slash in front', { [`/${member}`]: 'new' }, 'taken'],
  ['the same name elsewhere', { 'x.exe': 'new', 'root/x.exe': 'new', [`a/${member}`]: 'new' }, 'not there'],
  ['a way out of the image', { [`root/../${member}`]: 'new' }, 'not there'],
  ['only folders', { 'root/': '', 'root/windows/': '' }, 'not there'],
  ['a whiteout of the file', { 'root/windows/.wh.x.exe': '' }, 'hidden'],
  ['a whiteout of its folder', { 'root/.wh.windows': '' }, 'hidden'],
  ['a whiteout of the topmost folder', { './.wh.root': '' }, 'hidden'],
  ['a whiteout of another file', { 'root/windows/.wh.y.exe': '', 'root/.wh.window': '' }, 'not there'],
  ['an opaque folder', { 'root/windows/.wh..wh..opq': '' }, 'hidden'],
  ['an opaque root', { '.wh..wh..opq': '' }, 'hidden'],
  ['another opaque folder', { 'root/windows2/.wh..wh..opq': '' }, 'not there'],
  ['a file in place of its folder', { 'root/windows': 'a file' }, 'hidden'],
  [
    'an opaque folder with the file anew',
    { 'root/windows/.wh..wh..opq': '', [member]: 'new' },
    'taken and hidden below',
  ],
  [
    'the file, and its folder opaque afterwards',
    { [member]: 'new', 'root/windows/.wh..wh..opq': '' },
    'taken and hidden below',
  ],
];

describe('of a layer with', () => {
  for (const [about, entries, seen] of rows)
    test(`${about}, the file is ${seen}`, async () => {
      expect(await read(entries)).toEqual({
        contents: seen.startsWith('taken') ? ['new'] : [],
        isTaken: seen.startsWith('taken'),
        isHidden: seen.includes('hidden'),
      });
    });
});

test('of a layer of Windows, only what is below Files counts', async () => {
  expect(await read({ [member]: 'no', [`Hives/${member}`]: 'no' }, true)).toMatchObject({ isTaken: false });
  expect(await read({ [`Files/${member}`]: 'yes' }, true)).toMatchObject({ contents: ['yes'] });
  expect(await read({ 'Files/root/.wh.windows': '' }, true)).toMatchObject({ isHidden: true });
  expect(await read({ 'root/.wh.windows': '' }, true)).toMatchObject({ isHidden: false });
});

test('a folder, or the same file twice, is refused', async () => {
  const messages = await Promise.all(
    [{ [`${member}/`]: '' }, { [member]: 'a', [`./${member}`]: 'b' }].map(entries => rejectionOf(read(entries))),
  );
  expect(messages.map(error => [error?.code, error?.message])).toEqual([
    ['PAYLOAD_ARCHIVE_REFUSED', expect.stringContaining('as a folder, not as a file')],
    ['PAYLOAD_ARCHIVE_REFUSED', expect.stringContaining('twice')],
  ]);
});
