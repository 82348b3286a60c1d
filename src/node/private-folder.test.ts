import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { ensurePrivateFolder, openNew, openToRead } from './private-folder.ts';

async function place(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'wmco-private-'));
  onTestFinished(() => rm(root, { recursive: true }));
  return root;
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('makes a folder for us alone, and its parents', async () => {
  const folder = join(await place(), 'a', 'b');
  await ensurePrivateFolder(folder);
  expect(await modeOf(folder)).toBe(0o700);
  await ensurePrivateFolder(folder);
});

test('takes a folder of the operator that others can read, and makes it private', async () => {
  const folder = await place();
  await chmod(folder, 0o755);
  await ensurePrivateFolder(folder);
  expect(await modeOf(folder)).toBe(0o700);
});

const unsafe: [about: string, make: (path: string, root: string) => Promise<unknown>, message: string][] = [
  ['that everybody can write', path => mkdir(path).then(() => chmod(path, 0o777)), 'written by others (mode 0777)'],
  ['that its group can write', path => mkdir(path).then(() => chmod(path, 0o770)), 'written by others (mode 0770)'],
  ['with a sticky bit', path => mkdir(path).then(() => chmod(path, 0o1777)), 'written by others (mode 0777)'],
  ['that is a link to a folder of ours', (path, root) => symlink(root, path), 'is a symbolic link'],
  ['that is a link to nowhere', (path, root) => symlink(join(root, 'gone'), path), 'is a symbolic link'],
  ['that is a file', path => writeFile(path, ''), 'is not a folder'],
];
for (const [about, make, message] of unsafe) {
  test(`refuses a folder ${about}`, async () => {
    const root = await place();
    const path = join(root, 'cache');
    await make(path, root);
    expect(await rejectionOf(ensurePrivateFolder(path))).toMatchObject({
      code: 'CACHE_FOLDER_UNSAFE',
      message: expect.stringContaining(message) as string,
      remedy: expect.stringContaining('--payload-cache-dir') as string,
    });
  });
}

test.runIf(process.geteuid?.() === 0)('refuses a folder of somebody else', async () => {
  const folder = await place();
  await chown(folder, 12_345, 12_345);
  expect(await rejectionOf(ensurePrivateFolder(folder))).toMatchObject({
    code: 'CACHE_FOLDER_UNSAFE',
    message: expect.stringContaining('belongs to user 12345') as string,
  });
});

test('reports that a folder cannot be made', async () => {
  const root = await place();
  await writeFile(join(root, 'file'), '');
  expect(await rejectionOf(ensurePrivateFolder(join(root, 'file', 'cache')))).toMatchObject({
    code: 'PAYLOAD_UNREADABLE',
  });
});

test('makes files that only we can read, and follows no link', async () => {
  const root = await place();
  const [path, link] = [join(root, 'new'), join(root, 'link')];
  await using file = await openNew(path);
  await file.writeFile('x');
  expect([await modeOf(path), await readFile(path, 'utf8')]).toEqual([0o600, 'x']);
  await expect(openNew(path)).rejects.toThrow('EEXIST');
  await symlink(join(root, 'elsewhere'), link);
  await expect(openNew(link)).rejects.toThrow('EEXIST');
  await rm(link);
  await symlink(path, link);
  await expect(openToRead(link)).rejects.toThrow('ELOOP');
});
