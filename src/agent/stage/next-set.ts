import { AppError } from '#base/errors.ts';
import type { BundleEncoding, BundleHeader, NextSet, SetFile } from '#contract/bundle.ts';
import { agentProgram, dir, file } from '#contract/paths.ts';
import { secureFolders } from '../access/secure-folders.ts';
import type { HostFiles } from '../ports.ts';
import { unpacked } from './content.ts';
import { copyPath, readSets, type StagedFile, writeSet } from './record.ts';
import { copyName, noBundle, removeStaleCopies, takeCopies, type Upload } from './stage.ts';

export interface NextOutcome {
  version: string;
  /** Number of files of the set. */
  files: number;
  /** How many of them were in the bundle. */
  received: number;
}

/**
 * Keeps the files of an uploaded bundle as the next set, together with copies that the host has already. Nothing that runs
 * is touched. It can be interrupted and repeated: the record of the set is written when all of its copies are there.
 */
export async function stageNext(
  upload: Pick<Upload, 'bundle' | 'sha256'>,
  files: HostFiles,
  signal: AbortSignal,
): Promise<NextOutcome> {
  await secureFolders(files, signal);
  const { next: before } = await readSets(files);
  if ((await files.stat(upload.bundle)) === undefined) {
    if (before?.bundle !== upload.sha256) throw noBundle(upload);
    return { version: before.version, files: before.files.length, received: 0 };
  }
  try {
    const header = await takeCopies(upload, files, signal);
    const next = header.next ?? notASet();
    await checkAgent(next, files);
    const staged = await withCopies(next.files, header, files, signal);
    const record = { version: header.version, bundle: upload.sha256, agent: next.agent, files: staged };
    await writeSet(file.nextSet, record, files);
    await removeStaleCopies(files);
    await files.remove(upload.bundle);
    return { version: header.version, files: staged.length, received: header.entries.length };
  } catch (error) {
    await removeStaleCopies(files).catch(() => undefined);
    throw error;
  }
}

/** A set whose agent is not on the host could not be activated. */
async function checkAgent({ agent }: NextSet, files: HostFiles): Promise<void> {
  const path = agentProgram(agent);
  const actual = await files.sha256(path);
  if (actual === agent) return;
  throw new AppError(
    'AGENT_PROGRAM_DAMAGED',
    `${path} ${actual === undefined ? 'does not exist' : `has the hash ${actual}`}`,
    { remedy: 'Delete its folder; the operator uploads the program again.' },
  );
}

/** The files with the form of their copies. Copies that were not in the bundle are read once to check them. */
async function withCopies(
  wanted: readonly SetFile[],
  { entries }: BundleHeader,
  files: HostFiles,
  signal: AbortSignal,
): Promise<StagedFile[]> {
  const received = new Map(entries.map(({ sha256, encoding }) => [sha256, encoding]));
  const names = new Set((await files.list(dir.staged)).filter(name => copyName.test(name)));
  const found: StagedFile[] = [];
  for (const { path, sha256, bytes, secret } of wanted) {
    signal.throwIfAborted();
    const encoding = received.get(sha256) ?? keptEncoding(sha256, names) ?? noCopy(path);
    const entry = { path, sha256, bytes, encoding, secret };
    if (!received.has(sha256)) await checkCopy(entry, files);
    received.set(sha256, encoding);
    found.push(entry);
  }
  return found;
}

function keptEncoding(sha256: string, names: ReadonlySet<string>): BundleEncoding | undefined {
  if (names.has(`${sha256}.zst`)) return 'zstd';
  return names.has(sha256) ? 'none' : undefined;
}

/** A damaged copy is removed, so that the next inventory shows that it has to be uploaded. */
async function checkCopy(entry: StagedFile, files: HostFiles): Promise<void> {
  const path = copyPath(entry);
  try {
    for await (const _ of unpacked(files.readChunks(path), entry));
  } catch (error) {
    await files.remove(path);
    throw error;
  }
}

function noCopy(path: string): never {
  throw new AppError('BUNDLE_DAMAGED', `bundle: it does not have ${path}, of which the host has no copy`, {
    remedy: 'Read the inventory again, and upload all files that are not in its copies.',
  });
}

function notASet(): never {
  throw new AppError('BUNDLE_MALFORMED', 'bundle: it has no set', {
    remedy: 'Run `stage` without --next for this bundle.',
  });
}
