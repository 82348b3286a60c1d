import { expect, test } from 'vitest';
import { clientWith, MemoryFiles, modelSftp, status } from '../../../test/kit/memory-files.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { deleteFolder } from './delete-folder.ts';
import type { FileAct } from './operation-failures.ts';
import { SftpSession } from './sftp-session.ts';

const act: FileAct = { address: '10.1.2.3', verb: 'delete', path: 'C:\\programs' };

async function drive(...paths: string[]) {
  const files = new MemoryFiles();
  for (const path of paths) {
    const parts = path.split('/');
    for (let end = 2; end < parts.length; end += 1) files.folders.add(parts.slice(0, end).join('/'));
    files.files.set(path, Buffer.from('x'));
  }
  return { files, session: await SftpSession.open(clientWith(modelSftp(files)), '10.1.2.3') };
}

test('deletes a folder with everything in it and nothing beside it', async () => {
  const { files, session } = await drive('/C:/programs/one/agent.exe', '/C:/programs/note.txt', '/C:/other/file');
  await deleteFolder(session, act, []);
  expect([...files.files.keys()]).toEqual(['/C:/other/file']);
  expect([...files.folders]).toEqual(['/C:', '/C:/other']);
});

test('a folder that does not exist is deleted already', async () => {
  const { session } = await drive();
  await deleteFolder(session, act, []);
});

test('keeps the given names, and the folder with them', async () => {
  const { files, session } = await drive('/C:/programs/one/agent.exe', '/C:/programs/Quarantine/x', '/C:/programs/a');
  await deleteFolder(session, act, ['quarantine']);
  expect([...files.files.keys()]).toEqual(['/C:/programs/Quarantine/x']);
  expect([...files.folders]).toEqual(['/C:', '/C:/programs', '/C:/programs/Quarantine']);
});

test('reports a file that cannot be deleted', async () => {
  const { files, session } = await drive('/C:/programs/agent.exe');
  files.fault = operation => (operation === 'unlink' ? status.denied : undefined);
  expect(await rejectionOf(deleteFolder(session, act, []))).toMatchObject({
    code: 'HOST_FILE_DENIED',
    message: expect.stringContaining('10.1.2.3: deleting "C:\\\\programs"') as string,
  });
});

test.each(['..', '.', '', '..\\Windows', 'a/../../b'])(
  'never follows the name %j out of the folder',
  async filename => {
    const { files, session } = await drive('/C:/programs/agent.exe');
    const entry = { filename, attrs: { isDirectory: () => false } };
    const listed = files.readdir('/C:/programs') as object[];
    files.readdir = () => [...listed, entry];
    await deleteFolder(session, act, []);
    expect(files.log.filter(line => line.startsWith('unlink'))).toEqual(['unlink /C:/programs/agent.exe']);
  },
);

test('gives up on folders that are too deep', async () => {
  const { session } = await drive(`/C:/programs${'/a'.repeat(9)}/file`);
  expect(await rejectionOf(deleteFolder(session, act, []))).toMatchObject({ code: 'HOST_FILE_FAILED' });
});
