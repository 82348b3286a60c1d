import { attempt } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { type BundleEncoding, type BundleEntry, bundleEncodings } from '#contract/bundle.ts';
import { pathKey } from '#contract/host-path.ts';
import { dir, file } from '#contract/paths.ts';
import type { Files, HostFiles } from '../ports.ts';
import { unpacked } from './content.ts';

/** A staged file, of which a packed copy is kept. */
export type StagedFile = Omit<BundleEntry, 'packedBytes'>;

/** A set of files: all of them belong to one version, with the last bundle and the agent program of that version. */
export interface StagedRecord {
  version: string;
  bundle: string;
  /** SHA-256 of the agent program; '' when it is not known. */
  agent: string;
  files: StagedFile[];
}

/** `current` is in place; the others are only kept. */
export interface StagedSets {
  current: StagedRecord;
  next: StagedRecord | undefined;
  previous: StagedRecord | undefined;
}

/** Path of the packed copy; equal content is stored once. */
export function copyPath({ sha256, encoding }: Pick<StagedFile, 'sha256' | 'encoding'>): string {
  return `${dir.staged}\\${sha256}${encoding === 'zstd' ? '.zst' : ''}`;
}

/** Places a file atomically from its packed copy. */
export async function placeFile(entry: StagedFile, files: HostFiles): Promise<void> {
  const content = unpacked(files.readChunks(copyPath(entry)), entry);
  await files.writeChunks(entry.path, content, entry.secret ? 'secret' : undefined);
}

/** The current set. Empty when its record is missing or cannot be parsed; the next bundle writes it again. */
export async function readRecord(files: Files): Promise<StagedRecord> {
  return (await readSet(file.stagedRecord, files)) ?? { version: '', bundle: '', agent: '', files: [] };
}

export async function writeRecord(record: StagedRecord, files: Files): Promise<void> {
  await writeSet(file.stagedRecord, record, files);
}

export async function readSets(files: Files): Promise<StagedSets> {
  return {
    current: await readRecord(files),
    next: await readKept(file.nextSet, files),
    previous: await readKept(file.previousSet, files),
  };
}

/** A kept set without a version could not be activated, and counts as missing. */
async function readKept(path: string, files: Files): Promise<StagedRecord | undefined> {
  const set = await readSet(path, files);
  return set === undefined || set.version === '' ? undefined : set;
}

/** Undefined when the record is missing or cannot be parsed. */
async function readSet(path: string, files: Files): Promise<StagedRecord | undefined> {
  const text = (await files.read(path)) ?? '';
  const parsed = attempt(() => parseSet(new Fields(jsonIn(text), path)));
  return parsed.ok ? parsed.value : undefined;
}

export async function writeSet(path: string, record: StagedRecord, files: Files): Promise<void> {
  await files.write(path, `${JSON.stringify(record, undefined, 2)}\n`);
}

/** The staged files after a bundle with new and removed files. */
export function mergeFiles(
  before: readonly StagedFile[],
  entries: readonly BundleEntry[],
  remove: readonly string[],
): StagedFile[] {
  const gone = new Set([...entries.map(({ path }) => path), ...remove].map(pathKey));
  return [...before.filter(({ path }) => !gone.has(pathKey(path))), ...entries.map(stagedFile)];
}

function stagedFile({ path, sha256, bytes, encoding, secret }: BundleEntry): StagedFile {
  return { path, sha256, bytes, encoding, secret };
}

const setRecords: ReadonlySet<string> = new Set([file.stagedRecord, file.nextSet, file.previousSet]);

/** Whether this is the path of a record of a set. */
export function isSetRecord(path: string): boolean {
  return setRecords.has(path);
}

export function parseSet(fields: Fields): StagedRecord {
  return {
    version: fields.string('version') ?? '',
    bundle: fields.string('bundle') ?? '',
    agent: fields.string('agent') ?? '',
    files: fields.objects('files').map(readFile),
  };
}

function readFile(fields: Fields): StagedFile {
  return {
    path: fields.requiredString('path'),
    sha256: fields.requiredString('sha256'),
    bytes: fields.number('bytes') ?? 0,
    encoding: readEncoding(fields),
    secret: fields.boolean('secret') ?? false,
  };
}

function readEncoding(fields: Fields): BundleEncoding {
  return bundleEncodings.find(one => one === fields.string('encoding')) ?? 'none';
}
