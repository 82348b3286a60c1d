import { join } from 'node:path';
import type { LockFile, Origin } from '../lock.ts';

/** Where a site keeps what it has copied: a folder, or the base of URLs. */
export type Mirror = { kind: 'folder'; path: string } | { kind: 'url'; base: URL };

/** Where something is taken from. */
export type Place = { kind: 'path'; path: string } | { kind: 'url'; url: URL };

/** Host and path of the URL, as `wget --force-directories` names the files that it downloads; without the query. */
export function placeOfUrl(url: string, mirror: Mirror | undefined): Place {
  const parsed = new URL(url);
  return mirror === undefined
    ? { kind: 'url', url: parsed }
    : placeIn(mirror, [parsed.host, ...parsed.pathname.split('/')]);
}

/** Registry, repository, tag, platform and path in the image. */
export function placeOfMember(
  { reference, platform }: Extract<Origin, { kind: 'image' }>,
  { member }: LockFile,
  mirror: Mirror | undefined,
): Place {
  if (mirror === undefined) throw new Error(`without a mirror, ${reference} is an image`);
  const tag = reference.lastIndexOf(':');
  return placeIn(mirror, `${reference.slice(0, tag)}/${reference.slice(tag + 1)}/${platform}/${member}`.split('/'));
}

/** The URL parser and the lock have left no `..`. */
function placeIn(mirror: Mirror, parts: readonly string[]): Place {
  const safe = parts.filter(part => part !== '' && part !== '.' && part !== '..');
  if (mirror.kind === 'folder') return { kind: 'path', path: join(mirror.path, ...safe) };
  return { kind: 'url', url: new URL(`${mirror.base.href.replace(/\/$/, '')}/${safe.join('/')}`) };
}

export function nameOf(place: Place): string {
  return place.kind === 'path' ? place.path : place.url.href;
}
