import { readdirSync, readlinkSync } from 'node:fs';

/** How many files with this path, or below it, are open in this process. Other threads open and close others meanwhile. */
export function openFilesAt(path: string): number {
  const targets = readdirSync('/proc/self/fd').map(handle => {
    try {
      return readlinkSync(`/proc/self/fd/${handle}`);
    } catch {
      return '';
    }
  });
  return targets.filter(target => target === path || target.startsWith(`${path}/`)).length;
}
