import { AppError, messageOf } from '#base/errors.ts';
import { pathKey } from '#contract/host-path.ts';
import { dir } from '#contract/paths.ts';
import type { HostFiles } from '../ports.ts';
import { readRecord } from '../stage/record.ts';
import { type FolderRule, folderRules, hasRule, secretFiles } from './folders.ts';
import { type Access, judge, type Verdict } from './plan.ts';

/** Ours are a few hundred; whoever fills our folders with more has had the rights of an administrator. */
const maxEntries = 20_000;
const maxDepth = 20;
const maxRaces = 5;

/**
 * Makes all folders of ours and has owner and rights of them and of everything in them as they should be: links are removed,
 * what belongs to others is moved to the quarantine folder, rights are set. Gives one sentence for each entry that was wrong;
 * rejects when all has been looked at and one could not be set right.
 */
export async function secureFolders(files: HostFiles, signal: AbortSignal): Promise<SecuredFolders> {
  const walk = new Walk(files, signal);
  for (const rule of folderRules) await walk.folder(rule);
  // The innermost first: the record of staged files is safe before it is read.
  for (const rule of folderRules.toReversed()) if (rule.below) await walk.below(rule.path, rule.access);
  const [failure] = walk.failures;
  if (failure !== undefined) throw failure;
  return { events: walk.events, kept: walk.kept };
}

export interface SecuredFolders {
  /** One sentence for each entry that was wrong. */
  events: string[];
  /**
   * What belonged to a user and could not be moved, because it is open: owner and rights are set, but whoever has opened it before
   * may still change it until the next boot.
   */
  kept: string[];
}

/** The same for one file; afterwards it is as it should be, or gone. */
export async function secureFile(path: string, access: Access, files: HostFiles): Promise<void> {
  await new Walk(files, new AbortController().signal).settle(path, access);
}

class Walk {
  readonly events: string[] = [];
  readonly kept: string[] = [];
  readonly failures: AppError[] = [];
  readonly #files: HostFiles;
  readonly #signal: AbortSignal;
  #secrets: ReadonlySet<string> | undefined;
  #entries = 0;

  constructor(files: HostFiles, signal: AbortSignal) {
    this.#files = files;
    this.#signal = signal;
  }

  async folder({ path, access }: FolderRule): Promise<void> {
    await this.#attempt(path, async () => {
      for (let left = maxRaces; !(await this.settle(path, access)); left -= 1) {
        if (await this.#files.createDirectory(path, access)) return;
        // A user has made it between our look and our call; what he has made is not taken for ours.
        if (left <= 1) throw unsafe(path, 'is made again and again by another program');
      }
    });
  }

  async below(directory: string, access: Access, depth = 1): Promise<void> {
    const names = (await this.#attempt(directory, () => this.#files.list(directory))) ?? [];
    for (const name of names) {
      const path = `${directory}\\${name}`;
      if (hasRule(path)) continue;
      this.#entries += 1;
      if (this.#entries > maxEntries || depth > maxDepth) {
        this.events.push(`${path}: not looked at, because there are too many files`);
        return;
      }
      const isFolder = await this.#attempt(path, async () => {
        const isThere = await this.settle(path, await this.#accessOf(path, access));
        return isThere && (await this.#files.inspect(path))?.is === 'directory';
      });
      if (isFolder === true) await this.below(path, access, depth + 1);
    }
  }

  /** False when there is nothing at the path, or not any more. */
  async settle(path: string, access: Access): Promise<boolean> {
    const entry = await this.#files.inspect(path);
    if (entry === undefined) return false;
    const verdict = judge(entry, access);
    if (verdict.do === 'keep') return true;
    const isThere = await this.#act(path, verdict, access);
    // A file that is open is replaced as a whole when it is staged; a folder stays.
    if (isThere && verdict.do === 'move aside' && entry.is === 'directory') this.kept.push(path);
    return isThere;
  }

  async #act(path: string, verdict: Exclude<Verdict, { do: 'keep' }>, access: Access): Promise<boolean> {
    if (verdict.do === 'remove link') {
      await this.#files.remove(path);
      this.events.push(`${path}: ${verdict.why}; removed`);
      return false;
    }
    const aside = verdict.do === 'move aside' ? await this.#moveAside(path) : undefined;
    if (aside !== undefined) {
      this.events.push(`${path}: ${verdict.why}; moved to ${aside}`);
      return false;
    }
    await this.#files.protect(path, access);
    this.events.push(`${path}: ${verdict.why}; set owner and rights`);
    return true;
  }

  /** One that fails keeps none of the others from being looked at. */
  async #attempt<T>(path: string, act: () => Promise<T>): Promise<T | undefined> {
    this.#signal.throwIfAborted();
    try {
      return await act();
    } catch (error) {
      this.failures.push(error instanceof AppError ? error : failed(path, error));
      return undefined;
    }
  }

  /** Where it is now; undefined when a program keeps it from being moved. */
  async #moveAside(path: string): Promise<string | undefined> {
    await this.#files.makeDirectory(dir.quarantine, 'secret');
    const taken = new Set((await this.#files.list(dir.quarantine)).map(pathKey));
    const stem = path.replaceAll(/[^\w.-]+/g, '_').slice(-150);
    let number = 1;
    while (taken.has(pathKey(`${number}-${stem}`))) number += 1;
    const aside = `${dir.quarantine}\\${number}-${stem}`;
    return (await this.#files.move(path, aside)) ? aside : undefined;
  }

  async #accessOf(path: string, access: Access): Promise<Access> {
    if (access === 'secret') return access;
    this.#secrets ??= await secretPaths(this.#files);
    return this.#secrets.has(pathKey(path)) ? 'secret' : access;
  }
}

export function unsafe(path: string, why: string): AppError {
  return new AppError('HOST_FOLDER_UNSAFE', `${path} ${why}`, {
    remedy: `Let only administrators write there: see icacls.exe ${path}, and find out who changed it.`,
  });
}

function failed(path: string, cause: unknown): AppError {
  const why = messageOf(cause);
  return new AppError('HOST_FILE_UNUSABLE', `${path}: owner and rights cannot be checked or set: ${why}`, {
    remedy: `Give SYSTEM and Administrators all rights to it (icacls.exe ${path}), or delete it.`,
    cause,
  });
}

async function secretPaths(files: HostFiles): Promise<ReadonlySet<string>> {
  const staged = (await readRecord(files)).files.filter(({ secret }) => secret).map(({ path }) => path);
  return new Set([...secretFiles, ...staged].map(pathKey));
}
