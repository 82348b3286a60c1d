import { expect, test } from 'vitest';
import { clientWith, MemoryFiles, modelSftp, status } from '../../../test/kit/memory-files.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { fetchFile } from './download.ts';
import { SftpSession } from './sftp-session.ts';

const act = { address: '10.1.2.3', verb: 'read', path: 'C:\\k\\x.log' } as const;

async function bench(content?: Buffer) {
  const files = new MemoryFiles();
  if (content !== undefined) files.files.set('/C:/k/x.log', content);
  const session = await SftpSession.open(clientWith(modelSftp(files)), '10.1.2.3');
  return { files, fetch: (maxBytes = 100_000) => fetchFile(session, act, maxBytes) };
}

const content = (length: number) => Buffer.from(Uint8Array.from({ length }, (_, index) => index % 241));

for (const length of [0, 1, 31 * 1024, 31 * 1024 + 1, 99_999, 100_000]) {
  test(`reads a file of ${length} bytes`, async () => {
    const { fetch, files } = await bench(content(length));
    expect(Buffer.from(await fetch()).equals(content(length))).toBe(true);
    expect(files.openHandles).toBe(0);
  });
}

test('rejects a file that is too long, and closes it', async () => {
  const { fetch, files } = await bench(content(100_001));
  const error = await rejectionOf(fetch());
  expect(error).toMatchObject({ code: 'HOST_OUTPUT_TOO_LONG' });
  expect(error?.message).toContain('"C:\\\\k\\\\x.log" returned more than 100000 bytes');
  expect(files.openHandles).toBe(0);
});

test('reports a missing file', async () => {
  const { fetch } = await bench();
  expect(await rejectionOf(fetch())).toMatchObject({ code: 'HOST_FILE_MISSING' });
});

const faults: [operation: string, fault: number, code: string][] = [
  ['open', status.denied, 'HOST_FILE_DENIED'],
  ['open', status.failure, 'HOST_FILE_FAILED'],
  ['read', status.denied, 'HOST_FILE_DENIED'],
  ['read', status.failure, 'HOST_FILE_FAILED'],
];
test.each(faults)('%s answered with status %i is %s', async (operation, fault, code) => {
  const { files, fetch } = await bench(content(10));
  files.fault = done => (done === operation ? fault : undefined);
  const error = await rejectionOf(fetch());
  expect(error?.code).toBe(code);
  expect(error?.message).toContain('10.1.2.3: reading "C:\\\\k\\\\x.log"');
});

test('returns the content of a file that cannot be closed', async () => {
  const { files, fetch } = await bench(content(10));
  files.fault = operation => (operation === 'close' ? status.failure : undefined);
  expect(await fetch()).toHaveLength(10);
});
