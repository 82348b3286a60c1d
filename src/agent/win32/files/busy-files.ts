import { access } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';

/** How files are renamed; tests let it fail as Windows does. */
export interface Renaming {
  clock: Clock;
  rename: (from: string, to: string) => Promise<void>;
}

/** How the name of a program ends that was moved aside because it ran; a later write in the directory deletes it. */
export const asideName = /\.wicd-old-\d+$/;

/** 6 s in all, for as long as a scanner or a backup usually has a file open. */
const retryDelaysMs = [50, 100, 200, 400, 800, 1500, 3000];
/** What Node says when somebody has the file open and does not let others replace it. */
const busyCodes: readonly unknown[] = ['EPERM', 'EBUSY', 'EACCES'];

/** Puts a file in place of another. A program that runs is moved aside; for other files in use it is tried for a while. */
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

/** Tries until the file is not in use any more, for a limited time. */
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

/** Windows lets a running program be renamed, but neither replaced nor deleted. */
async function exchange(from: string, to: string, rename: Renaming['rename']): Promise<void> {
  const aside = await freeName(to);
  await rename(to, aside);
  try {
    await rename(from, to);
  } catch (error) {
    // It was the new file that is in use, by a scanner perhaps: until it is free the old one stays.
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

/** Whether the file system said that the file is in use, or that we may not touch it. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && busyCodes.includes(error.code);
}
