import { AppError, messageOf } from '#base/errors.ts';
import { pathKey } from '#contract/host-path.ts';
import { dir } from '#contract/paths.ts';
import type { HostFiles } from '../ports.ts';
import { readRecord } from '../stage/record.ts';
import { type FolderRule, folderRules, hasRule, inheritsRights, secretFiles } from './folders.ts';
import { type Access, judge, type Verdict } from './plan.ts';

/** The agent has a few hundred files; only an administrator could have added more. */
const maxEntries = 20_000;
const maxDepth = 20;
const maxRaces = 5;

/**
 * Creates all folders of the agent and fixes owner and rights of them and of everything in them: links are removed, entries
 * of untrusted owners are moved to the quarantine folder, rights are set. All entries are checked before it rejects because
 * one could not be fixed.
 */
export async function secureFolders(files: HostFiles, signal: AbortSignal): Promise<SecuredFolders> {
  const walk = new Walk(files, signal);
  for (const rule of folderRules) await walk.folder(rule);
  // Innermost first: the record of staged files must be safe before it is read.
  for (const rule of folderRules.toReversed()) if (rule.below) await walk.below(rule.path, rule.access);
  const [failure] = walk.failures;
  if (failure !== undefined) throw failure;
  return { events: walk.events, kept: walk.kept };
}

export interface SecuredFolders {
  /** One sentence for each entry that was wrong. */
  events: string[];
  /** Folders of users that could not be moved because they are open: open handles can change them until the next boot. */
  kept: string[];
}

/** The same for one file; afterwards it is safe or gone. */
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
        // A user has created it after the check, so it must be checked again.
        if (left <= 1) throw unsafe(path, 'is created again and again by another program');
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
        this.events.push(`${path}: not checked, because there are too many files`);
        return;
      }
      const isFolder = await this.#attempt(path, async () => {
        const exists = await this.settle(path, await this.#accessOf(path, access), access);
        return exists && (await this.#files.inspect(path))?.is === 'directory';
      });
      if (isFolder === true) await this.below(path, access, depth + 1);
    }
  }

  /** Fixes one entry; false when it does not exist afterwards. `inherited` are the rights of its folder. */
  async settle(path: string, access: Access, inherited?: Access): Promise<boolean> {
    const entry = await this.#files.inspect(path);
    if (entry === undefined) return false;
    const verdict = judge(entry, access);
    if (verdict.do === 'keep') return true;
    if (inherited !== undefined && inheritsRights(path) && judge(entry, inherited).do === 'keep') {
      await this.#files.protect(path, access);
      return true;
    }
    const exists = await this.#act(path, verdict, access);
    // An open file is replaced when it is staged; a folder stays.
    if (exists && verdict.do === 'move aside' && entry.is === 'directory') this.kept.push(path);
    return exists;
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

  /** Records a failure, so that the other entries are still checked. */
  async #attempt<T>(path: string, act: () => Promise<T>): Promise<T | undefined> {
    this.#signal.throwIfAborted();
    try {
      return await act();
    } catch (error) {
      this.failures.push(error instanceof AppError ? error : failed(path, error));
      return undefined;
    }
  }

  /** Gives the new path; undefined when an open handle blocks the move. */
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
    remedy: `Allow only administrators to write there: check with icacls.exe ${path}, and find out who changed it.`,
  });
}

function failed(path: string, cause: unknown): AppError {
  return new AppError('HOST_FILE_UNUSABLE', `${path}: owner and rights cannot be checked or set: ${messageOf(cause)}`, {
    remedy: `Grant SYSTEM and Administrators full control (icacls.exe ${path}), or delete it.`,
    cause,
  });
}

async function secretPaths(files: HostFiles): Promise<ReadonlySet<string>> {
  const staged = (await readRecord(files)).files.filter(({ secret }) => secret).map(({ path }) => path);
  return new Set([...secretFiles, ...staged].map(pathKey));
}
