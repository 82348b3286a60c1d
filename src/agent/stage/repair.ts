import { AppError, messageOf } from '#base/errors.ts';
import { pathKey } from '#contract/host-path.ts';
import type { FileInfo } from '#contract/services/manifest.ts';
import { secureFile } from '../access/secure-folders.ts';
import type { HostFiles } from '../ports.ts';
import { recordChangedFiles } from '../state.ts';
import type { HashOf } from './hash-cache.ts';
import { placeFile, readRecord, type StagedFile } from './record.ts';

export interface RepairOutcome {
  /** Restored files. */
  repaired: string[];
  /** One for each file that could not be restored. */
  problems: AppError[];
}

/**
 * Compares files with the services ConfigMap, or else with the record of staged files, fixes their owner and rights, and
 * restores changed files from their staged copies.
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
      // A file that users could have written is removed then, and counts as missing.
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
  await recordChangedFiles([path], files);
  await placeFile({ ...copy, path }, files);
}

function noCopy(path: string, actual: string | undefined): never {
  const what = actual === undefined ? 'is missing' : `has the hash ${actual}`;
  throw new AppError('FILE_DAMAGED', `file ${path} ${what}, and there is no staged copy of it`, {
    remedy: 'Wait for the operator to configure the host again: it uploads missing and changed files.',
  });
}

function failed(path: string, cause: unknown): AppError {
  const why = messageOf(cause);
  return new AppError('FILE_DAMAGED', `file ${path} cannot be checked or restored: ${why}`, {
    remedy: 'Check on the host why the file or its directory cannot be read or written (icacls.exe).',
    cause,
  });
}
