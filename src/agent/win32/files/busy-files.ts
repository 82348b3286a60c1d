import { access } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';

/** How files are renamed; tests make it fail as Windows does. */
export interface Renaming {
  clock: Clock;
  rename: (from: string, to: string) => Promise<void>;
}

/** Suffix of a running program that was moved aside; a later write in the directory deletes it. */
export const asideName = /\.wicd-old-\d+$/;

/** 6 s in all, longer than a scanner or a backup typically keeps a file open. */
const retryDelaysMs = [50, 100, 200, 400, 800, 1500, 3000];
/** Error codes of Node for a file that another program keeps open. */
const busyCodes: readonly unknown[] = ['EPERM', 'EBUSY', 'EACCES'];

/** Replaces a file. A running program is moved aside; for other files in use the rename is retried for a while. */
export async function replaceFile(from: string, to: string, renaming: Renaming): Promise<void> {
  await untilFree(renaming.clock, async () => {
    try {
      await renaming.rename(from, to);
    } catch (error) {
      if (!isBusy(error) || !/\.(exe|dll|node)$/i.test(to)) throw error;
      await exchange(from, to, renaming.rename);
    }
  });
}

/** Retries while the file is in use, for a limited time. */
export async function untilFree<T>(clock: Clock, act: () => Promise<T>): Promise<T> {
  for (const delayMs of retryDelaysMs) {
    try {
      return await act();
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    await clock.sleep(delayMs);
  }
  return act();
}

/** Windows allows a running program to be renamed, but not to be replaced or deleted. */
async function exchange(from: string, to: string, rename: Renaming['rename']): Promise<void> {
  const aside = await freeName(to);
  await rename(to, aside);
  try {
    await rename(from, to);
  } catch (error) {
    // The new file is in use, perhaps by a scanner: the old one stays until it is free.
    await rename(aside, to);
    throw error;
  }
}

async function freeName(path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const name = `${path}.wicd-old-${number}`;
    const isTaken = await access(name).then(
      () => true,
      () => false,
    );
    if (!isTaken) return name;
  }
}

/** True if the file is in use or access is denied; Node does not distinguish the two. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && busyCodes.includes(error.code);
}
