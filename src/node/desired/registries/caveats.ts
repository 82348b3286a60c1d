import { byteOrder } from '#base/compare.ts';
import type { KubeObject } from '#contract/object.ts';
import { mirrorPrefix, printLocation } from './locations.ts';
import { type MergedMirrorSet, mergeEntries, prefixesOf } from './merge.ts';
import { type MirrorEntry, readMirrorEntries } from './mirror-sets.ts';

/** Differences between Windows and Linux nodes, for administrators. */
export function mirrorCaveats(mirrorObjects: readonly KubeObject[]): string[] {
  const { entries } = readMirrorEntries(mirrorObjects);
  const merged = mergeEntries(entries);
  const groups = [...Map.groupBy(entries, entry => entry.source.host)];
  groups.sort(([one], [other]) => byteOrder(one, other));
  return [
    ...groups.flatMap(([host, group]) => [...wholeRegistry(host, group), ...sharedMirrors(host, group)]),
    ...entries.flatMap(entry => [...otherOrder(entry, merged), ...otherPath(entry)]),
  ];
}

/** Mirrors of these sets that Windows nodes look for at another path than the listed one. */
export function pathCaveats(mirrorObjects: readonly KubeObject[]): string[] {
  return readMirrorEntries(mirrorObjects).entries.flatMap(otherPath);
}

function wholeRegistry(host: string, group: readonly MirrorEntry[]): string[] {
  const repositories = new Set(
    group.filter(({ source }) => source.path.length > 0).map(({ source }) => printLocation(source)),
  );
  if (repositories.size === 0) return [];
  return [
    `${host}: Windows nodes use the mirrors for the whole registry, not only for ${[...repositories].join(', ')}`,
  ];
}

function sharedMirrors(host: string, group: readonly MirrorEntry[]): string[] {
  const distinct = new Set(
    group.map(entry => JSON.stringify([prefixesOf(entry).sort(), entry.policy, entry.resolvesTags])),
  );
  if (distinct.size < 2) return [];
  const entries = group.map(({ where }) => where).join('; ');
  return [`${host}: on Windows nodes the mirrors and policy of each entry hold for the others as well (${entries})`];
}

/** Only where another entry of the registry contradicts it. */
function otherOrder(entry: MirrorEntry, merged: readonly MergedMirrorSet[]): string[] {
  const listed = prefixesOf(entry);
  const all = merged.find(({ source }) => source === entry.source.host)?.mirrors ?? [];
  const tried = all.map(({ host }) => host).filter(host => listed.includes(host));
  if (listed.every((prefix, index) => prefix === tried[index])) return [];
  return [
    `${entry.where}: Windows nodes try the mirrors in the order of an earlier entry (${tried.join(', ')}), not as listed (${listed.join(', ')})`,
  ];
}

/** containerd appends the path of the image, so a mirror must end with the path of the source. */
function otherPath({ where, source, mirrors }: MirrorEntry): string[] {
  return mirrors.flatMap(mirror => {
    const { host, path } = mirrorPrefix(source, mirror);
    const tried = printLocation({ host, path: [...path, ...source.path] });
    const listed = printLocation({ host, path: mirror.path });
    return tried === listed
      ? []
      : [`${where}: Windows nodes look for ${printLocation(source)} at ${tried}, not at ${listed}`];
  });
}
