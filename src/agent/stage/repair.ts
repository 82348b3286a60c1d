import { AppError, messageOf } from '#base/errors.ts';
import { pathKey } from '#contract/host-path.ts';
import type { FileInfo } from '#contract/services/manifest.ts';
import { secureFile } from '../access/secure-folders.ts';
import type { HostFiles } from '../ports.ts';
import { noteChangedFiles } from '../state.ts';
import type { HashOf } from './hash-cache.ts';
import { placeFile } from './place.ts';
import { readRecord, type StagedFile } from './record.ts';

export interface RepairOutcome {
  /** Files that were not as they should be, and are again. */
  repaired: string[];
  /** One for each file that is still not as it should be. */
  problems: AppError[];
}

/**
 * Compares our files, with their owner and rights, with what they should be, by the services ConfigMap where it speaks of them and otherwise by what was
 * staged, and puts the wrong ones right from their staged copies.
 */
export async function repairFiles(
  listed: readonly FileInfo[],
  hashOf: HashOf,
  files: HostFiles,
  signal: AbortSignal,
): Promise<RepairOutcome> {
  const outcome: RepairOutcome = { repaired: [], problems: [] };
  const { files: staged } = await readRecord(files);
  for (const { path, checksum } of wantedFiles(listed, staged)) {
    signal.throwIfAborted();
    try {
      const isSecret = staged.some(one => one.secret && pathKey(one.path) === pathKey(path));
      // What others could have written is gone then, and counts as missing.
      await secureFile(path, isSecret ? 'secret' : 'programs', files);
      const actual = await hashOf(path);
      if (actual === checksum) continue;
      await repair(path, staged.find(copy => copy.sha256 === checksum) ?? noCopy(path, actual), files);
      outcome.repaired.push(path);
    } catch (error) {
      outcome.problems.push(error instanceof AppError ? error : failed(path, error));
    }
  }
  return outcome;
}

function wantedFiles(listed: readonly FileInfo[], staged: readonly StagedFile[]): FileInfo[] {
  const wanted = [
    ...staged.map(({ path, sha256 }) => ({ path, checksum: sha256 })),
    ...listed.map(({ path, checksum }) => ({ path, checksum: checksum.toLowerCase() })),
  ].filter(({ checksum }) => checksum !== '');
  return [...new Map(wanted.map(one => [pathKey(one.path), one])).values()];
}

async function repair(path: string, copy: StagedFile, files: HostFiles): Promise<void> {
  await noteChangedFiles([path], files);
  await placeFile({ ...copy, path }, files);
}

function noCopy(path: string, actual: string | undefined): never {
  const what = actual === undefined ? 'is missing' : `has the hash ${actual}`;
  throw new AppError('FILE_DAMAGED', `file ${path} ${what}, and there is no staged copy of what it should be`, {
    remedy: 'Let the operator configure the host anew: it uploads what is missing or different.',
  });
}

function failed(path: string, cause: unknown): AppError {
  const why = messageOf(cause);
  return new AppError('FILE_DAMAGED', `file ${path} cannot be checked or put right: ${why}`, {
    remedy: 'See what keeps the file or its directory from being read and written on the host.',
    cause,
  });
}
