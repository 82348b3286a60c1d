import type { FileEntryWithStats } from 'ssh2';
import { type FileAct, fileFailure, sftpStatus } from './operation-failures.ts';
import type { SftpSession } from './sftp-session.ts';
import { sftpPath } from './windows-path.ts';

/** A host can report any number of names and levels. */
const [maxNames, maxDepth] = [10_000, 8];

/** Deletes the folder and everything in it, except the entry `keep`; what is gone already is no error. */
export async function deleteFolder(session: SftpSession, act: FileAct, keep = ''): Promise<void> {
  await deleteBelow(session, act, { folder: sftpPath(act.path), depth: maxDepth, keep });
}

async function deleteBelow(
  session: SftpSession,
  act: FileAct,
  { folder, depth, keep = '' }: { folder: string; depth: number; keep?: string },
): Promise<void> {
  if (depth === 0) throw fileFailure(act, new Error(`more than ${maxDepth} levels of folders`));
  const entries = await entriesIn(session, act, folder);
  const deleted = entries.filter(({ filename }) => filename.toLowerCase() !== keep.toLowerCase());
  for (const { filename, attrs } of deleted) {
    const path = `${folder}/${filename}`;
    if (attrs.isDirectory()) await deleteBelow(session, act, { folder: path, depth: depth - 1 });
    else await unlessGone(act, () => session.request((sftp, done) => sftp.unlink(path, done)));
  }
  if (deleted.length < entries.length) return;
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
