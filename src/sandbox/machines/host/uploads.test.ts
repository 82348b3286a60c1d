import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { authorizedKeysFile, file } from '#contract/paths.ts';
import { codeOf, startHost, type TestHost } from '../../../../test/kit/simulated-host.ts';
import { findFault } from '../faults.ts';

const path = 'C:\\k\\folder\\bundle';

async function uploaded(made: TestHost, content: Uint8Array, to = path): Promise<void> {
  await using connection = await made.connect();
  await connection.upload(to, content);
}

/** All files but the one that every host has. */
const uploads = ({ host }: TestHost) => host.files.paths().filter(path => path !== authorizedKeysFile);

for (const bytes of [0, 1, 255 * 1024, 255 * 1024 + 1, 5_000_000]) {
  test(`an upload of ${bytes} bytes arrives whole, in folders that are made for it`, async () => {
    await using made = await startHost();
    const content = randomBytes(bytes);
    await uploaded(made, content);
    expect(await made.host.files.sha256(path)).toBe(sha256(content));
    expect(uploads(made)).toEqual([path]);
    expect(made.host.stats).toMatchObject({
      uploads: 1,
      uploadedBytes: bytes,
      sftpSessions: 1,
      received: [{ path, bytes }],
    });
  });
}

test('an upload replaces what was there', async () => {
  await using made = await startHost();
  await uploaded(made, Buffer.from('old'));
  await uploaded(made, Buffer.from('new'));
  expect([await made.host.files.read(path), uploads(made)]).toEqual(['new', [path]]);
});

test('what was uploaded can be downloaded', async () => {
  await using made = await startHost();
  const content = randomBytes(100_000);
  await uploaded(made, content);
  await using connection = await made.connect();
  expect(Buffer.from(await connection.download(path)).equals(content)).toBe(true);
  expect(await codeOf(() => connection.download('C:\\k\\none'))).toBe('HOST_FILE_MISSING');
});

test('reports the progress in bytes', async () => {
  await using made = await startHost();
  await using connection = await made.connect();
  const seen: number[] = [];
  await connection.upload(path, Buffer.alloc(1_000_000), { onProgress: bytes => void seen.push(bytes) });
  expect(seen.at(-1)).toBe(1_000_000);
  expect(seen).toEqual(seen.toSorted((one, other) => one - other));
});

test('several files at once over one session', async () => {
  await using made = await startHost();
  await using connection = await made.connect();
  const names = Array.from({ length: 8 }, (_, index) => `C:\\k\\file-${index}`);
  await Promise.all(names.map((name, index) => connection.upload(name, Buffer.alloc(300_000, index))));
  expect(uploads(made)).toEqual(names);
  expect(made.host.stats).toMatchObject({ uploads: 8, sftpSessions: 1 });
});

test('the same content in many files is on the disk of this machine once', async () => {
  await using made = await startHost();
  const content = randomBytes(500_000);
  for (const name of ['C:\\k\\a', 'C:\\k\\b', 'C:\\k\\c']) await uploaded(made, content, name);
  expect([made.store.size, uploads(made).length]).toEqual([1, 3]);
});

test('a full disk is reported and leaves no partial file', async () => {
  await using made = await startHost(findFault('full-disk'));
  expect(await codeOf(() => uploaded(made, Buffer.alloc(20_000_000)))).toBe('HOST_DISK_FULL');
  expect(uploads(made)).toEqual([]);
  await uploaded(made, Buffer.alloc(1_000_000));
});

test('a broken connection loses the upload; the next one succeeds', async () => {
  await using made = await startHost(findFault('dropped-connection'));
  expect(await codeOf(() => uploaded(made, Buffer.alloc(3_000_000)))).toBe('HOST_CONNECTION_LOST');
  expect(made.host.stats.uploads).toBe(0);
  await uploaded(made, Buffer.alloc(3_000_000));
  expect(made.host.stats.uploads).toBe(1);
  expect((await made.host.files.stat(path))?.bytes).toBe(3_000_000);
});

test('a power cut loses the upload, and the host boots again', async () => {
  await using made = await startHost({
    traits: { mishaps: [{ kind: 'power cut', on: 'upload', times: 1, afterBytes: 500_000 }] },
  });
  expect(await codeOf(() => uploaded(made, Buffer.alloc(3_000_000)))).toBe('HOST_CONNECTION_LOST');
  await expect.poll(() => made.host.isOn).toBe(true);
  expect(made.host.stats.reboots).toBe(1);
  await uploaded(made, Buffer.alloc(3_000_000));
});

test('an upload that hangs is given up by its deadline', async () => {
  await using made = await startHost({
    traits: { mishaps: [{ kind: 'hang', on: 'upload', times: 1, afterBytes: 100_000 }] },
  });
  await using connection = await made.connect();
  const options = { stallTimeoutMs: 300 };
  expect(await codeOf(() => connection.upload(path, Buffer.alloc(1_000_000), options))).toBe('HOST_TRANSFER_TIMEOUT');
});

test('a slow network and a slow disk take their time', async () => {
  for (const times of [{ uploadBytesPerSecond: 2_000_000 }, { diskBytesPerSecond: 2_000_000 }]) {
    await using made = await startHost({ speed: 1, times: { ...times, greetingMs: 0 } });
    const startMs = performance.now();
    await uploaded(made, Buffer.alloc(600_000));
    expect(performance.now() - startMs).toBeGreaterThan(250);
  }
});

test('a program that runs cannot be replaced by an upload, until it has ended', async () => {
  await using made = await startHost();
  await made.install(file.csiProxy);
  await made.host.services.create('csi-proxy', {
    command: file.csiProxy,
    description: '',
    dependencies: [],
    startType: 'manual',
    recovery: undefined,
  });
  await made.host.services.start('csi-proxy');
  expect(await codeOf(() => uploaded(made, Buffer.from('new'), file.csiProxy))).toBe('HOST_FILE_DENIED');
  await expect.poll(async () => (await made.host.services.query('csi-proxy'))?.state).toBe('running');
  await made.host.services.stop('csi-proxy');
  await expect.poll(async () => (await made.host.services.query('csi-proxy'))?.state).toBe('stopped');
  await uploaded(made, Buffer.from('new'), file.csiProxy);
  expect(await made.host.files.read(file.csiProxy)).toBe('new');
});

test('a removed host leaves no files on this machine', async () => {
  const made = await startHost();
  await uploaded(made, randomBytes(500_000));
  expect(made.store.size).toBe(1);
  await made.host.stop();
  expect(made.store.size).toBe(0);
  await made.store.close();
});
