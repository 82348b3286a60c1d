import type { Clock } from '#base/clock.ts';
import { pathKey } from '#contract/host-path.ts';
import type { FileStat, HostFiles } from '../ports.ts';

/** Lower-case hex SHA-256 of a file; undefined when it does not exist. */
export type HashOf = (path: string) => Promise<string | undefined>;

interface Known extends FileStat {
  sha256: string;
  checkedMs: number;
}

/** Somebody may take care that size and time stay as they were, so nothing is believed for longer. */
const believedMs = 60 * 60 * 1000;

/** Hashes a file only when its size or its time of change is new: ours are hundreds of megabytes, looked at in every pass. */
export function createHashCache(files: HostFiles, clock: Clock): HashOf {
  const known = new Map<string, Known>();
  return async path => {
    const before = await files.stat(path);
    const entry = known.get(pathKey(path));
    if (before !== undefined && isFresh(entry, before, clock)) return entry?.sha256;
    known.delete(pathKey(path));
    const sha256 = await files.sha256(path);
    const after = await files.stat(path);
    // What was written while we read is looked at again the next time.
    if (sha256 !== undefined && after !== undefined && sameStat(before, after)) {
      known.set(pathKey(path), { ...after, sha256, checkedMs: clock.monotonicMs() });
    }
    return sha256;
  };
}

function isFresh(entry: Known | undefined, stat: FileStat, clock: Clock): boolean {
  return entry !== undefined && sameStat(entry, stat) && clock.monotonicMs() - entry.checkedMs < believedMs;
}

function sameStat(one: FileStat | undefined, other: FileStat): boolean {
  return one?.bytes === other.bytes && one.modifiedMs === other.modifiedMs;
}
