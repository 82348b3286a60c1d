import type { Access, FileEntry } from '../../src/agent/access/plan.ts';
import type { FileStat, HostFiles } from '../../src/agent/ports.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { splitPath } from '../../src/contract/paths.ts';
import { FileRights, isWithin } from '../../src/sandbox/machines/host/file-rights.ts';

interface Entry {
  /** As it was spelled when the file was made. */
  path: string;
  content: Uint8Array;
  access: 'secret' | undefined;
  modifiedMs: number;
}

/** The files of a Windows host in memory: names without regard to case, replaced as a whole or not at all. */
export class ModelFiles implements HostFiles {
  readonly #entries = new Map<string, Entry>();
  /** Directories that were made, with who may write there. */
  readonly directories = new Map<string, Access | undefined>();
  /** Owners, rights and links, for setting up and looking at. */
  readonly rights = new FileRights();
  /** What a program in use keeps where it is. */
  readonly busy = new Set<string>();
  /** Folders in which files were put. */
  readonly #parents = new Set<string>();
  readonly #note: (call: string) => void;
  readonly #before: (call: string) => void;
  #changes = 0;

  /** `note` hears of what is written, `before` of every step that could be the last one. */
  constructor(note: (call: string) => void, before: (call: string) => void) {
    this.#note = note;
    this.#before = before;
  }

  /** The files as a map of texts, for setting up and looking at. */
  readonly texts = {
    get: (path: string): string | undefined => this.#text(path),
    set: (path: string, content: string | Uint8Array): unknown => this.#put(path, bytesOf(content), undefined),
    has: (path: string): boolean => this.#entries.has(key(path)),
    delete: (path: string): boolean => this.#entries.delete(key(path)),
    keys: (): string[] => [...this.#entries.values()].map(entry => entry.path).toSorted(),
  };

  /** Changes a file behind everybody's back: size and time of change stay as they were if the new text has the same length. */
  tamper(path: string, text: string): void {
    const entry = this.#entries.get(key(path));
    if (entry === undefined) throw new Error(`${path} does not exist`);
    entry.content = bytesOf(text);
  }

  accessOf(path: string): 'secret' | undefined {
    return this.#entries.get(key(path))?.access;
  }

  async read(path: string): Promise<string | undefined> {
    return this.#text(path);
  }

  async write(path: string, text: string, access?: 'secret'): Promise<void> {
    this.#note(`write ${path}`);
    this.#put(path, bytesOf(text), access);
  }

  async remove(path: string): Promise<void> {
    if (!this.#entries.has(key(path)) && !this.rights.isLink(path)) return;
    this.#before(`remove ${path}`);
    this.rights.forget(path);
    this.#entries.delete(key(path));
  }

  async list(directory: string): Promise<string[]> {
    const below = key(`${directory}\\`);
    const paths = [...[...this.#entries.values()].map(({ path }) => path), ...this.rights.links()];
    const names = paths
      .filter(path => key(path).startsWith(below))
      .map(path => path.slice(below.length).split('\\')[0] ?? '');
    return [...new Set(names)];
  }

  async sha256(path: string): Promise<string | undefined> {
    this.#before(`hash ${path}`);
    const entry = this.#entries.get(key(path));
    return entry && sha256(entry.content);
  }

  async *readChunks(path: string): AsyncIterable<Uint8Array> {
    const entry = this.#entries.get(key(path));
    if (entry === undefined) throw new Error(`ENOENT: ${path} does not exist`);
    const step = Math.max(1, Math.ceil(entry.content.length / 5));
    for (let at = 0; at < entry.content.length; at += step) yield entry.content.slice(at, at + step);
  }

  async writeChunks(path: string, chunks: AsyncIterable<Uint8Array>, access?: 'secret'): Promise<void> {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) {
      this.#before(`write into ${path}`);
      parts.push(chunk.slice());
    }
    this.#note(`write ${path}`);
    this.#put(path, Buffer.concat(parts), access);
  }

  async stat(path: string): Promise<FileStat | undefined> {
    const entry = this.#entries.get(key(path));
    return entry && { bytes: entry.content.length, modifiedMs: entry.modifiedMs };
  }

  async makeDirectory(path: string, access?: Access): Promise<void> {
    this.#before(`make ${path}`);
    this.directories.set(path, access);
    if (access !== undefined) this.rights.set(path, access);
  }

  async createDirectory(path: string, access: Access): Promise<boolean> {
    if ((await this.inspect(path)) !== undefined) return false;
    await this.makeDirectory(path, access);
    return true;
  }

  async inspect(path: string): Promise<FileEntry | undefined> {
    if (this.rights.isLink(path)) return { is: 'link' };
    const isFolder = this.#isFolder(path);
    if (!isFolder && !this.#entries.has(key(path))) return undefined;
    return { is: isFolder ? 'directory' : 'file', names: 1, access: this.rights.of(path) };
  }

  async protect(path: string, access: Access): Promise<void> {
    this.#before(`protect ${path}`);
    this.rights.set(path, access);
    if (this.directories.has(path)) this.directories.set(path, access);
  }

  async move(from: string, to: string): Promise<boolean> {
    if (this.busy.has(from)) return false;
    this.#before(`move ${from}`);
    for (const [name, entry] of this.#entries) {
      if (!isWithin(name, from)) continue;
      this.#entries.delete(name);
      const path = to + entry.path.slice(from.length);
      this.#entries.set(key(path), { ...entry, path });
    }
    this.#forgetFolders(from);
    this.#parents.add(splitPath(to).directory.slice(0, -1));
    this.rights.move(from, to);
    return true;
  }

  #forgetFolders(path: string): void {
    for (const folders of [this.directories, this.#parents]) {
      for (const name of folders.keys()) if (isWithin(name, path)) folders.delete(name);
    }
  }

  #isFolder(path: string): boolean {
    return [...this.directories.keys(), ...this.#parents].some(one => isWithin(one, path));
  }

  async removeDirectory(path: string): Promise<void> {
    this.#before(`remove ${path}`);
    this.rights.forget(path);
    this.#forgetFolders(path);
    for (const name of this.#entries.keys()) if (name.startsWith(key(`${path}\\`))) this.#entries.delete(name);
  }

  #text(path: string): string | undefined {
    const entry = this.#entries.get(key(path));
    return entry && Buffer.from(entry.content).toString('utf8');
  }

  #put(path: string, content: Uint8Array, access: 'secret' | undefined): void {
    const link = this.rights.linkAbove(path);
    if (link !== undefined) throw new Error(`${path} was written through the link ${link}`);
    this.#changes += 1;
    this.#parents.add(splitPath(path).directory.slice(0, -1));
    this.rights.forget(path);
    if (access !== undefined) this.rights.set(path, access);
    const spelled = this.#entries.get(key(path))?.path ?? path;
    this.#entries.set(key(path), { path: spelled, content, access, modifiedMs: this.#changes / 16 });
  }
}

function key(path: string): string {
  return path.toLowerCase();
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
}
