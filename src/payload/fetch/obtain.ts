import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { sumOf } from '../folder.ts';
import { type LockFile, type LockSource, type Origin, unverified } from '../lock.ts';
import { unpackMembers } from './archive.ts';
import { download, type DownloadContext } from './download.ts';
import { downloadDiffers, downloadFailed } from './failures.ts';
import { unpackImage } from './image.ts';
import { type Mirror, nameOf, type Place, placeOfMember, placeOfUrl } from './mirror.ts';
import { maxProgramBytes, type StoredProgram, storeProgram } from './program-file.ts';
import type { RegistryOptions } from './registry.ts';

export interface ObtainOptions extends RegistryOptions {
  clock: Clock;
  mirror: Mirror | undefined;
  /** The agent as `npm run build:agent` has made it. */
  agent: string | undefined;
  context: DownloadContext;
  /** Folder for what is unfinished. */
  downloads: string;
}

export interface Obtained {
  programs: ReadonlyMap<string, StoredProgram>;
  /** Of the archive in hex, or of the image; undefined for other sources. */
  sum: string | undefined;
  /** Deletes what was downloaded. */
  release: () => Promise<void>;
}

/** Kubernetes with all its programs has a third of this. */
const maxArchiveBytes = 2 * 1024 ** 3;

/** Brings the programs of a source into the folder of drafts, under any name; what the lock has of the source itself is checked. */
export async function obtain(source: LockSource, drafts: string, options: ObtainOptions): Promise<Obtained> {
  const { name, origin, files } = source;
  const programs = new Map<string, StoredProgram>();
  const draftOf = (file: LockFile) => join(drafts, String(files.indexOf(file)));
  const takeFrom = (what: string) => async (member: string, content: AsyncIterable<Uint8Array>) => {
    for (const file of files.filter(each => each.member === member))
      programs.set(file.path, await storeProgram(content, draftOf(file), `${what}: ${member}`));
  };
  const members = files.map(({ member }) => member);
  const own = { programs, sum: undefined, release: async () => undefined };
  if (origin.kind === 'archive') {
    const place = placeOfUrl(origin.url, options.mirror);
    const archive = await fetchArchive(place, origin.sha256, name, options);
    await unpackMembers(archive.path, nameOf(place), members, takeFrom(nameOf(place)));
    return { programs, sum: archive.sha256, release: archive.release };
  }
  if (origin.kind === 'image' && !hasFilesOfImages(options))
    return { ...own, sum: await unpackImage(origin, members, takeFrom(origin.reference), options) };
  for (const file of files)
    programs.set(file.path, await fetchProgram(placeOf(origin, file, options), file, draftOf(file), { name, options }));
  return own;
}

/** A mirror has the programs of images as files, without the images. */
export function hasFilesOfImages({
  mirror,
  registryMirror,
}: Pick<ObtainOptions, 'mirror' | 'registryMirror'>): boolean {
  return mirror !== undefined && registryMirror === undefined;
}

function placeOf(
  origin: Exclude<Origin, { kind: 'archive' }>,
  file: LockFile,
  { mirror, agent }: ObtainOptions,
): Place {
  if (origin.kind === 'built') return { kind: 'path', path: agent ?? '' };
  return origin.kind === 'file' ? placeOfUrl(origin.url, mirror) : placeOfMember(origin, file, mirror);
}

interface Archive {
  path: string;
  sha256: string;
  release: () => Promise<void>;
}

/** What lies in a mirror folder is read where it is. */
async function fetchArchive(place: Place, expected: string, name: string, options: ObtainOptions): Promise<Archive> {
  const sha256 = expected === unverified ? undefined : expected;
  if (place.kind === 'path') {
    await checkFile(place.path);
    const sum = await sumOf(place.path);
    if (sha256 !== undefined && sum !== sha256) throw downloadDiffers(place.path, sum, sha256);
    return { path: place.path, sha256: sum, release: async () => undefined };
  }
  const { url } = place;
  const partial = join(options.downloads, `${name}.archive`);
  const get = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => options.get(url, { headers, signal });
  const wanted = { url: url.href, get, sha256, maxBytes: maxArchiveBytes, partial };
  const sum = await download(wanted, options.context);
  return { path: partial, sha256: sum, release: () => rm(partial, { force: true }) };
}

interface Fetching {
  name: string;
  options: ObtainOptions;
}

async function fetchProgram(
  place: Place,
  file: LockFile,
  at: string,
  { name, options }: Fetching,
): Promise<StoredProgram> {
  if (place.kind === 'path') return copyOf(place.path, at);
  const partial = join(options.downloads, `${name}.${file.path.replaceAll('/', '_')}`);
  const { url } = place;
  const sha256 = await download(
    {
      url: url.href,
      get: (headers, signal) => options.get(url, { headers, signal }),
      sha256: file.sha256 === unverified ? undefined : file.sha256,
      maxBytes: maxProgramBytes,
      partial,
    },
    options.context,
  );
  return { at: partial, sha256 };
}

async function copyOf(path: string, at: string): Promise<StoredProgram> {
  await checkFile(path);
  return storeProgram(createReadStream(path) as AsyncIterable<Buffer>, at, path);
}

async function checkFile(path: string): Promise<void> {
  const facts = await stat(path).catch(() => undefined);
  if (facts?.isFile() === true) return;
  throw downloadFailed(
    path,
    facts === undefined ? 'the file does not exist' : 'it is not a file',
    'Copy it there, or correct the path.',
  );
}
