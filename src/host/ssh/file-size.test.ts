import { expect, test } from 'vitest';
import { clientWith, MemoryFiles, modelSftp, status } from '../../../test/kit/memory-files.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { sizeOfFile } from './file-size.ts';
import { SftpSession } from './sftp-session.ts';

const act = { address: '10.1.2.3', verb: 'read', path: 'C:\\k\\x.exe' } as const;

async function bench() {
  const files = new MemoryFiles();
  const session = await SftpSession.open(clientWith(modelSftp(files)), '10.1.2.3');
  return { files, size: () => sizeOfFile(session, act) };
}

test('returns the size of a file', async () => {
  const { files, size } = await bench();
  files.files.set('/C:/k/x.exe', Buffer.alloc(1234));
  expect(await size()).toBe(1234);
  expect(files.log).toEqual(['stat /C:/k/x.exe']);
});

test('returns undefined for a missing file and for a folder', async () => {
  const { files, size } = await bench();
  expect(await size()).toBeUndefined();
  files.folders.add('/C:/k/x.exe');
  expect(await size()).toBeUndefined();
});

test('reports any other status with host and path', async () => {
  const { files, size } = await bench();
  files.fault = () => status.denied;
  const error = await rejectionOf(size());
  expect(error).toMatchObject({ code: 'HOST_FILE_DENIED' });
  expect(error?.message).toContain('10.1.2.3: reading "C:\\\\k\\\\x.exe"');
});
