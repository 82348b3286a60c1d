import { fromUtf8 } from '#base/bytes.ts';
import { AppError, attempt, shown } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { checkPlaces, pathKey } from './host-path.ts';
import { file } from './paths.ts';

/**
 * Files for a host as one upload: eight bytes of magic, the length of the header in four, the header in JSON, then the
 * packed content of every entry in order. The SHA-256 of the bundle is sent separately.
 */

export const bundleEncodings = ['none', 'zstd'] as const;
export type BundleEncoding = (typeof bundleEncodings)[number];

/** A file to put in place. */
export interface BundleEntry {
  path: string;
  /** Of the unpacked content, in lower-case hex. */
  sha256: string;
  bytes: number;
  encoding: BundleEncoding;
  packedBytes: number;
  /** For SYSTEM and Administrators only. */
  secret: boolean;
}

export interface BundleHeader {
  /** Version of the operator that created it. */
  version: string;
  entries: BundleEntry[];
  /** Files to delete. */
  remove: string[];
  /**
   * All files of a set that is only kept: the entries are those of which the host has no copy yet. Its paths have the same rules as
   * those of entries.
   */
  next?: NextSet;
}

/** A set of files for a later swap. */
export interface NextSet {
  /** SHA-256 of the agent program that belongs to it. */
  agent: string;
  files: SetFile[];
}

/** A file of a set; how its copy is packed is known to the host. */
export type SetFile = Pick<BundleEntry, 'path' | 'sha256' | 'bytes' | 'secret'>;

const magic = new TextEncoder().encode('WMCOFILE');
const format = 1;

/** The bytes up to and including the length of the header. */
export const preambleBytes = magic.length + 4;
const maxHeaderBytes = 4 * 1024 * 1024;
const maxFileBytes = 4 * 1024 * 1024 * 1024;

/** Everything that comes before the content. */
export function printHeader(header: BundleHeader): Uint8Array {
  checkHeader(header);
  const json = new TextEncoder().encode(JSON.stringify({ format, ...header }));
  if (json.length > maxHeaderBytes) throw malformed(`its header has ${json.length} bytes`);
  const printed = new Uint8Array(preambleBytes + json.length);
  printed.set(magic);
  new DataView(printed.buffer).setUint32(magic.length, json.length);
  printed.set(json, preambleBytes);
  return printed;
}

/** The length of the header in bytes. */
export function readPreamble(bytes: Uint8Array): number {
  if (bytes.length !== preambleBytes || magic.some((byte, index) => byte !== bytes[index])) {
    throw malformed('it does not begin with the bundle magic');
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(magic.length);
  if (length > maxHeaderBytes) throw malformed(`its header has ${length} bytes, more than ${maxHeaderBytes}`);
  return length;
}

export function parseHeader(bytes: Uint8Array): BundleHeader {
  const header = attempt(() => readHeader(bytes));
  if (header.ok) return header.value;
  // One code for every problem: the sender uploads the bundle again in each case.
  throw header.error.code === 'BUNDLE_MALFORMED' ? header.error : malformed(header.error.message);
}

function readHeader(bytes: Uint8Array): BundleHeader {
  const fields = new Fields(parseJson(bytes), 'bundle header');
  if (fields.number('format') !== format) {
    throw malformed(`its format is ${shown(fields.raw('format'))}; this agent supports ${format}`);
  }
  const header = {
    version: fields.requiredString('version'),
    entries: fields.objects('entries').map(parseEntry),
    remove: fields.strings('remove'),
    ...(fields.raw('next') !== undefined && { next: parseNext(fields.object('next')) }),
  };
  checkHeader(header);
  return header;
}

function parseEntry(fields: Fields): BundleEntry {
  const encoding = fields.requiredString('encoding');
  const known = bundleEncodings.find(one => one === encoding);
  if (known === undefined) throw malformed(`${fields.path}.encoding is ${shown(encoding)}, which is not supported`);
  return { ...parseFile(fields), encoding: known, packedBytes: fields.number('packedBytes') ?? -1 };
}

function parseNext(fields: Fields): NextSet {
  return { agent: fields.requiredString('agent'), files: fields.objects('files').map(parseFile) };
}

function parseFile(fields: Fields): SetFile {
  return {
    path: fields.requiredString('path'),
    sha256: fields.requiredString('sha256'),
    bytes: fields.number('bytes') ?? -1,
    secret: fields.boolean('secret') ?? false,
  };
}

function checkHeader({ entries, remove, next }: BundleHeader): void {
  checkPlaces([...entries.map(entry => entry.path), ...remove], malformed);
  for (const { path, sha256, bytes, encoding, packedBytes } of entries) {
    checkHash(sha256, path);
    for (const size of [bytes, packedBytes]) checkSize(size, path);
    if (encoding === 'none' && packedBytes !== bytes)
      throw malformed(`${path} is not packed but has two different sizes`);
  }
  if (next !== undefined) checkNext(next, entries, remove);
}

/** Nothing but the set may be in such a bundle, so that no file is placed by mistake. */
function checkNext({ agent, files }: NextSet, entries: readonly BundleEntry[], remove: readonly string[]): void {
  checkPlaces(
    files.map(({ path }) => path),
    malformed,
  );
  checkHash(agent, file.agent);
  for (const { path, sha256, bytes } of files) {
    if (pathKey(path) === pathKey(file.agent)) throw malformed(`${path} is in a set, which has it by its hash`);
    checkHash(sha256, path);
    checkSize(bytes, path);
  }
  if (remove.length > 0) throw malformed(`it removes ${remove[0]}, which a set that is only kept cannot do`);
  const known = new Set(files.map(({ path, sha256 }) => `${sha256} ${pathKey(path)}`));
  const other = entries.find(({ path, sha256 }) => !known.has(`${sha256} ${pathKey(path)}`));
  if (other !== undefined) throw malformed(`${other.path} is not in its set`);
}

function checkHash(sha256: string, path: string): void {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw malformed(`the hash of ${path} is ${shown(sha256)}, not SHA-256 in hex`);
}

function checkSize(size: number, path: string): void {
  if (Number.isSafeInteger(size) && size >= 0 && size <= maxFileBytes) return;
  throw malformed(`a size of ${path} is ${size}, not a whole number of bytes up to ${maxFileBytes}`);
}

function parseJson(bytes: Uint8Array): unknown {
  const value = jsonIn(fromUtf8(bytes) ?? '');
  if (value === undefined) throw malformed('its header is not JSON');
  return value;
}

function malformed(what: string): AppError {
  return new AppError('BUNDLE_MALFORMED', `bundle: ${what}`, {
    remedy: 'Upload the bundle again; it must come from an operator of the same version as the agent.',
  });
}
