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

test('tells the size of a file', async () => {
  const { files, size } = await bench();
  files.files.set('/C:/k/x.exe', Buffer.alloc(1234));
  expect(await size()).toBe(1234);
  expect(files.log).toEqual(['stat /C:/k/x.exe']);
});

test('tells that there is no file, also where a folder has the name', async () => {
  const { files, size } = await bench();
  expect(await size()).toBeUndefined();
  files.folders.add('/C:/k/x.exe');
  expect(await size()).toBeUndefined();
});

test('any other answer is a failure that names host and path', async () => {
  const { files, size } = await bench();
  files.fault = () => status.denied;
  const error = await rejectionOf(size());
  expect(error).toMatchObject({ code: 'HOST_FILE_DENIED' });
  expect(error?.message).toContain('10.1.2.3: reading "C:\\\\k\\\\x.exe"');
});
