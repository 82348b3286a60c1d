import { Readable } from 'node:stream';
import type { Access, FileEntry } from '#agent/access/plan.ts';
import type { FileStat, HostFiles } from '#agent/ports.ts';
import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { parentOf } from '#contract/host-path.ts';
import type { Content, ContentStore, Draft } from './content-store.ts';
import { FileRights, isWithin, keyOf, normalize } from './file-rights.ts';

interface Entry {
  /** Path with its original case. */
  path: string;
  content: Content;
  access: 'secret' | undefined;
  modifiedMs: number;
}

export interface FilesOptions {
  store: ContentStore;
  clock: Pick<Clock, 'now'>;
  diskBytes: () => number;
  /** Delays writes like a real disk. */
  pace(bytes: number): Promise<void>;
}

export class DiskFull extends Error {}

/** Drive C of a simulated host: case-insensitive, with contents shared between hosts. */
export class SimulatedFiles implements HostFiles {
  /** Owners, permissions and links. */
  readonly rights = new FileRights();
  readonly #options: FilesOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #folders = new Map<string, string>();
  /** Unfinished files use disk space, too. */
  readonly #drafts = new Set<Draft>();
  #usedBytes = 0;
  #powerCuts = 0;
  /** Distinguishes changes within one millisecond. */
  #changes = 0;

  constructor(options: FilesOptions) {
    this.#options = options;
    for (const folder of ['C:\\Windows', 'C:\\Program Files']) this.#addFolders(folder);
  }

  get freeBytes(): number {
    const beingWritten = [...this.#drafts].reduce((sum, draft) => sum + draft.bytes, 0);
    return Math.max(0, this.#options.diskBytes() - this.#usedBytes - beingWritten);
  }

  /** For tests. */
  paths(): string[] {
    return [...this.#entries.values()].map(({ path }) => path).toSorted();
  }

  accessOf(path: string): 'secret' | undefined {
    return this.#entries.get(keyOf(path))?.access;
  }

  has(path: string): boolean {
    return this.#entries.has(keyOf(path));
  }

  isFolder(path: string): boolean {
    return this.#folders.has(keyOf(path));
  }

  content(path: string): Content | undefined {
    return this.#entries.get(keyOf(path))?.content;
  }

  async read(path: string): Promise<string | undefined> {
    const content = this.content(path);
    return content && Buffer.from(await this.readAt(content, 0, content.bytes)).toString('utf8');
  }

  readAt(content: Content, at: number, length: number): Promise<Uint8Array> {
    return this.#options.store.read(content, at, length);
  }

  async write(path: string, text: string, access?: 'secret'): Promise<void> {
    await this.writeChunks(path, Readable.from([Buffer.from(text)]), access);
  }

  async writeChunks(path: string, chunks: AsyncIterable<Uint8Array>, access?: 'secret'): Promise<void> {
    const draft = this.draft();
    const cuts = this.#powerCuts;
    try {
      for await (const chunk of chunks) await this.writeInto(draft, chunk);
      if (this.#powerCuts !== cuts) throw new Error('the power was cut');
    } catch (error) {
      this.#drafts.delete(draft);
      await draft.discard();
      throw error instanceof DiskFull
        ? unusable(path, 'no space is left on the disk', 'Free space on the disk of the host.')
        : error;
    }
    await this.finish(draft, path, access);
  }

  /** Files that programs have not finished are lost. */
  cutPower(): void {
    this.#powerCuts += 1;
  }

  draft(): Draft {
    const draft = this.#options.store.draft();
    this.#drafts.add(draft);
    return draft;
  }

  /** Turns a draft into a file. */
  async finish(draft: Draft, path: string, access?: 'secret'): Promise<void> {
    const content = await draft.finish();
    this.#drafts.delete(draft);
    await this.put(path, content, access);
  }

  /** Rejects with DiskFull; keeps what was written. */
  async writeInto(draft: Draft, data: Uint8Array, at: number = draft.bytes): Promise<void> {
    if (Math.max(0, at + data.length - draft.bytes) > this.freeBytes) throw new DiskFull();
    await this.#options.pace(data.length);
    await draft.write(data, at);
  }

  /** Stores retained content at a path and creates parent folders. */
  async put(path: string, content: Content, access?: 'secret'): Promise<void> {
    const before = this.#entries.get(keyOf(path));
    const link = this.rights.linkAbove(path);
    if (link !== undefined) throw new Error(`${path} was written through the link ${link}`);
    this.#addFolders(parentOf(normalize(path)));
    this.rights.forget(path);
    if (access !== undefined) this.rights.set(path, access);
    this.#changes += 1;
    const modifiedMs = this.#options.clock.now() + (this.#changes % 1000) / 1000;
    this.#entries.set(keyOf(path), { path: before?.path ?? path, content, access, modifiedMs });
    this.#usedBytes += content.bytes;
    if (before !== undefined) await this.#release(before);
  }

  async rename(from: string, to: string): Promise<void> {
    const entry = this.#entries.get(keyOf(from));
    if (entry === undefined || keyOf(from) === keyOf(to)) return;
    const replaced = this.#entries.get(keyOf(to));
    this.#entries.delete(keyOf(from));
    this.#entries.set(keyOf(to), { ...entry, path: replaced?.path ?? to });
    this.rights.move(from, to);
    if (replaced !== undefined) await this.#release(replaced);
  }

  async remove(path: string): Promise<void> {
    const entry = this.#entries.get(keyOf(path));
    const isFolder = entry === undefined && this.isFolder(path) && !this.rights.isLink(path);
    if (isFolder) throw unusable(path, 'is a directory', 'Remove the directory.');
    this.rights.forget(path);
    if (entry === undefined) return;
    this.#entries.delete(keyOf(path));
    await this.#release(entry);
  }

  async list(directory: string): Promise<string[]> {
    const below = `${keyOf(directory)}\\`;
    const all = [...this.#folders.values(), ...this.paths(), ...this.rights.links()];
    const names = all
      .filter(path => keyOf(path).startsWith(below))
      .map(path => path.slice(below.length).split('\\')[0] ?? '');
    return [...new Set(names)];
  }

  async sha256(path: string): Promise<string | undefined> {
    return this.content(path)?.sha256;
  }

  async *readChunks(path: string, from = 0): AsyncGenerator<Uint8Array> {
    const content = this.content(path);
    if (content === undefined) throw unusable(path, 'does not exist', 'Stage the files of the host again.');
    // The file may be removed or replaced while it is read.
    this.#options.store.retain(content);
    try {
      let leftToSkip = from;
      for await (const chunk of this.#options.store.chunks(content)) {
        if (leftToSkip < chunk.length) yield chunk.subarray(leftToSkip);
        leftToSkip = Math.max(0, leftToSkip - chunk.length);
      }
    } finally {
      await this.#options.store.release(content);
    }
  }

  async stat(path: string): Promise<FileStat | undefined> {
    const entry = this.#entries.get(keyOf(path));
    return entry && { bytes: entry.content.bytes, modifiedMs: entry.modifiedMs };
  }

  async makeDirectory(path: string, access?: Access): Promise<void> {
    this.#addFolders(path);
    if (access !== undefined) this.rights.set(path, access);
  }

  async createDirectory(path: string, access: Access): Promise<boolean> {
    if ((await this.inspect(path)) !== undefined) return false;
    await this.makeDirectory(path, access);
    return true;
  }

  async inspect(path: string): Promise<FileEntry | undefined> {
    if (this.rights.isLink(path)) return { is: 'link' };
    const is = this.has(path) ? 'file' : this.isFolder(path) ? 'directory' : undefined;
    return is && { is, names: 1, access: this.rights.of(path) };
  }

  async protect(path: string, access: Access): Promise<void> {
    this.rights.set(path, access);
  }

  async move(from: string, to: string): Promise<boolean> {
    const rename = (path: string) => to + path.slice(from.length);
    for (const map of [this.#folders, this.#entries]) {
      for (const [key, value] of map) {
        if (!isWithin(key, from)) continue;
        map.delete(key);
        if (typeof value === 'string') this.#folders.set(keyOf(rename(key)), rename(value));
        else this.#entries.set(keyOf(rename(key)), { ...value, path: rename(value.path) });
      }
    }
    this.rights.move(from, to);
    return true;
  }

  async removeDirectory(path: string): Promise<void> {
    const below = `${keyOf(path)}\\`;
    this.rights.forget(path);
    for (const key of this.#folders.keys()) if (`${key}\\`.startsWith(below)) this.#folders.delete(key);
    const removed = [...this.#entries].filter(([key]) => key.startsWith(below));
    for (const [key] of removed) this.#entries.delete(key);
    for (const [, entry] of removed) await this.#release(entry);
  }

  async removeEmptyDirectory(path: string): Promise<boolean> {
    if (!this.isFolder(path) || (await this.list(path)).length > 0) return false;
    this.rights.forget(path);
    return this.#folders.delete(keyOf(path));
  }

  /** Deletes all files. */
  async wipe(): Promise<void> {
    const all = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of all) await this.#release(entry);
  }

  async #release({ content }: Entry): Promise<void> {
    this.#usedBytes -= content.bytes;
    await this.#options.store.release(content);
  }

  #addFolders(path: string): void {
    for (let at = path; keyOf(at) !== '' && !this.#folders.has(keyOf(at)); at = parentOf(normalize(at))) {
      this.#folders.set(keyOf(at), at);
    }
  }
}

/** Same wording as agent/win32/files/files.ts. */
function unusable(path: string, what: string, remedy: string): AppError {
  return new AppError('HOST_FILE_UNUSABLE', `${path}: ${what}`, { remedy });
}
