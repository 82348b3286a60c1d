import { expect, test } from 'vitest';
import { dir, file } from '#contract/paths.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { readState } from '../state.ts';
import { leaveNote, readNotes, takeNotes } from './change-notes.ts';

test('leaves a note per run, and none for nothing', async () => {
  const host = new ModelHost();
  await leaveNote([file.kubeletConfig], host.files);
  await leaveNote([], host.files);
  await leaveNote([file.cloudConfig], host.files);
  expect(await readNotes(host.files)).toEqual([
    { path: `${dir.staged}\\changed-1.json`, changed: [file.kubeletConfig] },
    { path: `${dir.staged}\\changed-2.json`, changed: [file.cloudConfig] },
  ]);
});

test('takes over what it has read, and leaves what came later', async () => {
  const host = new ModelHost();
  await leaveNote(['a'], host.files);
  const notes = await readNotes(host.files);
  await leaveNote(['b'], host.files);
  await takeNotes(notes, true, host.files);
  expect((await readState(host.files)).changedFiles).toEqual(['a']);
  expect((await readNotes(host.files)).map(({ changed }) => changed)).toEqual([['b']]);
});

test('keeps notes whose files are not all in place: services are restarted for them once', async () => {
  const host = new ModelHost();
  await leaveNote(['a'], host.files);
  await takeNotes(await readNotes(host.files), false, host.files);
  expect([(await readState(host.files)).changedFiles, (await readNotes(host.files)).length]).toEqual([[], 1]);
});

test('removes a note that cannot be parsed', async () => {
  const host = new ModelHost();
  host.fileTexts.set(`${dir.staged}\\changed-3.json`, '{');
  await takeNotes(await readNotes(host.files), true, host.files);
  expect(await readNotes(host.files)).toEqual([]);
});
