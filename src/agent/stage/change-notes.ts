import { attempt } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { dir } from '#contract/paths.ts';
import type { HostFiles } from '../ports.ts';
import { recordChangedFiles } from '../state.ts';

/**
 * Files that `stage` replaces while services run. The state of the agent has one writer, which is the agent; so `stage` leaves
 * a note, which is never changed, and the agent takes it over.
 */
export interface ChangeNote {
  path: string;
  changed: string[];
}

/** The last bundle whose files `stage` has placed; written last, so that its time shows when. */
export const lastStagedFile = `${dir.staged}\\placed`;

export const noteName = /^changed-(\d{1,9})\.json$/;

/** Called after the record of the set was written and before the first file is placed. */
export async function leaveNote(changed: readonly string[], files: HostFiles): Promise<void> {
  if (changed.length === 0) return;
  const numbers = (await files.list(dir.staged)).map(name => Number(noteName.exec(name)?.[1] ?? 0));
  const path = `${dir.staged}\\changed-${Math.max(0, ...numbers) + 1}.json`;
  await files.write(path, `${JSON.stringify({ changed })}\n`);
}

/** Read before files are checked: those of a note are in the record of the set, and so in place after the check. */
export async function readNotes(files: HostFiles): Promise<ChangeNote[]> {
  const names = (await files.list(dir.staged)).filter(name => noteName.test(name));
  const notes: ChangeNote[] = [];
  for (const name of names) {
    const path = `${dir.staged}\\${name}`;
    const text = (await files.read(path)) ?? '';
    const parsed = attempt(() => new Fields(jsonIn(text), path).strings('changed'));
    notes.push({ path, changed: parsed.ok ? parsed.value : [] });
  }
  return notes;
}

/** Has the services that read these files restarted, once: the notes stay until all files are in place. */
export async function takeNotes(notes: readonly ChangeNote[], allInPlace: boolean, files: HostFiles): Promise<void> {
  if (notes.length === 0 || !allInPlace) return;
  const changed = notes.flatMap(note => note.changed);
  await recordChangedFiles(changed, files);
  for (const { path } of notes) await files.remove(path);
}
