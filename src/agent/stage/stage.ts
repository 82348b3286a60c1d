import { createHash } from 'node:crypto';
import { AppError } from '#base/errors.ts';
import { type BundleHeader, parseHeader, preambleBytes, readPreamble } from '#contract/bundle.ts';
import { dir, splitPath } from '#contract/paths.ts';
import { secureFile, secureFolders } from '../access/secure-folders.ts';
import type { HostFiles } from '../ports.ts';
import { ByteReader } from './byte-reader.ts';
import { verified } from './content.ts';
import {
  copyPath,
  mergeFiles,
  placeFile,
  readRecord,
  type StagedFile,
  type StagedRecord,
  writeRecord,
} from './record.ts';

export interface StageOutcome {
  placed: number;
  unchanged: number;
  removed: number;
  /** Unpacked size of the placed files. */
  bytes: number;
}

/**
 * Installs an uploaded bundle: everything in it is checked before the first file is placed. It can be interrupted and
 * repeated at any point: copies and record come first, so that later repairs do not need the bundle.
 */
export async function stage(
  bundle: string,
  sha256: string,
  files: HostFiles,
  signal: AbortSignal,
): Promise<StageOutcome> {
  // Users must not be able to write to any of the folders before files are placed there.
  await secureFolders(files, signal);
  const before = await readRecord(files);
  const { entries, remove, known } = await receive({ bundle, sha256: sha256.toLowerCase() }, before, files, signal);
  const outcome: StageOutcome = { placed: 0, unchanged: 0, removed: 0, bytes: 0 };
  for (const entry of entries) {
    signal.throwIfAborted();
    await place(entry, files, outcome);
  }
  for (const path of remove) {
    if ((await files.stat(path)) === undefined) continue;
    await files.remove(path);
    outcome.removed += 1;
  }
  await removeCopiesBut(known, files);
  await files.remove(bundle);
  return outcome;
}

interface Received {
  entries: readonly StagedFile[];
  remove: readonly string[];
  /** All files of the record, from this and earlier bundles. */
  known: readonly StagedFile[];
}

/** Writes copies and record of the bundle; one that was installed before need not exist any more. */
async function receive(
  { bundle, sha256 }: { bundle: string; sha256: string },
  before: StagedRecord,
  files: HostFiles,
  signal: AbortSignal,
): Promise<Received> {
  if ((await files.stat(bundle)) === undefined) {
    if (before.bundle === sha256) return { entries: before.files, remove: [], known: before.files };
    throw new AppError('INPUT_UNREADABLE', `bundle ${bundle} does not exist`, { remedy: 'Upload the bundle again.' });
  }
  try {
    const { version, entries, remove } = await takeCopies(bundle, sha256, files, signal);
    const known = mergeFiles(before.files, entries, remove);
    await writeRecord({ version, bundle: sha256, files: known }, files);
    return { entries, remove, known };
  } catch (error) {
    await removeCopiesBut(before.files, files).catch(() => undefined);
    throw error;
  }
}

async function takeCopies(
  bundle: string,
  sha256: string,
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
  await secureFile(entry.path, entry.secret ? 'secret' : 'programs', files);
  if (!entry.secret && (await files.sha256(entry.path)) === entry.sha256) {
    outcome.unchanged += 1;
    return;
  }
  // A secret is always written, because users may have opened it while its rights were wrong.
  await placeFile(entry, files);
  outcome.placed += 1;
  outcome.bytes += entry.bytes;
}

const copyName = /^[0-9a-f]{64}(\.zst)?$/;

/** Keeps files with other names: another process may be writing them. */
async function removeCopiesBut(needed: readonly StagedFile[], files: HostFiles): Promise<void> {
  const kept = new Set(needed.map(entry => splitPath(copyPath(entry)).name));
  for (const name of await files.list(dir.staged)) {
    if (copyName.test(name) && !kept.has(name)) await files.remove(`${dir.staged}\\${name}`);
  }
}

function damaged(what: string): AppError {
  return new AppError('BUNDLE_DAMAGED', `bundle: it ${what}`, { remedy: 'Upload the bundle again.' });
}
