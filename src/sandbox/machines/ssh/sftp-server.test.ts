import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeWire } from '#base/ssh-wire.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { ContentStore } from '../host/content-store.ts';
import { SimulatedFiles } from '../host/files.ts';
import { request, status } from './sftp-packets.ts';
import { SftpServer } from './sftp-server.ts';

let store: ContentStore;
let files: SimulatedFiles;
let server: SftpServer;
let busy: string[];
let whole: [string, number][];
let renamed: [string, string][];
let uploaded: number[];
let fail: Error | undefined;

beforeEach(async () => {
  store = await ContentStore.open();
  files = new SimulatedFiles({
    store,
    clock: manualClock(0),
    diskBytes: () => 1_000_000,
    pace: () => Promise.resolve(),
  });
  await files.makeDirectory('C:\\k');
  [busy, whole, renamed, uploaded, fail] = [[], [], [], [], undefined];
  server = new SftpServer(
    {
      files,
      diskBytes: () => 1_000_000,
      mayWrite: path => !path.startsWith('C:\\Windows'),
      isInUse: path => busy.includes(path),
      onUpload: async bytes => {
        uploaded.push(bytes);
        if (fail !== undefined) throw fail;
      },
      onFile: (path, bytes) => void whole.push([path, bytes]),
      onRename: (from, to) => void renamed.push([from, to]),
    },
    new AbortController().signal,
  );
});
afterEach(async () => {
  await server.end();
  await store.close();
});

const number = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const long = (value: number) => Buffer.concat([number(Math.floor(value / 2 ** 32)), number(value % 2 ** 32)]);
const noAttributes = number(0);

/** What comes back: the status as a number, a handle as a text, data as bytes, anything else as its type. */
async function ask(type: number, ...parts: Uint8Array[]): Promise<number | string | Buffer> {
  const answer = Buffer.from(await server.answer(Buffer.concat([Buffer.of(type), number(9), ...parts])));
  expect(answer.readUInt32BE(5)).toBe(9);
  const length = () => answer.readUInt32BE(9);
  switch (answer[4] ?? 0) {
    case 101:
      return answer.readUInt32BE(9);
    case 102:
      return answer.subarray(13, 13 + length()).toString();
    case 103:
      return answer.subarray(13, 13 + length());
    default:
      return `type ${answer[4]}`;
  }
}

const [read, write, create] = [0x1, 0x2 | 0x8 | 0x10, 0x8];
const open = (path: string, flags: number) =>
  ask(request.open, writeWire(path), number(flags), noAttributes) as Promise<string>;
const put = (handle: string, data: string | Uint8Array, at = 0) =>
  ask(request.write, writeWire(handle), long(at), writeWire(data));
const close = (handle: string) => ask(request.close, writeWire(handle));
const onPath = (type: number, path: string) => ask(type, writeWire(path), noAttributes);
const rename = (from: string, to: string) => ask(request.rename, writeWire(from, to));
const replace = (from: string, to: string) => ask(request.extended, writeWire('posix-rename@openssh.com', from, to));

async function upload(path: string, text: string): Promise<void> {
  const handle = await open(path, write);
  expect([await put(handle, text), await close(handle)]).toEqual([status.ok, status.ok]);
}

test('a file can be written in chunks and read back', async () => {
  const handle = await open('/C:/k/x', write);
  await put(handle, 'hello ');
  await put(handle, 'world', 6);
  expect(await close(handle)).toBe(status.ok);
  expect(await files.read('C:\\k\\x')).toBe('hello world');
  const reading = await open('/C:/k/x', read);
  const part = (at: number, length: number) => ask(request.read, writeWire(reading), long(at), number(length));
  expect([String(await part(0, 5)), String(await part(6, 100)), await part(11, 1)]).toEqual([
    'hello',
    'world',
    status.endOfFile,
  ]);
  expect(await close(reading)).toBe(status.ok);
});

test('reports completed files and all uploaded bytes', async () => {
  await upload('/C:/k/x', 'hello');
  const handle = await open('/C:/k/y', write);
  await put(handle, 'half');
  await server.end();
  expect([whole, uploaded]).toEqual([[['C:\\k\\x', 5]], [5, 4]]);
});

test('a partial upload stays when the session ends', async () => {
  const handle = await open('/C:/k/x', write);
  await put(handle, 'half');
  await server.end();
  expect(await files.read('C:\\k\\x')).toBe('half');
});

test('a file opened for writing exists, and empty', async () => {
  await upload('/C:/k/x', 'old');
  const handle = await open('/C:/k/x', write);
  expect(await files.read('C:\\k\\x')).toBe('');
  await close(handle);
});

const opens: [string, () => Promise<unknown>, number][] = [
  ['a file to be read that is not there', () => open('/C:/k/none', read), status.noSuchFile],
  ['a file in a folder that is not there', () => open('/C:/none/x', write), status.noSuchFile],
  ['a folder', () => open('/C:/k', write), status.failure],
  ['a file that may not be made', () => open('/C:/k/none', 0x2), status.failure],
  [
    'a file that must be new',
    async () => {
      await upload('/C:/k/x', '');
      return open('/C:/k/x', 0x2 | create | 0x20);
    },
    status.failure,
  ],
  [
    'a program that runs',
    () => {
      busy.push('C:\\k\\a.exe');
      return open('/C:/k/a.exe', write);
    },
    status.denied,
  ],
];
for (const [name, act, code] of opens) {
  test(`does not open ${name}`, async () => expect(await act()).toBe(code));
}

const lost: [string, () => Promise<unknown>][] = [
  ['close', () => close('99')],
  ['read', () => ask(request.read, writeWire('99'), long(0), number(1))],
  ['write', () => put('99', 'x')],
  ['list', () => ask(request.readdir, writeWire('99'))],
];
for (const [name, act] of lost) {
  test(`a handle that is not open cannot be used to ${name}`, async () => expect(await act()).toBe(status.failure));
}

test('a handle for reading cannot be written, nor the other way round', async () => {
  await upload('/C:/k/x', 'x');
  const [reading, writing] = [await open('/C:/k/x', read), await open('/C:/k/y', write)];
  expect(await put(reading, 'y')).toBe(status.failure);
  expect(await ask(request.read, writeWire(writing), long(0), number(1))).toBe(status.failure);
});

test('a file deleted while open cannot be read', async () => {
  await files.writeChunks(
    'C:\\k\\big',
    (async function* bytes() {
      yield Buffer.alloc(100_000);
    })(),
  );
  const handle = await open('/C:/k/big', read);
  await files.remove('C:\\k\\big');
  expect(await ask(request.read, writeWire(handle), long(0), number(10))).toBe(status.failure);
});

test('a full disk is a failure, and what fitted stays', async () => {
  const handle = await open('/C:/k/x', write);
  expect(await put(handle, Buffer.alloc(900_000))).toBe(status.ok);
  expect(await put(handle, Buffer.alloc(200_000), 900_000)).toBe(status.failure);
  await close(handle);
  expect((await files.stat('C:\\k\\x'))?.bytes).toBe(900_000);
});

test('reports free disk space', async () => {
  await upload('/C:/k/x', 'x'.repeat(1000));
  expect(await ask(request.extended, writeWire('statvfs@openssh.com', '/C:/k'))).toBe('type 201');
});

test('reports its limits', async () => {
  expect(await ask(request.extended, writeWire('limits@openssh.com'))).toBe('type 201');
});

test('a failing upload ends the session', async () => {
  const handle = await open('/C:/k/x', write);
  fail = new Error('the cable was pulled');
  await expect(put(handle, 'x')).rejects.toThrow('the cable was pulled');
});

const stats: [string, string, number | string][] = [
  ['a file', '/C:/k/x', 'type 105'],
  ['a folder', '/C:/k', 'type 105'],
  ['nothing', '/C:/k/none', status.noSuchFile],
];
for (const [name, path, want] of stats) {
  for (const type of [request.stat, request.lstat]) {
    test(`returns the attributes of ${name} (${type})`, async () => {
      await upload('/C:/k/x', 'x');
      expect(await onPath(type, path)).toBe(want);
    });
  }
}

test('returns the attributes of an open file', async () => {
  const handle = await open('/C:/k/x', write);
  expect(await ask(request.fstat, writeWire(handle))).toBe('type 105');
  expect(await ask(request.fstat, writeWire('99'))).toBe(status.noSuchFile);
});

test('ignores attributes', async () => {
  const handle = await open('/C:/k/x', write);
  expect(await onPath(request.setstat, '/C:/k/x')).toBe(status.ok);
  expect(await ask(request.fsetstat, writeWire(handle), noAttributes)).toBe(status.ok);
});

test('lists a folder name by name', async () => {
  for (const name of ['a', 'b']) await upload(`/C:/k/${name}`, name);
  await onPath(request.mkdir, '/C:/k/sub');
  const handle = (await onPath(request.opendir, '/C:/k')) as string;
  const answers: unknown[] = [];
  for (let answer: unknown; answer !== status.endOfFile; ) {
    answer = await ask(request.readdir, writeWire(handle));
    answers.push(answer);
  }
  expect(answers).toEqual(['type 104', 'type 104', 'type 104', status.endOfFile]);
  expect(await close(handle)).toBe(status.ok);
  expect(await onPath(request.opendir, '/C:/none')).toBe(status.noSuchFile);
});

const folders: [string, string, number][] = [
  ['makes a folder', '/C:/k/new', status.ok],
  ['rejects one that is there', '/C:/k', status.failure],
  ['rejects one where a file is', '/C:/k/x', status.failure],
  ['rejects one without a folder above', '/C:/none/new', status.noSuchFile],
];
for (const [name, path, code] of folders) {
  test(name, async () => {
    await upload('/C:/k/x', 'x');
    expect(await onPath(request.mkdir, path)).toBe(code);
  });
}

test('removes an empty folder and no other', async () => {
  await upload('/C:/k/x', 'x');
  expect(await onPath(request.rmdir, '/C:/k')).toBe(status.failure);
  await onPath(request.remove, '/C:/k/x');
  expect(await onPath(request.rmdir, '/C:/k')).toBe(status.ok);
  expect(await onPath(request.rmdir, '/C:/k')).toBe(status.noSuchFile);
});

test('a user without the right to write a folder does not remove it', async () => {
  await files.makeDirectory('C:\\Windows\\own');
  expect(await onPath(request.rmdir, '/C:/Windows/own')).toBe(status.denied);
});

test('removes a file that is there and not in use', async () => {
  await upload('/C:/k/x', 'x');
  await upload('/C:/k/a.exe', 'x');
  busy.push('C:\\k\\a.exe');
  expect(await onPath(request.remove, '/C:/k/x')).toBe(status.ok);
  expect(await onPath(request.remove, '/C:/k/x')).toBe(status.noSuchFile);
  expect(await onPath(request.remove, '/C:/k/a.exe')).toBe(status.denied);
});

const renames: [string, (from: string, to: string) => Promise<unknown>, string, string, number][] = [
  ['renames', (from, to) => rename(from, to), '/C:/k/a', '/C:/k/new', status.ok],
  ['does not rename over another one', (from, to) => rename(from, to), '/C:/k/a', '/C:/k/b', status.failure],
  ['replaces another one on request', (from, to) => replace(from, to), '/C:/k/a', '/C:/k/b', status.ok],
  ['does not rename what is not there', (from, to) => replace(from, to), '/C:/k/none', '/C:/k/b', status.noSuchFile],
  ['does not rename into no folder', (from, to) => replace(from, to), '/C:/k/a', '/C:/none/a', status.noSuchFile],
  ['does not replace a folder', (from, to) => replace(from, to), '/C:/k/a', '/C:/k', status.failure],
  ['does not replace a program that runs', (from, to) => replace(from, to), '/C:/k/a', '/C:/k/p.exe', status.denied],
];
for (const [name, act, from, to, code] of renames) {
  test(name, async () => {
    for (const file of ['a', 'b', 'p.exe']) await upload(`/C:/k/${file}`, file);
    busy.push('C:\\k\\p.exe');
    expect(await act(from, to)).toBe(code);
    const target = `C:${to.slice(3).replaceAll('/', '\\')}`;
    if (code === status.ok) expect(await files.read(target)).toBe('a');
    expect(renamed).toEqual(code === status.ok ? [['C:\\k\\a', target]] : []);
  });
}

test('returns the working directory', async () => {
  expect(await onPath(request.realpath, '.')).toBe('type 104');
});

test('rejects unknown requests and extensions', async () => {
  expect(await ask(19, writeWire('/C:/k/x'))).toBe(status.unsupported);
  expect(await ask(request.extended, writeWire('hardlink@openssh.com', 'a', 'b'))).toBe(status.unsupported);
});

test('answers the greeting with its version', async () => {
  const answer = await server.answer(Buffer.concat([Buffer.of(request.init), number(3)]));
  expect(answer[4]).toBe(2);
});

test('a malformed packet ends the session and changes nothing', async () => {
  await upload('/C:/k/x', 'x');
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.values(request)),
      fc.uint8Array({ maxLength: 40 }),
      async (type, body) => {
        // Requests for that path are whole ones, so that only broken ones are looked at here.
        const answer = server.answer(Buffer.concat([Buffer.of(type), body])).then(
          () => 'answered',
          (error: Error) => error.message,
        );
        expect(await answer).toMatch(/^answered$|is malformed/);
      },
    ),
    { numRuns: 1000 },
  );
  expect(await files.read('C:\\k\\x')).toBe('x');
});
