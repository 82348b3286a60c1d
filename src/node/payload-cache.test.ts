import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, lstat, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { bytesOf, every, image, defaultContent } from '../../test/kit/payload-image.ts';

const agentExe = 'windows-instance-config-daemon.exe';
const agentSum = sha256(defaultContent(agentExe));
/** A byte of a file, changed in its place. */
async function change(path: string): Promise<void> {
  const content = await readFile(path);
  content.writeUInt8(content.readUInt8(content.length >> 1) ^ 1, content.length >> 1);
  await writeFile(path, content);
}

test('packs again what has changed since an earlier run, also when its size is the same', async () => {
  const { open, cacheFolder, log } = await image();
  await (await open()).files('None');
  const kept = (await readdir(cacheFolder)).toSorted();
  for (const name of kept) await change(join(cacheFolder, name));
  const files = await (await open()).files('None');
  for (const one of files) {
    expect(sha256(await promisify(zstdDecompress)(await bytesOf(one.packed())))).toBe(one.sha256);
  }
  // How small a content becomes depends on the pieces in which it comes.
  const hashes = (names: readonly string[]) => names.map(name => name.slice(0, 64)).toSorted();
  expect(hashes(await readdir(cacheFolder))).toEqual(hashes(kept));
  expect(log.messages('warn')).toHaveLength(kept.length);
});

const planted: [about: string, name: (hash: string) => string, content: () => Promise<Buffer>][] = [
  ['in plain', hash => `${hash}-10`, async () => Buffer.alloc(10)],
  ['that is no archive', hash => `${hash}-10-10`, async () => Buffer.alloc(10)],
  ['packed', hash => `${hash}-10-19`, () => promisify(zstdCompress)(Buffer.alloc(10))],
];
for (const [about, name, content] of planted) {
  test(`takes no file ${about} that was put there under the hash of a program`, async () => {
    const { open, cacheFolder, log } = await image();
    const payload = await open();
    const bytes = await content();
    const sized = (hash: string) => name(hash).replace('-19', `-${bytes.length}`);
    for (const one of every) await writeFile(join(cacheFolder, sized(sha256(defaultContent(one.name)))), bytes);
    const agent = await payload.agent();
    expect(sha256(await bytesOf(agent.content()))).toBe(agentSum);
    for (const one of await payload.files('None')) expect(one.bytes).toBeGreaterThan(10);
    expect(log.messages('warn').length).toBeGreaterThan(0);
  });
}

test('unpacks no more of a planted archive than a program is large', async () => {
  const { open, cacheFolder } = await image();
  const payload = await open();
  const bomb = await promisify(zstdCompress)(Buffer.alloc(50_000_000));
  const { name = '' } = every.find(one => one.name === 'kubelet.exe') ?? {};
  await writeFile(join(cacheFolder, `${sha256(defaultContent(name))}-10-${bomb.length}`), bomb);
  expect(await payload.files('None')).toHaveLength(11);
});

test('follows no link in its folder', async () => {
  const { open, folder, cacheFolder, log } = await image({ plain: name => name === agentExe });
  const payload = await open();
  const content = defaultContent(agentExe);
  await symlink(join(folder, agentExe), join(cacheFolder, `${agentSum}-${content.length}`));
  const agent = await payload.agent();
  expect(await bytesOf(agent.content())).toEqual(content);
  expect((await lstat(join(cacheFolder, `${agentSum}-${content.length}`))).isSymbolicLink()).toBe(false);
  expect(log.messages('warn')).toHaveLength(1);
});

test('never gives the whole of what has changed since it was checked, and builds it again for the next', async () => {
  const content = randomBytes(700_000);
  const { open, cacheFolder } = await image({ contents: { [agentExe]: content } });
  const payload = await open();
  const agent = await payload.agent();
  const path = join(cacheFolder, `${sha256(content)}-${content.length}`);
  await change(path);
  const given: number[] = [];
  const read = (async () => {
    for await (const piece of agent.content()) given.push(piece.length);
  })();
  expect(await rejectionOf(read)).toMatchObject({
    code: 'PAYLOAD_DAMAGED',
    message: expect.stringContaining(path) as string,
  });
  expect(given).toEqual([261_120, 261_120]);
  expect((await bytesOf((await payload.agent()).content())).equals(content)).toBe(true);
});

test('a file that was cut short or grew after it was checked is not given as a whole', async () => {
  const { open, cacheFolder } = await image();
  const agent = await (await open()).agent();
  const path = join(cacheFolder, `${agentSum}-${agent.bytes}`);
  await truncate(path, agent.bytes - 1);
  expect(await rejectionOf(bytesOf(agent.content()))).toMatchObject({ code: 'PAYLOAD_DAMAGED' });
  await writeFile(path, Buffer.concat([defaultContent(agentExe), Buffer.from('more')]));
  expect(await bytesOf(agent.content())).toEqual(defaultContent(agentExe));
});

test('keeps its files for itself', async () => {
  const { open, cacheFolder } = await image();
  await (await open()).files('None');
  expect((await lstat(cacheFolder)).mode & 0o777).toBe(0o700);
  for (const name of await readdir(cacheFolder))
    expect((await lstat(join(cacheFolder, name))).mode & 0o777).toBe(0o600);
});

test('does not begin with a folder that others can write', async () => {
  const { open, cacheFolder } = await image();
  await mkdir(cacheFolder, { recursive: true });
  await chmod(cacheFolder, 0o777);
  expect(await rejectionOf(open())).toMatchObject({ code: 'CACHE_FOLDER_UNSAFE' });
});

test('a program that cannot be opened is an error each time, and ends no process', async () => {
  const { open, folder } = await image({ plain: () => true });
  const payload = await open();
  const source = join(folder, every.find(({ name }) => name === agentExe)?.source ?? '');
  await rm(source);
  const server = createServer().listen(source);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  for (let attempt = 0; attempt < 30; attempt += 1) {
    expect(await rejectionOf(payload.agent())).toMatchObject({
      code: 'PAYLOAD_UNREADABLE',
      message: expect.stringContaining('ENXIO') as string,
    });
  }
});

test('packs at most two programs at a time', async () => {
  const { open, cacheFolder } = await image();
  const payload = await open();
  const done = new AbortController();
  let most = 0;
  const packing = payload.files('None').finally(() => done.abort());
  while (!done.signal.aborted) {
    const drafts = (await readdir(cacheFolder)).filter(name => name.startsWith('.'));
    most = Math.max(most, drafts.length);
  }
  await packing;
  expect(most).toBeLessThanOrEqual(2);
});
