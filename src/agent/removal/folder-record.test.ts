import { expect, test } from 'vitest';
import { dir, file, folderRecordFile } from '#contract/paths.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { stateFile } from '../state.ts';
import { foldersBefore, recordFolders } from './folder-record.ts';

test('records the folders that exist, in a file for administrators, and only once', async () => {
  const host = new ModelHost();
  await host.files.makeDirectory(dir.temp);
  await recordFolders(host.files);
  await host.files.makeDirectory(dir.k);
  await recordFolders(host.files);
  expect(await foldersBefore(host.files)).toEqual(new Set(['c:\\temp']));
  expect(host.files.accessOf(folderRecordFile)).toBe('secret');
});

test.each([file.agent, file.stagedRecord, stateFile])(
  'records nothing on a host that an earlier operator has configured: %s exists',
  async path => {
    const host = new ModelHost();
    host.fileTexts.set(path, 'x');
    await recordFolders(host.files);
    expect(await foldersBefore(host.files)).toBeUndefined();
  },
);

test.each(['', '{', '[]', '{"existing": 1}'])('treats the invalid record %j as missing', async text => {
  const host = new ModelHost();
  host.fileTexts.set(folderRecordFile, text);
  expect((await foldersBefore(host.files))?.size ?? 0).toBe(0);
});
