import { createHash } from 'node:crypto';
import { AppError } from '#base/errors.ts';
import { parentOf, pathKey } from '#contract/host-path.ts';
import { type BundleHeader, parseHeader, preambleBytes, readPreamble } from '#contract/bundle.ts';
import { dir, file, splitPath } from '#contract/paths.ts';
import { secureFile, secureFolders } from '../access/secure-folders.ts';
import type { HostFiles } from '../ports.ts';
import { ByteReader } from './byte-reader.ts';
import { lastStagedFile, leaveNote } from './change-notes.ts';
import { verified } from './content.ts';
import { copyPath, mergeFiles, placeFile, readRecord, readSets, type StagedFile, writeRecord } from './record.ts';

/** An uploaded bundle. */
export interface Upload {
  /** Path of the bundle. */
  bundle: string;
  /** Of the whole bundle, in lower case. */
  sha256: string;
  /** SHA-256 of the agent program that stages it; it belongs to the files when their version is new on the host. */
  agent: string;
  /** Whether services of the operator are installed, which may have to be restarted for changed files. */
  hasServices?: boolean;
}

export interface StageOutcome {
  placed: number;
  unchanged: number;
  removed: number;
  /** Unpacked size of the placed files. */
  bytes: number;
}

/**
 * Installs an uploaded bundle: everything in it is checked before the first file is placed. It can be interrupted and
 * repeated at any point: copies and record come first, so that later repairs do not need the bundle. What it writes last
 * has the agent check the host.
 */
export async function stage(upload: Upload, files: HostFiles, signal: AbortSignal): Promise<StageOutcome> {
  // Users must not be able to write to any of the folders before files are placed there.
  await secureFolders(files, signal);
  const { entries, remove } = await receive({ ...upload, sha256: upload.sha256.toLowerCase() }, files, signal);
  const outcome: StageOutcome = { placed: 0, unchanged: 0, removed: 0, bytes: 0 };
  if (upload.hasServices === true) await leaveNote(await changedFiles({ entries, remove }, files), files);
  for (const entry of entries) {
    signal.throwIfAborted();
    await place(entry, files, outcome);
  }
  for (const path of remove) {
    if ((await files.stat(path)) !== undefined) outcome.removed += 1;
    await files.remove(path);
    await removeRegistryFolder(path, files);
  }
  await removeStaleCopies(files);
  await files.remove(upload.bundle);
  await files.write(lastStagedFile, `${upload.sha256}\n`);
  return outcome;
}

/** The folder of a registry without files would count as one with settings. */
export async function removeRegistryFolder(path: string, files: HostFiles): Promise<void> {
  const folder = parentOf(path);
  if (pathKey(parentOf(folder)) === pathKey(dir.registries)) await files.removeEmptyDirectory(folder);
}

/** The files on the host that are replaced or removed. */
async function changedFiles({ entries, remove }: Received, files: HostFiles): Promise<string[]> {
  const changed: string[] = [];
  for (const { path, sha256 } of entries) {
    if ((await files.stat(path)) !== undefined && (await files.sha256(path)) !== sha256) changed.push(path);
  }
  for (const path of remove) if ((await files.stat(path)) !== undefined) changed.push(path);
  return changed;
}

interface Received {
  entries: readonly StagedFile[];
  remove: readonly string[];
}

/** Writes copies and record of the bundle; one that was installed before need not exist any more. */
async function receive(upload: Upload, files: HostFiles, signal: AbortSignal): Promise<Received> {
  const before = await readRecord(files);
  if ((await files.stat(upload.bundle)) === undefined) {
    if (before.bundle === upload.sha256) return { entries: before.files, remove: [] };
    throw noBundle(upload);
  }
  try {
    const { version, entries, remove, next } = await takeCopies(upload, files, signal);
    if (next !== undefined) throw unfit('is for a set that is only kept');
    // Kept sets are complete, so that files of the same version do not matter to them.
    if (version !== before.version) for (const path of [file.nextSet, file.previousSet]) await files.remove(path);
    const known = mergeFiles(before.files, entries, remove);
    // Credentials can come from an operator of another version, whose agent is not in place.
    const agent = version === before.version && before.agent !== '' ? before.agent : upload.agent;
    await writeRecord({ version, bundle: upload.sha256, agent, files: known }, files);
    return { entries, remove };
  } catch (error) {
    await removeStaleCopies(files).catch(() => undefined);
    throw error;
  }
}

/** Checks the whole bundle, and keeps a packed copy of each of its files. */
export async function takeCopies(
  { bundle, sha256 }: Pick<Upload, 'bundle' | 'sha256'>,
  files: HostFiles,
  signal: AbortSignal,
): Promise<BundleHeader> {
  const digest = createHash('sha256');
  const reader = new ByteReader(tapped(files.readChunks(bundle), chunk => digest.update(chunk)));
  try {
    const header = parseHeader(await reader.take(readPreamble(await reader.take(preambleBytes))));
    const secrets = new Set(header.entries.filter(entry => entry.secret).map(entry => entry.sha256));
    for (const entry of header.entries) {
      signal.throwIfAborted();
      const access = secrets.has(entry.sha256) ? 'secret' : undefined;
      await files.writeChunks(copyPath(entry), verified(reader.pieces(entry.packedBytes), entry), access);
    }
    if (!(await reader.isAtEnd())) throw damaged('continues after its last file');
    const actual = digest.digest('hex');
    if (actual !== sha256) throw damaged(`has the hash ${actual}, not ${sha256}`);
    return header;
  } finally {
    await reader.close();
  }
}

async function* tapped(
  chunks: AsyncIterable<Uint8Array>,
  look: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    look(chunk);
    yield chunk;
  }
}

async function place(entry: StagedFile, files: HostFiles, outcome: StageOutcome): Promise<void> {
  if (await placeSafely(entry, files)) {
    outcome.placed += 1;
    outcome.bytes += entry.bytes;
  } else outcome.unchanged += 1;
}

/** False when the file is in place already. */
export async function placeSafely(entry: StagedFile, files: HostFiles): Promise<boolean> {
  await secureFile(entry.path, entry.secret ? 'secret' : 'programs', files);
  if (!entry.secret && (await files.sha256(entry.path)) === entry.sha256) return false;
  // A secret is always written, because users may have opened it while its rights were wrong.
  await placeFile(entry, files);
  return true;
}

export const copyName = /^[0-9a-f]{64}(\.zst)?$/;

/** Keeps the copies of all sets, and files with other names: another process may be writing them. */
export async function removeStaleCopies(files: HostFiles): Promise<void> {
  const { current, next, previous } = await readSets(files);
  const needed = [current, next, previous].flatMap(set => set?.files ?? []);
  const kept = new Set(needed.map(entry => splitPath(copyPath(entry)).name));
  for (const name of await files.list(dir.staged)) {
    if (copyName.test(name) && !kept.has(name)) await files.remove(`${dir.staged}\\${name}`);
  }
}

export function noBundle({ bundle }: Pick<Upload, 'bundle'>): AppError {
  return new AppError('INPUT_UNREADABLE', `bundle ${bundle} does not exist`, { remedy: 'Upload the bundle again.' });
}

function unfit(what: string): AppError {
  return new AppError('BUNDLE_MALFORMED', `bundle: it ${what}`, {
    remedy: 'Run `stage` with --next for a set that is only kept, and without it for any other bundle.',
  });
}

function damaged(what: string): AppError {
  return new AppError('BUNDLE_DAMAGED', `bundle: it ${what}`, { remedy: 'Upload the bundle again.' });
}
