import { AppError, messageOf } from '#base/errors.ts';
import { diskRemedy, gigabytesText } from '#base/disk-remedy.ts';
import { agentProgram, dir, file } from '#contract/paths.ts';
import type { HostFiles, System } from '../ports.ts';
import { packed, unpacked, verified } from '../stage/content.ts';
import { copyPath, type StagedFile, type StagedRecord } from '../stage/record.ts';
import { checkProgram, failed } from './swap.ts';

export interface PreflightPorts {
  files: HostFiles;
  system: Pick<System, 'freeBytes'>;
}

/** Rejects an order that the host could not carry out, while its services still run. */
export async function checkTargetSet(target: StagedRecord, { files }: PreflightPorts): Promise<void> {
  for (const entry of target.files) {
    if ((await files.stat(copyPath(entry))) !== undefined) continue;
    throw failed(`the host has no copy of ${entry.path} of version ${target.version}`);
  }
  await checkProgram(target.agent, files);
}

/** For logs, and for programs that run and are only moved aside. */
const marginBytes = 256 * 1024 ** 2;

/** Each file is written beside the one that it replaces. */
export async function checkSpace(
  target: StagedRecord,
  former: StagedRecord,
  { files, system }: PreflightPorts,
): Promise<void> {
  const sizes = [...target.files, ...former.files].map(({ bytes }) => bytes);
  for (const path of [file.agent, agentProgram(target.agent)]) sizes.push((await files.stat(path))?.bytes ?? 0);
  const needed = Math.max(...sizes) + Math.max(0, totalOf(target) - totalOf(former)) + marginBytes;
  const free = await system.freeBytes(dir.k);
  if (free >= needed) return;
  throw new AppError(
    'HOST_DISK_FULL',
    `drive C: has ${(free / 1e9).toFixed(1)} GB free, and the swap to version ${target.version} needs ${gigabytesText(needed)}`,
    { remedy: diskRemedy(gigabytesText(needed - free)) },
  );
}

function totalOf({ files }: StagedRecord): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Reads every copy of the set that the host may have to go back to. One that is missing or damaged is written again from the file
 * in place.
 */
export async function checkWayBack(former: StagedRecord, files: HostFiles, signal: AbortSignal): Promise<void> {
  const byCopy = Map.groupBy(former.files, copyPath);
  for (const [copy, [first, ...others]] of byCopy) {
    signal.throwIfAborted();
    if (first === undefined || (await isGood(first, files))) continue;
    await restoreCopy(copy, [first, ...others], files).catch((error: unknown) => {
      throw noWayBack(first.path, former.version, error);
    });
  }
}

async function isGood(entry: StagedFile, files: HostFiles): Promise<boolean> {
  try {
    for await (const _ of unpacked(files.readChunks(copyPath(entry)), entry));
    return true;
  } catch {
    return false;
  }
}

/** All entries have the same content; the last failure counts. */
async function restoreCopy(copy: string, entries: readonly StagedFile[], files: HostFiles): Promise<void> {
  const access = entries.some(({ secret }) => secret) ? 'secret' : undefined;
  let failure: unknown;
  for (const entry of entries) {
    try {
      return await files.writeChunks(copy, verified(packed(files.readChunks(entry.path), entry), entry), access);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function noWayBack(path: string, version: string, cause: unknown): AppError {
  const why = messageOf(cause);
  return new AppError('ACTIVATION_FAILED', `the host could not go back to version ${version}: ${path}: ${why}`, {
    remedy: `Copy ${path} from another node of version ${version} to the host.`,
    cause,
  });
}
