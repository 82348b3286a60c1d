import { attempt } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { type BundleEncoding, type BundleEntry, bundleEncodings } from '#contract/bundle.ts';
import { pathKey } from '#contract/host-path.ts';
import { dir, file } from '#contract/paths.ts';
import type { Files, HostFiles } from '../ports.ts';
import { unpacked } from './content.ts';

/** A staged file, of which a packed copy is kept. */
export type StagedFile = Omit<BundleEntry, 'packedBytes'>;

/** All staged files, and the last bundle. */
export interface StagedRecord {
  version: string;
  bundle: string;
  files: StagedFile[];
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

/** Empty when the record is missing or cannot be parsed; the next bundle writes it again. */
export async function readRecord(files: Files): Promise<StagedRecord> {
  const text = (await files.read(file.stagedRecord)) ?? '';
  const parsed = attempt(() => readFields(new Fields(jsonIn(text), 'record of staged files')));
  return parsed.ok ? parsed.value : { version: '', bundle: '', files: [] };
}

export async function writeRecord(record: StagedRecord, files: Files): Promise<void> {
  await files.write(file.stagedRecord, `${JSON.stringify(record, undefined, 2)}\n`);
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

function readFields(fields: Fields): StagedRecord {
  return {
    version: fields.string('version') ?? '',
    bundle: fields.string('bundle') ?? '',
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
