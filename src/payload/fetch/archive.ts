import { shown } from '#base/errors.ts';
import { readTar } from '../tar.ts';
import { kindOfArchive, unpacked } from './compressed.ts';
import { archiveRefused } from './failures.ts';
import { readZip } from './zip.ts';

/** Takes the content of the named members, and of no other. */
export type TakeMember = (member: string, content: AsyncIterable<Uint8Array>) => Promise<void>;

interface Entry {
  path: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  content: AsyncIterable<Uint8Array>;
}

/** Reads a whole .tar.gz, .tar or .zip, and gives each of the members to `take` once. */
export async function unpackMembers(
  archive: string,
  what: string,
  members: readonly string[],
  take: TakeMember,
): Promise<void> {
  const kind = await kindOfArchive(archive);
  const fail = (why: string) => archiveRefused(what, why);
  const entries: AsyncIterable<Entry> =
    kind === 'zip' ? readZip(archive, fail) : readTar(unpacked(archive, kind, what), fail);
  const taken = new Set<string>();
  for await (const { path, kind, content } of entries) {
    if (!members.includes(path)) continue;
    if (kind !== 'file') throw fail(`has ${shown(path)} as a ${kind}, not as a file`);
    if (taken.has(path)) throw fail(`has ${shown(path)} twice`);
    taken.add(path);
    await take(path, content);
  }
  const missing = members.filter(member => !taken.has(member));
  if (missing.length > 0) throw fail(`has no file ${missing.map(shown).join(', ')}`);
}
