import { createHash, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientWith, MemoryFiles, modelSftp, status } from '../../../test/kit/memory-files.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import type { UploadContent } from '../host.ts';
import { SftpSession } from './sftp-session.ts';
import { sendFile, type Upload, writePlan } from './upload.ts';

const small = { chunkBytes: 10, inFlight: 3 };
const target = 'C:\\k\\x.exe';

interface Bench {
  files: MemoryFiles;
  progress: number[];
  controller: AbortController;
  send: (content: UploadContent, more?: Partial<Upload>) => Promise<void>;
  end: (event: string) => void;
  sftp: object;
}

async function bench(extensions = true): Promise<Bench> {
  const files = new MemoryFiles();
  files.folders.add('/C:/k');
  const sftp = modelSftp(files, extensions);
  const session = await SftpSession.open(clientWith(sftp), '10.1.2.3');
  const progress: number[] = [];
  const controller = new AbortController();
  const send: Bench['send'] = (content, more = {}) =>
    sendFile(session, {
      act: { address: '10.1.2.3', verb: 'write', path: target },
      content,
      plan: small,
      onProgress: bytes => progress.push(bytes),
      operation: { signal: controller.signal, progress: () => undefined },
      ...more,
    });
  return { files, progress, controller, send, end: event => sftp.emit(event), sftp };
}

const bytes = (length: number) => Uint8Array.from({ length }, (_, index) => index % 251);

async function* streamOf(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}

for (const length of [0, 1, 9, 10, 11, 30, 31, 100]) {
  test(`a file of ${length} bytes arrives whole under its name`, async () => {
    const { files, send, progress } = await bench();
    await send(bytes(length));
    expect([...files.files.keys()]).toEqual(['/C:/k/x.exe']);
    expect(Uint8Array.from(files.files.get('/C:/k/x.exe') ?? [])).toEqual(bytes(length));
    expect(progress.at(-1) ?? 0).toBe(length);
    expect(files.openHandles).toBe(0);
  });
}

test('uploads a stream with chunks of any size', async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      pieces,
      fc.integer({ min: 1, max: 25 }),
      fc.integer({ min: 1, max: 5 }),
      async (chunks, size, most) => {
        const { files, send } = await bench();
        const whole = Buffer.concat(chunks);
        await send({ size: whole.length, chunks: streamOf(...chunks) }, { plan: { chunkBytes: size, inFlight: most } });
        expect(files.files.get('/C:/k/x.exe')?.equals(whole)).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});

test('no write request exceeds the limit of the host', async () => {
  const { files, send, sftp } = await bench();
  Object.assign(sftp, { _maxWriteLen: 7 });
  await send({ size: 30, chunks: streamOf(bytes(30).subarray(0, 15), bytes(30).subarray(15)) });
  expect(files.log.filter(line => line.startsWith('write'))).toHaveLength(6);
  expect(Uint8Array.from(files.files.get('/C:/k/x.exe') ?? [])).toEqual(bytes(30));
});

test('uploads only the given part of a buffer', async () => {
  const { files, send } = await bench();
  await send(bytes(100).subarray(20, 45));
  expect(files.files.get('/C:/k/x.exe')).toEqual(Buffer.from(bytes(100).subarray(20, 45)));
});

test('limits the number of unanswered writes', async () => {
  const { files, send } = await bench();
  let [open, most] = [0, 0];
  const write = files.write.bind(files);
  files.write = (handle, data, at) => {
    open += 1;
    most = Math.max(most, open);
    setImmediate(() => {
      open -= 1;
    });
    return write(handle, data, at);
  };
  await send(bytes(500));
  expect(most).toBe(small.inFlight);
  expect(files.log.filter(line => line.startsWith('write'))).toHaveLength(50);
});

test('reports acknowledged bytes as progress', async () => {
  const { send, progress } = await bench();
  await send(bytes(95));
  expect(progress).toEqual(progress.toSorted((one, other) => one - other));
  expect(progress).toHaveLength(10);
  expect(progress.at(-1)).toBe(95);
});

test('replaces the old file atomically', async () => {
  const { files, send } = await bench();
  files.files.set('/C:/k/x.exe', Buffer.from('old'));
  await send(bytes(20), {
    onProgress: () => expect(files.files.get('/C:/k/x.exe')?.toString()).toBe('old'),
  });
  expect(files.files.get('/C:/k/x.exe')).toHaveLength(20);
  expect(files.log.at(-1)).toBe('replace /C:/k/x.exe');
});

test('overwrites the rest of an earlier attempt', async () => {
  const { files, send } = await bench();
  files.files.set('/C:/k/x.exe.part', Buffer.alloc(1000));
  await send(bytes(20));
  expect([...files.files].map(([path, { length }]) => [path, length])).toEqual([['/C:/k/x.exe', 20]]);
});

test('deletes and renames on a server without replacing rename', async () => {
  const { files, send } = await bench(false);
  files.files.set('/C:/k/x.exe', Buffer.from('old'));
  await send(bytes(20));
  expect(files.log.slice(-2)).toEqual(['unlink /C:/k/x.exe', 'rename /C:/k/x.exe']);
  expect(files.files.get('/C:/k/x.exe')).toHaveLength(20);
});

test('renames on such a server when no old file exists', async () => {
  const { files, send } = await bench(false);
  await send(bytes(20));
  expect([...files.files.keys()]).toEqual(['/C:/k/x.exe']);
});

test('creates missing folders only', async () => {
  const { files, send } = await bench();
  await send(bytes(20), { act: { address: '10.1.2.3', verb: 'write', path: 'C:\\k\\a\\b\\x' } });
  expect([...files.folders]).toEqual(['/C:', '/C:/k', '/C:/k/a', '/C:/k/a/b']);
  const before = files.log.length;
  await send(bytes(20), { act: { address: '10.1.2.3', verb: 'write', path: 'C:\\k\\a\\b\\y' } });
  expect(files.log.slice(before).filter(line => line.startsWith('mkdir'))).toEqual([]);
});

test('reports a missing drive as a missing folder', async () => {
  const { send } = await bench();
  const error = await rejectionOf(send(bytes(20), { act: { address: '10.1.2.3', verb: 'write', path: 'D:\\x' } }));
  expect(error).toMatchObject({ code: 'HOST_FILE_MISSING' });
  expect(error?.message).toContain('10.1.2.3: writing "D:\\\\x"');
});

const faults: [name: string, operation: string, fault: number, code: string][] = [
  ['the folder is not writable', 'open', status.denied, 'HOST_FILE_DENIED'],
  ['the file cannot be made', 'open', status.failure, 'HOST_FILE_FAILED'],
  ['a write is refused', 'write', status.denied, 'HOST_FILE_DENIED'],
  ['a write fails', 'write', status.failure, 'HOST_FILE_FAILED'],
  ['the file cannot be closed', 'close', status.failure, 'HOST_FILE_FAILED'],
  ['the old file is in use', 'replace', status.denied, 'HOST_FILE_DENIED'],
  ['the old file cannot be replaced', 'replace', status.failure, 'HOST_FILE_FAILED'],
];
for (const [name, operation, fault, code] of faults) {
  test(`when ${name}, the old file stays and nothing is left over`, async () => {
    const { files, send } = await bench();
    files.files.set('/C:/k/x.exe', Buffer.from('old'));
    files.fault = done => (done === operation ? fault : undefined);
    const error = await rejectionOf(send(bytes(200)));
    expect(error).toMatchObject({ code, remedy: expect.stringMatching(/\w/) as string });
    expect(error?.message).toMatch(/^10\.1\.2\.3: writing "C:\\\\k\\\\x\.exe": .*status/);
    await new Promise(resolve => setImmediate(resolve));
    expect(files.files.get('/C:/k/x.exe')?.toString()).toBe('old');
    expect([...files.files.keys()].filter(path => path.endsWith('.part'))).toEqual([]);
  });
}

test('fails when one of many writes fails', async () => {
  const { files, send } = await bench();
  let count = 0;
  files.fault = operation => (operation === 'write' && (count += 1) === 17 ? status.failure : undefined);
  expect(await rejectionOf(send(bytes(500)))).toMatchObject({ code: 'HOST_FILE_FAILED' });
  expect(files.files.has('/C:/k/x.exe')).toBe(false);
});

test('stops soon after a failed write', async () => {
  const { files, send } = await bench();
  files.fault = operation => (operation === 'write' ? status.failure : undefined);
  await rejectionOf(send(bytes(10_000)));
  expect(files.log.filter(line => line.startsWith('write')).length).toBeLessThanOrEqual(small.inFlight + 1);
});

const spaces: [name: string, freeBytes: number, code: string][] = [
  ['less room than is missing', 50, 'HOST_DISK_FULL'],
  ['no room', 0, 'HOST_DISK_FULL'],
  ['room enough', 100_000, 'HOST_FILE_FAILED'],
];
for (const [name, freeBytes, code] of spaces) {
  test(`a write that fails on a disk with ${name} is ${code}`, async () => {
    const { files, send } = await bench();
    files.freeBytes = freeBytes;
    files.fault = operation => (operation === 'write' ? status.failure : undefined);
    const error = await rejectionOf(send(bytes(200)));
    expect(error?.code).toBe(code);
    expect(files.log).toContain('space /C:/k');
  });
}

test('reports the free space of a full disk', async () => {
  const { files, send } = await bench();
  files.freeBytes = 42;
  files.fault = operation => (operation === 'write' ? status.failure : undefined);
  expect((await rejectionOf(send(bytes(200))))?.message).toContain('only 42 bytes left');
});

test('reports a plain failure when the free space is unknown', async () => {
  const { files, send } = await bench(false);
  files.freeBytes = 0;
  files.fault = operation => (operation === 'write' ? status.failure : undefined);
  expect(await rejectionOf(send(bytes(200)))).toMatchObject({ code: 'HOST_FILE_FAILED' });
});

const wrongSizes: [name: string, size: number][] = [
  ['more', 41],
  ['less', 39],
];
for (const [name, size] of wrongSizes) {
  test(`does not put a stream in place that should have ${name} bytes`, async () => {
    const { files, send } = await bench();
    const error = await rejectionOf(send({ size, chunks: streamOf(bytes(25), bytes(15)) }));
    expect(error).toMatchObject({ code: 'INPUT_UNREADABLE' });
    expect(error?.message).toContain(`has 40 bytes instead of ${size}`);
    expect(files.files.has('/C:/k/x.exe')).toBe(false);
  });
}

test('reports a source that fails', async () => {
  const { files, send } = await bench();
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(bytes(20));
    throw new Error('EIO: i/o error, read');
  }
  const error = await rejectionOf(send({ size: 100, chunks: broken() }));
  expect(error).toMatchObject({ code: 'INPUT_UNREADABLE' });
  expect(error?.message).toContain('EIO: i/o error, read');
  expect(files.openHandles).toBe(0);
});

test('closes the source when the upload fails', async () => {
  const { files, send } = await bench();
  let closed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield await Promise.resolve(bytes(10));
    } finally {
      closed = true;
    }
  }
  files.fault = operation => (operation === 'write' ? status.failure : undefined);
  await rejectionOf(send({ size: 1e9, chunks: endless() }));
  expect(closed).toBe(true);
});

test('an error in onProgress fails the upload only', async () => {
  const { send } = await bench();
  const onProgress = () => {
    throw new Error('mistake');
  };
  const error = await rejectionOf(send(bytes(20), { onProgress }));
  expect(error?.message).toContain('mistake');
  await expect(send(bytes(20))).resolves.toBeUndefined();
});

test('closes the source when an upload to a silent host is aborted', async () => {
  const { files, send, controller, end } = await bench();
  files.fault = operation => (operation === 'write' ? 'silence' : undefined);
  let closed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield await Promise.resolve(bytes(10));
    } finally {
      closed = true;
    }
  }
  const sending = send({ size: 1e9, chunks: endless() }).catch(() => undefined);
  await new Promise(resolve => setTimeout(resolve, 20));
  controller.abort(new Error('enough'));
  await new Promise(resolve => setTimeout(resolve, 20));
  expect(closed).toBe(true);
  expect(files.log).toContain('close /C:/k/x.exe.part');
  end('close');
  await sending;
});

test('reports the end of the session with the path', async () => {
  const { files, send, end } = await bench();
  files.fault = operation => (operation === 'write' ? 'silence' : undefined);
  const sending = rejectionOf(send(bytes(100)));
  await new Promise(resolve => setTimeout(resolve, 10));
  end('close');
  const error = await sending;
  expect(error).toMatchObject({ code: 'HOST_FILE_FAILED' });
  expect(error?.message).toContain('closed the SFTP session');
});

const servers: [software: string, chunkBytes: number, inFlight: number][] = [
  ['OpenSSH_for_Windows_7.7', 100 * 1024, 20],
  ['OpenSSH_for_Windows_8.1', 100 * 1024, 20],
  ['OpenSSH_for_Windows_8.5p1', 100 * 1024, 20],
  ['OpenSSH_for_Windows_8.6', 255 * 1024, 8],
  ['OpenSSH_for_Windows_8.10', 255 * 1024, 8],
  ['OpenSSH_for_Windows_9.5', 255 * 1024, 8],
  ['OpenSSH_for_Windows_10.0p2', 255 * 1024, 8],
  ['OpenSSH_9.2p1 Debian-2+deb12u10', 255 * 1024, 8],
  ['OpenSSH_7.4', 255 * 1024, 8],
  ['', 255 * 1024, 8],
];
test.each(servers)('%s gets writes of %i bytes, %i at a time', (software, chunkBytes, inFlight) => {
  expect(writePlan(software)).toEqual({ chunkBytes, inFlight });
});

test('both plans fit into the window of OpenSSH and use nearly all of it', () => {
  for (const [software] of servers) {
    const { chunkBytes, inFlight } = writePlan(software);
    const [window, header] = [2 * 1024 * 1024, 100];
    const requests = (chunkBytes + header) * inFlight;
    expect(requests).toBeLessThanOrEqual(window);
    expect(requests).toBeGreaterThan(window - chunkBytes);
  }
});

test('uploads a megabyte with the real chunk size', async () => {
  const { files, send } = await bench();
  const content = randomBytes(1_048_577);
  await send(content, { plan: writePlan('OpenSSH_for_Windows_8.1') });
  const hash = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');
  expect(hash(files.files.get('/C:/k/x.exe') ?? Buffer.alloc(0))).toBe(hash(content));
});
