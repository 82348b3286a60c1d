import { AppError, messageOf } from '#base/errors.ts';
import { parentOf, pathKey } from '#contract/host-path.ts';
import type { HostFiles } from '../ports.ts';

const maxEntries = 100_000;
const maxDepth = 40;

/** Removes files and folders, and lists what could not be removed. Links are removed, never followed. */
export class Remover {
  removed = 0;
  /** Each with its reason. */
  readonly left: string[] = [];
  readonly #files: HostFiles;
  readonly #signal: AbortSignal;
  /** Whether a folder can be entered, by its key. */
  readonly #safe = new Map<string, Promise<boolean>>();
  #entries = 0;

  constructor(files: HostFiles, signal: AbortSignal) {
    this.#files = files;
    this.#signal = signal;
  }

  /** Removes a file or a link; a folder of that name belongs to a user. */
  async file(path: string): Promise<void> {
    await this.#attempt(path, async () => {
      if (!(await this.#isSafe(parentOf(path)))) return;
      const entry = await this.#files.inspect(path);
      if (entry === undefined) return;
      if (entry.is === 'directory') throw new Error('is a folder, not a file');
      await this.#files.remove(path);
      this.removed += 1;
    });
  }

  /** Removes a file with this content; any other file, folder or link of that name belongs to a user. */
  async unchangedFile(path: string, sha256: string): Promise<void> {
    const isUnchanged = await this.#attempt(path, async () => {
      if (!(await this.#isSafe(parentOf(path)))) return false;
      return (await this.#files.inspect(path))?.is === 'file' && (await this.#files.sha256(path)) === sha256;
    });
    if (isUnchanged === true) await this.file(path);
  }

  /** Names in a folder that is reached without a link. */
  async names(directory: string): Promise<string[]> {
    return (
      (await this.#attempt(directory, async () =>
        (await this.#isSafe(directory)) ? await this.#files.list(directory) : [],
      )) ?? []
    );
  }

  /** Removes everything in a folder, and keeps the folder. */
  async content(directory: string): Promise<void> {
    for (const name of await this.names(directory)) await this.tree(`${directory}\\${name}`);
  }

  /** Removes a file, or a folder with everything in it. */
  async tree(path: string, depth = 1): Promise<void> {
    this.#entries += 1;
    if (this.#entries > maxEntries || depth > maxDepth) return this.#tooMany(path);
    const entry = await this.#attempt(path, async () =>
      (await this.#isSafe(parentOf(path))) ? await this.#files.inspect(path) : undefined,
    );
    if (entry === undefined) return;
    if (entry.is !== 'directory') return this.file(path);
    for (const name of await this.names(path)) await this.tree(`${path}\\${name}`, depth + 1);
    await this.emptyFolder(path);
  }

  /** Keeps a folder with content. */
  async emptyFolder(path: string): Promise<void> {
    await this.#attempt(path, async () => {
      if (!(await this.#isSafe(path)) || (await this.#files.list(path)).length > 0) return;
      if (await this.#files.removeEmptyDirectory(path)) this.removed += 1;
      this.#safe.delete(pathKey(path));
    });
  }

  /** Records a failure, so that the others are still removed. */
  async #attempt<T>(path: string, act: () => Promise<T>): Promise<T | undefined> {
    this.#signal.throwIfAborted();
    try {
      return await act();
    } catch (error) {
      this.#signal.throwIfAborted();
      const text = messageOf(error);
      this.left.push(error instanceof AppError && text.startsWith(path) ? text : `${path}: ${text}`);
      return undefined;
    }
  }

  /** True for a folder that exists and has no link in its path. */
  #isSafe(directory: string): Promise<boolean> {
    const known = this.#safe.get(pathKey(directory));
    if (known !== undefined) return known;
    const found = this.#inspectFolder(directory);
    this.#safe.set(pathKey(directory), found);
    return found;
  }

  async #inspectFolder(directory: string): Promise<boolean> {
    if (!directory.includes('\\')) return true;
    if (!(await this.#isSafe(parentOf(directory)))) return false;
    const entry = await this.#files.inspect(directory);
    if (entry?.is === 'link') this.left.push(`${directory}: is a link, which is not followed`);
    return entry?.is === 'directory';
  }

  #tooMany(path: string): void {
    const text = 'not removed, because there are too many files';
    if (!this.left.some(line => line.endsWith(text))) this.left.push(`${path}: ${text}`);
  }
}
