import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, isAppError, messageOf, shown } from '#base/errors.ts';
import { sumOf } from '../folder.ts';
import { type LockFile, type LockSource, type PayloadLock, unverified } from '../lock.ts';
import type { FoundSums } from '../pin.ts';
import { downloadDiffers, isSystemError } from './failures.ts';
import { checkProgramStart, moveInto, type StoredProgram } from './program-file.ts';
import { hasFilesOfImages, obtain, type ObtainOptions } from './obtain.ts';

export interface FetchOptions extends Omit<ObtainOptions, 'context' | 'downloads'> {
  lock: PayloadLock;
  /** Where the programs are written to. */
  output: string;
  /** Names of sources; all if empty. */
  only: readonly string[];
  /** Takes what it gets where the lock has no checksum, and pins it. */
  trustsFirst: boolean;
  signal: AbortSignal;
  report: FetchReport;
  /** Enters checksums in the lock. */
  pin: (found: FoundSums) => Promise<void>;
}

export interface FetchReport {
  started: (source: string) => void;
  /** Bytes so far and in all, if known, of what is being downloaded. */
  progress: (source: string, bytes: number, total: number | undefined) => void;
  retried: (source: string, why: string, pauseMs: number) => void;
  ended: (outcome: SourceOutcome) => void;
}

export type SourceOutcome = { source: string; files: readonly string[] } & (
  | { kind: 'present' }
  /** How many checksums were entered in the lock. */
  | { kind: 'fetched'; pinned: number }
  /** The agent comes from a build, and none was given. */
  | { kind: 'not given' }
  | { kind: 'stopped' }
  | { kind: 'failed'; error: AppError }
);

/** Downloads what is missing. One bad source never stops the others. */
export async function fetchPayload(options: FetchOptions): Promise<SourceOutcome[]> {
  const downloads = join(options.output, '.downloads');
  const outcomes: SourceOutcome[] = [];
  for (const source of options.lock.sources) {
    if (options.only.length > 0 && !options.only.includes(source.name)) continue;
    options.report.started(source.name);
    const outcome = await outcomeOf(source, downloads, options);
    options.report.ended(outcome);
    outcomes.push(outcome);
  }
  // Left with what is unfinished.
  await rmdir(downloads).catch(() => undefined);
  return outcomes;
}

async function outcomeOf(source: LockSource, downloads: string, options: FetchOptions): Promise<SourceOutcome> {
  const about = { source: source.name, files: source.files.map(({ path }) => path) };
  try {
    options.signal.throwIfAborted();
    const { kind } = source.origin;
    if (await isPresent(source, options)) return { ...about, kind: 'present' };
    if (kind === 'built' && options.agent === undefined)
      return { ...about, kind: (await hasFiles(source, options)) ? 'present' : 'not given' };
    if (!options.trustsFirst) checkPinned(source, options);
    await mkdir(downloads, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
      throw unwritable(options.output, error);
    });
    return { ...about, kind: 'fetched', pinned: await fetchSource(source, downloads, options) };
  } catch (error) {
    if (options.signal.aborted) return { ...about, kind: 'stopped' };
    if (isAppError(error)) return { ...about, kind: 'failed', error };
    if (isSystemError(error)) return { ...about, kind: 'failed', error: unwritable(options.output, error) };
    throw error;
  }
}

/** Every program is there with its checksum, and there is nothing left to pin. */
async function isPresent({ origin, files }: LockSource, options: FetchOptions): Promise<boolean> {
  if (sumOfOrigin(origin, options) === unverified) return false;
  for (const { path, sha256 } of files)
    if (sha256 !== (await sumOf(join(options.output, path)).catch(() => undefined))) return false;
  return true;
}

/** An agent of which the lock has no checksum is that of an earlier run; one with a wrong checksum does not count. */
async function hasFiles({ files }: LockSource, { output }: FetchOptions): Promise<boolean> {
  const sums = await Promise.all(files.map(({ path }) => sumOf(join(output, path)).catch(() => undefined)));
  return sums.every((sum, index) => sum !== undefined && files[index]?.sha256 === unverified);
}

/** What the lock has of the source itself, where that is used. */
function sumOfOrigin(origin: LockSource['origin'], options: FetchOptions): string | undefined {
  if (origin.kind === 'archive') return origin.sha256;
  return origin.kind === 'image' && !hasFilesOfImages(options) ? origin.digest : undefined;
}

function checkPinned({ name, origin, files }: LockSource, options: FetchOptions): void {
  if (origin.kind === 'built') return;
  const own = sumOfOrigin(origin, options);
  const missing = files.filter(({ sha256 }) => sha256 === unverified).map(({ path }) => path);
  if (own !== unverified && missing.length === 0) return;
  const what = [...(own === unverified ? [`the ${origin.kind} itself`] : []), ...missing.map(shown)].join(', ');
  throw new AppError('PAYLOAD_UNVERIFIED', `${name}: the lock has no checksum of ${what}`, {
    remedy:
      'Enter what the vendor publishes, or pass --trust-first-download, which enters those of what it downloads; review them before you commit the lock.',
  });
}

async function fetchSource(source: LockSource, downloads: string, options: FetchOptions): Promise<number> {
  const { output, report, signal, clock } = options;
  const context = {
    clock,
    signal,
    progress: (bytes: number, total: number | undefined) => report.progress(source.name, bytes, total),
    retried: (why: string, pauseMs: number) => report.retried(source.name, why, pauseMs),
  };
  const drafts = join(downloads, `${source.name}.programs`);
  await rm(drafts, { recursive: true, force: true });
  await mkdir(drafts);
  try {
    const { programs, sum, release } = await obtain(source, drafts, { ...options, context, downloads });
    for (const file of source.files) await checkProgram(source, file, programs.get(file.path));
    for (const { path } of source.files) await moveInto(programs.get(path)?.at ?? '', join(output, path));
    await release();
    return await pinSums(source, { sum, programs }, options);
  } finally {
    await rm(drafts, { recursive: true, force: true });
  }
}

async function checkProgram({ name, origin }: LockSource, file: LockFile, stored: StoredProgram | undefined) {
  if (stored === undefined) throw new Error(`${file.path} was not stored`);
  const what = `${name}: ${file.member || file.path}`;
  if (file.sha256 !== unverified && stored.sha256 !== file.sha256)
    throw downloadDiffers(what, stored.sha256, file.sha256);
  if (file.sha256 === unverified && origin.kind !== 'built') await checkProgramStart(stored.at, what);
}

interface Obtained {
  sum: string | undefined;
  programs: ReadonlyMap<string, StoredProgram>;
}

async function pinSums({ name, origin, files }: LockSource, { sum, programs }: Obtained, options: FetchOptions) {
  // The agent is built anew, with other bytes, by whoever packs a payload.
  if (origin.kind === 'built') return 0;
  const isNew = sum !== undefined && sumOfOrigin(origin, options) === unverified;
  const pinned = files.filter(({ sha256 }) => sha256 === unverified).map(({ path }) => path);
  if (!isNew && pinned.length === 0) return 0;
  await options.pin({
    sources: new Map(isNew ? [[name, sum]] : []),
    files: new Map(pinned.map(path => [path, programs.get(path)?.sha256 ?? unverified])),
  });
  return pinned.length + (isNew ? 1 : 0);
}

function unwritable(output: string, cause: unknown): AppError {
  return new AppError('OUTPUT_UNWRITABLE', `${output} cannot be written: ${messageOf(cause)}`, {
    remedy: 'Choose a folder that you can write to, on a disk with free space; the command goes on where it stopped.',
    cause,
  });
}
