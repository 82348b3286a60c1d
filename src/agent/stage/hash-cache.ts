import type { Clock } from '#base/clock.ts';
import { pathKey } from '#contract/host-path.ts';
import type { FileStat, HostFiles } from '../ports.ts';

/** Lower-case hex SHA-256 of a file; undefined when it does not exist. */
export type HashOf = (path: string) => Promise<string | undefined>;

interface Known extends FileStat {
  sha256: string;
  checkedMs: number;
}

/** Size and time can be forged, so a cached hash is used for a limited time. */
const maxAgeMs = 60 * 60 * 1000;

/** Hashes a file only when its size or time has changed: every pass checks hundreds of megabytes. */
export function createHashCache(files: HostFiles, clock: Clock): HashOf {
  const known = new Map<string, Known>();
  return async path => {
    const before = await files.stat(path);
    const entry = known.get(pathKey(path));
    if (before !== undefined && isFresh(entry, before, clock)) return entry?.sha256;
    known.delete(pathKey(path));
    const sha256 = await files.sha256(path);
    const after = await files.stat(path);
    // A file that was written meanwhile is hashed again the next time.
    if (sha256 !== undefined && after !== undefined && sameStat(before, after)) {
      known.set(pathKey(path), { ...after, sha256, checkedMs: clock.monotonicMs() });
    }
    return sha256;
  };
}

function isFresh(entry: Known | undefined, stat: FileStat, clock: Clock): boolean {
  return entry !== undefined && sameStat(entry, stat) && clock.monotonicMs() - entry.checkedMs < maxAgeMs;
}

function sameStat(one: FileStat | undefined, other: FileStat): boolean {
  return one?.bytes === other.bytes && one.modifiedMs === other.modifiedMs;
}
