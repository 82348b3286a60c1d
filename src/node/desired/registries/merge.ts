import { byteOrder } from '#base/compare.ts';
import { mirrorPrefix, printLocation } from './locations.ts';
import type { MirrorEntry, SourcePolicy } from './mirror-sets.ts';
import { mergeOrders } from './order.ts';

export interface MergedMirror {
  /** `host[:port][/path]` that replaces the host of the source. */
  host: string;
  canResolveTags: boolean;
}

/** Mirrors of one source registry: containerd supports mirrors of registries, not of repositories. */
export interface MergedMirrorSet {
  /** `host[:port]`. */
  source: string;
  /** In the order in which they are tried. */
  mirrors: MergedMirror[];
  sourcePolicy: SourcePolicy;
}

/** Merges entries by source host. Mirrors keep the order of each entry; where entries contradict each other, the earlier wins. */
export function mergeEntries(entries: readonly MirrorEntry[]): MergedMirrorSet[] {
  const byHost = Map.groupBy(entries, entry => entry.source.host);
  return [...byHost]
    .map(([source, group]) => ({ source, mirrors: mergeMirrors(group), sourcePolicy: strictestPolicy(group) }))
    .sort((one, other) => byteOrder(one.source, other.source));
}

/** Mirrors of an entry as `host[:port][/path]`, each once, in the order listed. */
export function prefixesOf({ source, mirrors }: MirrorEntry): string[] {
  return [...new Set(mirrors.map(mirror => printLocation(mirrorPrefix(source, mirror))))];
}

/** A mirror listed for tags and for digests serves both. */
function mergeMirrors(group: readonly MirrorEntry[]): MergedMirror[] {
  const forTags = new Set(group.filter(({ resolvesTags }) => resolvesTags).flatMap(prefixesOf));
  return mergeOrders(group.map(prefixesOf)).map(host => ({ host, canResolveTags: forTags.has(host) }));
}

/** One entry that forbids the source forbids it for the registry: leaking a request cannot be undone, a failed pull can. */
function strictestPolicy(group: readonly MirrorEntry[]): SourcePolicy {
  return group.some(({ policy }) => policy === 'NeverContactSource') ? 'NeverContactSource' : 'AllowContactingSource';
}
