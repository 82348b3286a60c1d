import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { MemoryFiles, status } from '../../../test/kit/memory-files.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { makeKey, type SshServer, type SshServerSettings, startSshServer } from '../../../test/kit/ssh-server.ts';
import { startRelay } from '../../../test/kit/tcp-relay.ts';
import type { ConnectOptions, HostConnection } from '../host.ts';
import { connect } from './connect.ts';

const { key } = makeKey();
const path = 'C:\\k\\x.exe';

interface Bench extends AsyncDisposable {
  server: SshServer;
  files: MemoryFiles;
  host: HostConnection;
}

const open = (port: number, options: ConnectOptions = {}) =>
  connect({ address: '127.0.0.1', port, username: 'a', privateKeys: [key], pinnedKey: undefined }, options);

async function bench(settings: SshServerSettings = {}, options: ConnectOptions = {}): Promise<Bench> {
  const files = new MemoryFiles();
  files.folders.add('/C:/k');
  const server = await startSshServer({ files, ...settings });
  const host = await open(server.port, options);
  return {
    server,
    files,
    host,
    async [Symbol.asyncDispose]() {
      await host.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const pattern = Uint8Array.from({ length: 253 }, (_, index) => index);
const bytes = (length: number) => Buffer.alloc(length, pattern);
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

async function* slowly(total: number, step: number): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < total; sent += step) {
    await pause(5);
    yield bytes(step);
  }
}

test('a connection downloads the file that it uploaded', async () => {
  await using made = await bench();
  const progress: number[] = [];
  await made.host.upload(path, bytes(700_000), { onProgress: sent => progress.push(sent) });
  expect(Buffer.from(await made.host.download(path)).equals(bytes(700_000))).toBe(true);
  expect(progress.at(-1)).toBe(700_000);
  expect([...made.files.files.keys()]).toEqual(['/C:/k/x.exe']);
});

const servers = ['OpenSSH_for_Windows_9.5', 'OpenSSH_for_Windows_8.1', 'OpenSSH_7.4', 'other'];
test.each(servers)('pieces that come one after another in the same memory arrive all the same (%s)', async ident => {
  await using made = await bench({ ident });
  const whole = bytes(1_500_000);
  const memory = Buffer.alloc(300_000);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < whole.length; at += memory.length) {
      whole.copy(memory, 0, at, at + memory.length);
      yield memory;
    }
  }
  await made.host.upload(path, { size: whole.length, chunks: pieces() });
  expect(made.files.files.get('/C:/k/x.exe')?.equals(whole)).toBe(true);
});

test('upload uses small writes for old servers of Windows', async () => {
  const sizes: number[] = [];
  await using made = await bench({ ident: 'OpenSSH_for_Windows_8.1' });
  const write = made.files.write.bind(made.files);
  made.files.write = (handle, data, at) => {
    sizes.push(data.length);
    return write(handle, data, at);
  };
  await made.host.upload(path, bytes(300_000));
  expect(sizes).toEqual([102_400, 102_400, 95_200]);
});

test('upload uses large writes for new servers', async () => {
  await using made = await bench();
  await made.host.upload(path, bytes(255 * 1024 * 2));
  // The library cuts a little earlier than OpenSSH would.
  expect(made.files.log.filter(line => line.startsWith('write')).length).toBeLessThanOrEqual(4);
});

test('concurrent transfers share one SFTP session', async () => {
  await using made = await bench();
  const names = Array.from({ length: 8 }, (_, index) => `C:\\k\\${index}`);
  await Promise.all(names.map(name => made.host.upload(name, bytes(1000))));
  await made.host.download(names[3] ?? '');
  expect(made.files.files.size).toBe(8);
  expect(made.host.usage()).toMatchObject({ sftpSessions: 1, execSessions: 0 });
});

test('usage counts bytes in both directions', async () => {
  await using made = await bench();
  const before = made.host.usage();
  await made.host.upload(path, bytes(500_000));
  const between = made.host.usage();
  await made.host.download(path);
  expect(between.bytesSent - before.bytesSent).toBeGreaterThan(500_000);
  expect(between.bytesSent - before.bytesSent).toBeLessThan(520_000);
  expect(made.host.usage().bytesReceived - between.bytesReceived).toBeGreaterThan(500_000);
});

test('every transfer reports a host without SFTP', async () => {
  const server = await startSshServer();
  await using host = await open(server.port);
  expect(await rejectionOf(host.upload(path, bytes(1)))).toMatchObject({ code: 'HOST_SFTP_MISSING' });
  expect(await rejectionOf(host.download(path))).toMatchObject({ code: 'HOST_SFTP_MISSING' });
  await server[Symbol.asyncDispose]();
});

test('upload reports a write failure with the path', async () => {
  await using made = await bench();
  made.files.fault = operation => (operation === 'write' ? status.denied : undefined);
  const error = await rejectionOf(made.host.upload(path, bytes(3_000_000)));
  expect(error).toMatchObject({ code: 'HOST_FILE_DENIED' });
  made.files.fault = () => undefined;
  await made.host.upload(path, bytes(10));
  expect(made.host.usage().sftpSessions).toBe(1);
});

test('upload reports a lost connection at once', async () => {
  await using made = await bench();
  const chunks = slowly(1e9, 10_000);
  const sending = rejectionOf(
    made.host.upload(path, { size: 1e9, chunks }, { onProgress: sent => sent > 50_000 && made.server.cut() }),
  );
  const started = performance.now();
  expect(await sending).toMatchObject({ code: 'HOST_CONNECTION_LOST' });
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(made.files.files.has('/C:/k/x.exe')).toBe(false);
  // The source is closed as well, at the next piece.
  await pause(50);
  expect((await chunks.next()).done).toBe(true);
});

const silences: [operation: string, run: (host: HostConnection) => Promise<unknown>, says: string][] = [
  ['write', host => host.upload(path, bytes(10), { stallTimeoutMs: 100 }), 'made no progress for 0.1 s'],
  ['write', host => host.upload(path, bytes(10), { timeoutMs: 100 }), 'took longer than 0.1 s'],
  ['open', host => host.upload(path, bytes(10), { timeoutMs: 100 }), 'writing "C:\\\\k\\\\x.exe" took longer'],
  ['rename', host => host.upload(path, bytes(10), { timeoutMs: 100 }), 'took longer than 0.1 s'],
  ['open', host => host.download(path, { timeoutMs: 100 }), 'reading "C:\\\\k\\\\x.exe" took longer'],
];
for (const [operation, run, says] of silences) {
  test(`a disk that does not answer to "${operation}": ${says}`, async () => {
    await using made = await bench();
    made.files.fault = done => (done === operation ? 'silence' : undefined);
    const error = await rejectionOf(run(made.host));
    expect(error).toMatchObject({ code: 'HOST_TRANSFER_TIMEOUT' });
    expect(error?.message).toContain(says);
  });
}

test('upload does not report a slow transfer as stalled', async () => {
  await using made = await bench();
  const [started, size] = [performance.now(), 9_600_000];
  // Hundreds of pauses that are each far shorter than the limit, and together longer.
  await made.host.upload(path, { size, chunks: slowly(size, 32_000) }, { stallTimeoutMs: 1400 });
  expect(performance.now() - started).toBeGreaterThan(1400);
  expect(made.files.files.get('/C:/k/x.exe')).toHaveLength(size);
});

/** An upload that was begun and given up. */
async function givenUp(host: HostConnection): Promise<void> {
  const controller = new AbortController();
  const sending = host.upload(path, { size: 1e9, chunks: slowly(1e9, 10_000) }, { signal: controller.signal });
  setTimeout(() => controller.abort(new Error('not wanted')), 60);
  await expect(sending).rejects.toThrow('not wanted');
}

test('an aborted upload leaves no file and keeps the connection', async () => {
  await using made = await bench();
  await givenUp(made.host);
  await made.host.upload('C:\\k\\y', bytes(10));
  await expect.poll(() => [...made.files.files.keys()]).toEqual(['/C:/k/y']);
});

test('upload cleans up after an aborted attempt before the next one starts', async () => {
  await using made = await bench();
  for (let round = 0; round < 3; round += 1) {
    await givenUp(made.host);
    await made.host.upload(path, bytes(100_000 + round));
    expect([...made.files.files].map(([name, { length }]) => [name, length])).toEqual([
      ['/C:/k/x.exe', 100_000 + round],
    ]);
  }
});

test('uploads to the same path run in order', async () => {
  await using made = await bench();
  await Promise.all([made.host.upload(path, bytes(700_000)), made.host.upload(path, bytes(300))]);
  expect(made.files.files.get('/C:/k/x.exe')).toHaveLength(300);
  expect(made.files.log.filter(line => line.startsWith('rename'))).toHaveLength(2);
});

test('a failed upload does not block the next one', async () => {
  await using made = await bench();
  made.files.fault = operation => (operation === 'write' ? status.denied : undefined);
  const failing = rejectionOf(made.host.upload(path, bytes(10)));
  const next = failing.then(() => {
    made.files.fault = () => undefined;
    return made.host.upload(path, bytes(20));
  });
  expect(await failing).toMatchObject({ code: 'HOST_FILE_DENIED' });
  await next;
  expect(made.files.files.get('/C:/k/x.exe')).toHaveLength(20);
});

test('an upload that is aborted while it waits never starts', async () => {
  await using made = await bench();
  made.files.fault = operation => (operation === 'close' ? 'silence' : undefined);
  const first = rejectionOf(made.host.upload(path, bytes(10), { timeoutMs: 100 }));
  const second = rejectionOf(made.host.upload(path, bytes(20), { timeoutMs: 50 }));
  expect(await second).toMatchObject({ code: 'HOST_TRANSFER_TIMEOUT' });
  expect(await first).toMatchObject({ code: 'HOST_TRANSFER_TIMEOUT' });
  expect(made.files.log.filter(line => line.startsWith('open'))).toHaveLength(1);
});

test('operations leave no listeners on the signal of the caller', async () => {
  await using made = await bench({ onExec: (_, channel) => channel.exit(0) ?? channel.end() });
  const { signal } = new AbortController();
  for (let round = 0; round < 20; round += 1) {
    await made.host.exec('x', { signal });
    await made.host.upload(path, bytes(10), { signal });
  }
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  expect(getEventListeners(made.host.ended, 'abort')).toHaveLength(0);
});

test('a connection to a frozen host is lost after four keep-alive intervals', async () => {
  await using made = await bench({ onExec: () => undefined });
  await using relay = await startRelay(made.server.port);
  await using host = await open(relay.port, { keepAliveMs: 50 });
  const running = rejectionOf(host.exec('x'));
  await pause(30);
  relay.freeze();
  const started = performance.now();
  const error = await running;
  expect(error).toMatchObject({ code: 'HOST_CONNECTION_LOST' });
  expect(error?.message).toContain('no data received for 0.2 s');
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(host.ended.reason).toBe(error);
});

test('a connection to an idle host stays open', async () => {
  await using made = await bench({}, { keepAliveMs: 30 });
  await pause(500);
  expect(made.host.ended.aborted).toBe(false);
  await made.host.upload(path, bytes(10));
});

test('all pending operations fail with the same reason when the host reboots', async () => {
  await using made = await bench({ onExec: () => undefined });
  const running = [made.host.exec('a'), made.host.exec('b')].map(result => rejectionOf(result));
  await pause(30);
  made.server.cut();
  const [one, other] = await Promise.all(running);
  expect(one).toBe(other);
  expect(made.host.ended.reason).toBe(one);
  expect(one?.message).toMatch(/^127\.0\.0\.1: the SSH connection was lost/);
});

test('close can be called twice at the same time', async () => {
  await using made = await bench();
  await Promise.all([made.host.close(), made.host.close()]);
  await made.host.close();
  expect(made.host.ended.aborted).toBe(true);
  await pause(50);
  expect(made.server.connections()).toBe(0);
});

test('close fails pending and later operations', async () => {
  await using made = await bench({ onExec: () => undefined });
  const running = [made.host.exec('x'), made.host.upload(path, { size: 1e9, chunks: slowly(1e9, 1000) })];
  const ended = Promise.all(running.map(result => rejectionOf(result)));
  await pause(50);
  await made.host.close();
  for (const error of await ended) expect(error?.message).toBe('127.0.0.1: the SSH connection was closed');
  for (const late of [made.host.exec('x'), made.host.upload(path, bytes(1)), made.host.download(path)])
    expect(await rejectionOf(late)).toMatchObject({ code: 'HOST_CONNECTION_LOST' });
});

test('close does not wait for a frozen host', async () => {
  await using made = await bench();
  await using relay = await startRelay(made.server.port);
  const host = await open(relay.port);
  relay.freeze();
  const started = performance.now();
  await host.close();
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('close resolves for a lost connection', async () => {
  await using made = await bench();
  made.server.cut();
  await pause(50);
  await made.host.close();
  expect(made.host.ended.reason).toMatchObject({ code: 'HOST_CONNECTION_LOST' });
});

test('"await using" closes the connection', async () => {
  await using made = await bench();
  {
    await using second = await open(made.server.port);
    expect(second.ended.aborted).toBe(false);
    expect(made.server.connections()).toBe(2);
  }
  await pause(50);
  expect(made.server.connections()).toBe(1);
});
