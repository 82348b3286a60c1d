import type { FileEntryWithStats } from 'ssh2';
import { type FileAct, fileFailure, sftpStatus } from './operation-failures.ts';
import type { SftpSession } from './sftp-session.ts';
import { sftpPath } from './windows-path.ts';

/** A host can report any number of names and levels. */
const [maxNames, maxDepth] = [10_000, 8];

/** Deletes the folder and everything in it but the names to keep; what is gone already is no error. */
export async function deleteFolder(session: SftpSession, act: FileAct, keep: readonly string[]): Promise<void> {
  const folder = sftpPath(act.path);
  const entries = await entriesIn(session, act, folder);
  const removed = entries.filter(({ filename }) => !keep.includes(filename.toLowerCase()));
  await deleteEntries(session, act, { folder, entries: removed, depth: maxDepth });
  if (removed.length === entries.length) await deleteEmpty(session, act, folder);
}

interface Content {
  folder: string;
  entries: readonly FileEntryWithStats[];
  /** Levels of folders that may follow. */
  depth: number;
}

async function deleteEntries(session: SftpSession, act: FileAct, { folder, entries, depth }: Content): Promise<void> {
  if (depth === 0) throw fileFailure(act, new Error(`more than ${maxDepth} levels of folders`));
  for (const { filename, attrs } of entries) {
    const path = `${folder}/${filename}`;
    if (attrs.isDirectory()) {
      const inside = await entriesIn(session, act, path);
      await deleteEntries(session, act, { folder: path, entries: inside, depth: depth - 1 });
      await deleteEmpty(session, act, path);
    } else await unlessGone(act, () => session.request((sftp, done) => sftp.unlink(path, done)));
  }
}

async function deleteEmpty(session: SftpSession, act: FileAct, folder: string): Promise<void> {
  await unlessGone(act, () => session.request((sftp, done) => sftp.rmdir(folder, done)));
}

async function entriesIn(session: SftpSession, act: FileAct, folder: string): Promise<FileEntryWithStats[]> {
  const entries =
    (await unlessGone(act, () => session.request<FileEntryWithStats[]>((sftp, done) => sftp.readdir(folder, done)))) ??
    [];
  if (entries.length > maxNames) throw fileFailure(act, new Error(`more than ${maxNames} names`));
  // A name with a separator would lead out of the folder.
  return entries.filter(({ filename }) => !/^\.{0,2}$|[\\/]/.test(filename));
}

async function unlessGone<T>(act: FileAct, run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if ((error as { code?: unknown }).code === sftpStatus.noSuchFile) return undefined;
    throw fileFailure(act, error);
  }
}
