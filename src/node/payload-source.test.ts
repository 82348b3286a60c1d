import { randomBytes } from 'node:crypto';
import { readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { file } from '#contract/paths.ts';
import { openFilesAt } from '../../test/kit/open-files.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { bytesOf, every, image, defaultContent } from '../../test/kit/payload-image.ts';
import { payloadFor } from './payload.ts';

test('gives the agent as it is, with its path, hash and size', async () => {
  const { open } = await image();
  const agent = await (await open()).agent();
  const content = defaultContent('windows-instance-config-daemon.exe');
  expect(agent).toMatchObject({ path: file.agent, sha256: sha256(content), bytes: content.length });
  expect(await bytesOf(agent.content())).toEqual(content);
  expect(await bytesOf(agent.content())).toEqual(content);
});

const platforms: [string, extra: string[]][] = [
  ['None', []],
  ['AWS', ['ecr-credential-provider.exe']],
  ['Azure', ['azure-cloud-node-manager.exe']],
];
for (const [platform, extra] of platforms) {
  test(`gives all other programs for ${platform}, packed, and unpacked what they were`, async () => {
    const { open } = await image();
    const files = await (await open()).files(platform);
    const want = payloadFor(platform).filter(({ name }) => name !== 'windows-instance-config-daemon.exe');
    expect(files.map(({ path }) => path)).toEqual(want.map(({ directory, name }) => `${directory}\\${name}`));
    for (const name of extra) expect(files.some(({ path }) => path.endsWith(name))).toBe(true);
    for (const [index, one] of files.entries()) {
      const content = defaultContent(want[index]?.name ?? '');
      const packed = await bytesOf(one.packed());
      expect(one).toMatchObject({ secret: false, encoding: 'zstd', sha256: sha256(content), bytes: content.length });
      expect(packed).toHaveLength(one.packedBytes);
      expect(await promisify(zstdDecompress)(packed)).toEqual(content);
    }
  });
}

for (const isPlain of [true, false]) {
  test(`leaves as it is what packing does not make smaller (${isPlain ? 'a file' : 'an archive'})`, async () => {
    const noise = randomBytes(600_000);
    const { open, cacheFolder } = await image({ plain: () => isPlain, contents: { 'kubelet.exe': noise } });
    const look = async () => {
      const files = await (await open()).files('None');
      const kubelet = files.find(({ path }) => path.endsWith('kubelet.exe'));
      const { length: bytes } = noise;
      expect(kubelet).toMatchObject({ encoding: 'none', bytes, packedBytes: bytes, sha256: sha256(noise) });
      expect((await bytesOf(kubelet?.packed() ?? ([][Symbol.iterator]() as never))).equals(noise)).toBe(true);
      expect(files.filter(({ encoding }) => encoding === 'none')).toHaveLength(1);
      return (await readdir(cacheFolder)).toSorted();
    };
    const kept = await look();
    expect(kept).toHaveLength(11);
    // The next run finds it in the cache and packs nothing.
    expect(await look()).toEqual(kept);
  });
}

test('a large program comes in pieces as they are sent, and all of them in the same memory', async () => {
  const agent = randomBytes(700_000);
  const { open } = await image({ contents: { 'windows-instance-config-daemon.exe': agent } });
  const sizes: number[] = [];
  const memories = new Set<ArrayBufferLike>();
  for await (const piece of (await (await open()).agent()).content()) {
    sizes.push(piece.length);
    memories.add(piece.buffer);
  }
  expect(sizes).toEqual([261_120, 261_120, 177_760]);
  expect(memories.size).toBe(1);
});

test('two who read at the same time do not disturb each other', async () => {
  const content = randomBytes(900_000);
  const { open } = await image({ contents: { 'windows-instance-config-daemon.exe': content } });
  const agent = await (await open()).agent();
  const all = await Promise.all([1, 2, 3].map(() => bytesOf(agent.content())));
  for (const one of all) expect(one.equals(content)).toBe(true);
});

test('a reader that stops in the middle leaves nothing open', async () => {
  const { open, folder } = await image({ contents: { 'windows-instance-config-daemon.exe': randomBytes(900_000) } });
  const pieces = (await (await open()).agent()).content()[Symbol.asyncIterator]();
  const root = dirname(folder);
  expect(openFilesAt(root)).toBe(0);
  await pieces.next();
  expect(openFilesAt(root)).toBe(1);
  await pieces.return?.();
  expect(openFilesAt(root)).toBe(0);
});

test('takes programs that lie there as they are, too', async () => {
  const { open } = await image({ plain: name => name !== 'kubelet.exe' });
  const payload = await open();
  expect(await payload.files('None')).toHaveLength(11);
  expect((await payload.agent()).bytes).toBeGreaterThan(0);
});

test('packs each program once, however many ask for it at the same time and later', async () => {
  const { open, cacheFolder } = await image();
  const payload = await open();
  const all = await Promise.all([payload.files('None'), payload.files('AWS'), payload.files('None'), payload.agent()]);
  expect(all[0]).toEqual(all[2].map(one => expect.objectContaining({ sha256: one.sha256 }) as unknown));
  // Eleven for all, one for AWS, and the agent.
  expect(await readdir(cacheFolder)).toHaveLength(13);
});

test('uses what an earlier run has packed, without the image', async () => {
  const { open, folder } = await image();
  const before = await (await open()).files('None');
  const payload = await open();
  for (const { source } of every) await rm(join(folder, `${source}.tar.gz`));
  const after = await payload.files('None');
  expect(after.map(one => one.sha256)).toEqual(before.map(one => one.sha256));
  expect(await bytesOf(after[0]?.packed() ?? ([][Symbol.iterator]() as never))).toHaveLength(
    after[0]?.packedBytes ?? -1,
  );
});

test('packs again what was cut short, and takes nothing for a program that is none', async () => {
  const { open, cacheFolder } = await image();
  await (await open()).files('None');
  const [first = ''] = await readdir(cacheFolder);
  await truncate(join(cacheFolder, first), 3);
  await writeFile(join(cacheFolder, 'readme'), 'x');
  await writeFile(join(cacheFolder, '.half'), 'x');
  for (const one of await (await open()).files('None'))
    expect(await bytesOf(one.packed())).toHaveLength(one.packedBytes);
});

test('refuses a program that is not the one of the checksum, and leaves nothing of it', async () => {
  const { open, folder, cacheFolder } = await image({ plain: () => true });
  await writeFile(join(folder, 'kube-node/kubelet.exe'), 'of somebody else');
  const payload = await open();
  expect(await rejectionOf(payload.files('None'))).toMatchObject({
    code: 'PAYLOAD_DAMAGED',
    message: expect.stringContaining('kubelet.exe has hash') as string,
  });
  expect((await readdir(cacheFolder)).filter(name => name.startsWith('.'))).toEqual([]);
  // Put right, it is packed when it is asked for next.
  await writeFile(join(folder, 'kube-node/kubelet.exe'), defaultContent('kubelet.exe'));
  expect(await payload.files('None')).toHaveLength(11);
});

test('refuses an agent that is not the one of the checksum', async () => {
  const { open, folder } = await image({ plain: () => true });
  await writeFile(join(folder, 'windows-instance-config-daemon.exe'), 'other');
  expect(await rejectionOf((await open()).agent())).toMatchObject({ code: 'PAYLOAD_DAMAGED' });
});

test('OP-03: reports which program is missing', async () => {
  const { open, folder } = await image();
  await rm(join(folder, 'csi-proxy/csi-proxy.exe.tar.gz'));
  expect(await rejectionOf((await open()).files('None'))).toMatchObject({
    code: 'PAYLOAD_UNREADABLE',
    message: expect.stringContaining('csi-proxy.exe cannot be read from') as string,
    remedy: expect.stringMatching(/\.$/) as string,
  });
});

test('reports that an archive is none', async () => {
  const { open, folder } = await image();
  await writeFile(join(folder, 'csi-proxy/csi-proxy.exe.tar.gz'), 'no gzip');
  expect(await rejectionOf((await open()).files('None'))).toMatchObject({ code: 'PAYLOAD_UNREADABLE' });
});

const lists: [string, string | undefined, string, string][] = [
  ['is no list', 'nonsense', 'CHECKSUMS_MALFORMED', 'unexpected sha256sum line format'],
  [
    'lacks programs',
    `${'a'.repeat(64)}  kubelet.exe\n`,
    'PAYLOAD_CHECKSUM_MISSING',
    'missing SHA256Sum for windows-instance-config-daemon.exe, missing SHA256Sum for hybrid-overlay-node.exe',
  ],
];
for (const [name, checksums, code, message] of lists) {
  test(`does not begin with a list of checksums that ${name}`, async () => {
    const { open } = await image({ ...(checksums !== undefined && { checksums }) });
    const error = await rejectionOf(open());
    expect([error?.code, error?.message.includes(message)]).toEqual([code, true]);
  });
}

test('does not begin without a list of checksums', async () => {
  const { open, folder } = await image();
  await rm(join(folder, 'sha256sum'));
  expect(await rejectionOf(open())).toMatchObject({ code: 'PAYLOAD_UNREADABLE' });
});

test('opens no file before it is read', async () => {
  const { open, cacheFolder } = await image();
  const files = await (await open()).files('None');
  for (const one of files) one.packed();
  await rm(cacheFolder, { recursive: true });
  for (const one of files) await expect(bytesOf(one.packed())).rejects.toThrow('ENOENT');
  for (const one of files) {
    expect(await rejectionOf(bytesOf(one.packed('unchecked')))).toMatchObject({ code: 'PAYLOAD_DAMAGED' });
  }
});
