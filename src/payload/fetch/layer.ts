import { shown } from '#base/errors.ts';
import { readTar } from '../tar.ts';
import type { TakeMember } from './archive.ts';
import { kindOfArchive, unpacked } from './compressed.ts';
import { archiveRefused } from './failures.ts';

const whiteout = '.wh.';
/** The folder that has it hides everything that lower layers have in it. */
const opaque = '.wh..wh..opq';

export interface Layer {
  /** The blob. */
  path: string;
  /** For messages. */
  what: string;
  /** Layers of Windows have the files of the system in a folder. */
  isWindows: boolean;
}

/**
 * Takes those of the members that this layer has. Returns the ones that it hides from lower layers: deleted, or below something that
 * is no folder any more.
 */
export async function readLayer(
  { path, what, isWindows }: Layer,
  members: readonly string[],
  take: TakeMember,
): Promise<{ taken: Set<string>; hidden: Set<string> }> {
  const fail = (why: string) => archiveRefused(what, why);
  const kind = await kindOfArchive(path);
  if (kind === 'zip') throw fail('is a zip file, not a layer of an image');
  const taken = new Set<string>();
  const hidden = new Set<string>();
  for await (const entry of readTar(unpacked(path, kind, what), fail)) {
    const at = pathIn(entry.path, isWindows);
    if (at === undefined) continue;
    for (const member of members.filter(each => hides(at, entry.kind, each))) hidden.add(member);
    if (!members.includes(at)) continue;
    if (entry.kind !== 'file') throw fail(`has ${shown(at)} as a ${entry.kind}, not as a file`);
    if (taken.has(at)) throw fail(`has ${shown(at)} twice`);
    taken.add(at);
    await take(at, entry.content);
  }
  return { taken, hidden };
}

/** Undefined for what is no file of the system. */
function pathIn(path: string, isWindows: boolean): string | undefined {
  const parts = path.split('/').filter(part => part !== '' && part !== '.');
  if (parts.includes('..')) return undefined;
  if (!isWindows) return parts.join('/');
  return parts[0] === 'Files' ? parts.slice(1).join('/') : undefined;
}

/** An entry hides what lower layers have under this path. */
function hides(at: string, kind: string, member: string): boolean {
  const slash = at.lastIndexOf('/') + 1;
  const [folder, name] = [at.slice(0, slash), at.slice(slash)];
  if (name === opaque) return member.startsWith(folder);
  if (!name.startsWith(whiteout)) return kind !== 'folder' && member.startsWith(`${at}/`);
  const deleted = `${folder}${name.slice(whiteout.length)}`;
  return member === deleted || member.startsWith(`${deleted}/`);
}
