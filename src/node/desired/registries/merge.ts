import { byteOrder } from '#base/compare.ts';
import { mirrorPrefix, printLocation } from './locations.ts';
import type { MirrorEntry, SourcePolicy } from './mirror-sets.ts';

export interface MergedMirror {
  /** `host[:port][/path]` that replaces the host of the source. */
  host: string;
  canResolveTags: boolean;
}

/** Mirrors of one source registry: containerd supports mirrors of registries, not of repositories. */
export interface MergedMirrorSet {
  /** `host[:port]`. */
  source: string;
  mirrors: MergedMirror[];
  sourcePolicy: SourcePolicy;
}

/** Merges entries by source host. The result does not depend on the order of objects and entries. */
export function mergeEntries(entries: readonly MirrorEntry[]): MergedMirrorSet[] {
  const byHost = Map.groupBy(entries, entry => entry.source.host);
  return [...byHost]
    .map(([source, group]) => ({ source, mirrors: mergeMirrors(group), sourcePolicy: strictestPolicy(group) }))
    .sort((one, other) => byteOrder(one.source, other.source));
}

/** A mirror listed for tags and for digests serves both. */
function mergeMirrors(group: readonly MirrorEntry[]): MergedMirror[] {
  const resolves = new Map<string, boolean>();
  for (const { source, mirrors, resolvesTags } of group) {
    for (const mirror of mirrors) {
      const prefix = printLocation(mirrorPrefix(source, mirror));
      resolves.set(prefix, resolvesTags || resolves.get(prefix) === true);
    }
  }
  return [...resolves]
    .map(([host, canResolveTags]) => ({ host, canResolveTags }))
    .sort((one, other) => byteOrder(one.host, other.host));
}

/** One entry that forbids the source forbids it for the registry: leaking a request cannot be undone, a failed pull can. */
function strictestPolicy(group: readonly MirrorEntry[]): SourcePolicy {
  return group.some(({ policy }) => policy === 'NeverContactSource') ? 'NeverContactSource' : 'AllowContactingSource';
}
