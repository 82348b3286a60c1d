import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ssh2, { type Client, type FileEntryWithStats, type SFTPWrapper, type Stats } from 'ssh2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { printPublicKey } from '#host/keys/public-key.ts';
import { makeKey } from '../../../../test/kit/ssh-server.ts';
import { startHost, type TestHost } from '../../../../test/kit/simulated-host.ts';

/** The SFTP server of a simulated host with the client of ssh2, as a user may try with scp or sftp. */

let made: TestHost;
let client: Client;
let sftp: SFTPWrapper;
let folder: string;

beforeEach(async () => {
  const { text, key } = makeKey();
  made = await startHost();
  await made.host.setAuthorizedKeys([printPublicKey(key.publicKey)]);
  const { port } = made.host.route() as { port: number };
  client = new ssh2.Client();
  await new Promise<void>((resolve, reject) => {
    client.once('ready', () => resolve()).once('error', reject);
    client.connect({ host: '127.0.0.1', port, username: 'Administrator', privateKey: text });
  });
  sftp = await promisify<SFTPWrapper>(done => client.sftp(done as never))();
  folder = mkdtempSync(join(tmpdir(), 'wmco-sftp-'));
  await made.host.files.makeDirectory('C:\\k');
});
afterEach(async () => {
  client.end();
  await made[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const local = (name: string) => join(folder, name);
const call = <T>(start: (done: (error: Error | undefined | null, value?: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(error) : resolve(value as T)));
  });

for (const bytes of [0, 100, 1_000_000]) {
  test(`a file of ${bytes} bytes can be uploaded and downloaded`, async () => {
    const content = randomBytes(bytes);
    writeFileSync(local('in'), content);
    await call(done => sftp.fastPut(local('in'), '/C:/k/file', done));
    expect((await made.host.files.stat('C:\\k\\file'))?.bytes).toBe(bytes);
    await call(done => sftp.fastGet('/C:/k/file', local('out'), done));
    expect(readFileSync(local('out')).equals(content)).toBe(true);
  });
}

test('streams work in both directions', async () => {
  await call<void>(done => {
    const stream = sftp.createWriteStream('/C:/k/stream');
    stream.once('close', () => done(undefined)).once('error', done);
    stream.write('one ');
    stream.end('two');
  });
  expect(await made.host.files.read('C:\\k\\stream')).toBe('one two');
  const text = await call<string>(done => sftp.readFile('/C:/k/stream', 'utf8', done as never));
  expect(text).toBe('one two');
});

test('folders are made, listed, and removed when they are empty', async () => {
  await call(done => sftp.mkdir('/C:/k/sub', done));
  await call(done => sftp.writeFile('/C:/k/sub/a.txt', 'a', done));
  await call(done => sftp.writeFile('/C:/k/sub/b.txt', 'bb', done));
  const entries = await call<FileEntryWithStats[]>(done => sftp.readdir('/C:/k/sub', done));
  expect(entries.map(({ filename, attrs }) => [filename, attrs.size])).toEqual([
    ['a.txt', 1],
    ['b.txt', 2],
  ]);
  await expect(call(done => sftp.rmdir('/C:/k/sub', done))).rejects.toThrow();
  for (const name of ['a.txt', 'b.txt']) await call(done => sftp.unlink(`/C:/k/sub/${name}`, done));
  await call(done => sftp.rmdir('/C:/k/sub', done));
  await expect(call(done => sftp.readdir('/C:/k/sub', done))).rejects.toMatchObject({ code: 2 });
});

test('files and folders have different attributes', async () => {
  await call(done => sftp.writeFile('/C:/k/a.txt', 'abc', done));
  const file = await call<Stats>(done => sftp.stat('/C:/k/a.txt', done));
  const directory = await call<Stats>(done => sftp.lstat('/C:/k', done));
  expect([file.isFile(), file.isDirectory(), file.size]).toEqual([true, false, 3]);
  expect([directory.isFile(), directory.isDirectory()]).toEqual([false, true]);
  expect(Math.abs(file.mtime * 1000 - Date.now())).toBeLessThan(60_000);
  await expect(call(done => sftp.stat('/C:/k/none', done))).rejects.toMatchObject({ code: 2 });
});

test('a rename replaces only when it is asked to', async () => {
  for (const name of ['a', 'b']) await call(done => sftp.writeFile(`/C:/k/${name}`, name, done));
  await expect(call(done => sftp.rename('/C:/k/a', '/C:/k/b', done))).rejects.toMatchObject({ code: 4 });
  await call(done => sftp.ext_openssh_rename('/C:/k/a', '/C:/k/b', done));
  expect([made.host.files.has('C:\\k\\a'), await made.host.files.read('C:\\k\\b')]).toEqual([false, 'a']);
});

test('reports the working directory and the free space', async () => {
  expect(await call<string>(done => sftp.realpath('.', done))).toBe('/C:/Users/Administrator');
  expect(await call<string>(done => sftp.realpath('/C:/k/../x', done))).toBe('/C:/x');
  const space = await call<{ f_frsize: number; f_bavail: number }>(done =>
    sftp.ext_openssh_statvfs('/C:/k', done as never),
  );
  expect(space.f_frsize * space.f_bavail).toBe(made.host.files.freeBytes);
});

test('ignores attributes of a file', async () => {
  await call(done => sftp.writeFile('/C:/k/a', 'a', done));
  await call(done => sftp.chmod('/C:/k/a', 0o600, done));
  await call(done => sftp.utimes('/C:/k/a', 1, 1, done));
  expect((await call<{ mtime: number }>(done => sftp.stat('/C:/k/a', done))).mtime).toBeGreaterThan(1);
});

test('unsupported requests are rejected as on Windows', async () => {
  await expect(call(done => sftp.symlink('/C:/k/a', '/C:/k/b', done))).rejects.toMatchObject({ code: 8 });
  await expect(call(done => sftp.readlink('/C:/k/a', done))).rejects.toMatchObject({ code: 8 });
});

test('writes at any offset of an open file', async () => {
  const handle = await call<Buffer>(done => sftp.open('/C:/k/a', 'w', done));
  await call(done => sftp.write(handle, Buffer.from('world'), 0, 5, 6, done));
  await call(done => sftp.write(handle, Buffer.from('hello '), 0, 6, 0, done));
  await call(done => sftp.close(handle, done));
  expect(await made.host.files.read('C:\\k\\a')).toBe('hello world');
});

test('a shell, a forwarded port and another subsystem are refused, and commands are not', async () => {
  await expect(call(done => client.shell(done))).rejects.toThrow();
  await expect(call(done => client.forwardOut('127.0.0.1', 1, '127.0.0.1', 2, done))).rejects.toThrow();
  await expect(call(done => client.subsys('powershell', done))).rejects.toThrow();
  const output = await call<string>(done =>
    client.exec('hostname', (error, channel) => {
      if (error) return done(error);
      let text = '';
      channel.on('data', (bytes: Buffer) => void (text += bytes.toString())).on('close', () => done(undefined, text));
      return undefined;
    }),
  );
  expect(output).toBe('win-1\r\n');
});

test('a session without SFTP ends without ending the connection', async () => {
  const channel = await call<NodeJS.ReadWriteStream>(done => client.subsys('sftp', done));
  channel.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  channel.resume();
  await new Promise(resolve => channel.once('close', resolve));
  await call(done => sftp.writeFile('/C:/k/still', 'here', done));
  expect(await made.host.files.read('C:\\k\\still')).toBe('here');
});
