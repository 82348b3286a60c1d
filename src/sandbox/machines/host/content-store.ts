import { createHash, type Hash, randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '#base/sha256.ts';

/** Content of a file, shared by all files with equal content. */
export interface Content {
  readonly bytes: number;
  readonly sha256: string;
  /** Only for small contents; others are on disk. */
  readonly data?: Uint8Array;
}

/** Smaller contents stay in memory: configurations, certificates, keys. */
const memoryBytes = 32 * 1024;
const chunkBytes = 256 * 1024;

/** Deduplicated file contents of all hosts, in a temporary folder. */
export class ContentStore {
  readonly folder: string;
  /** Reference counts of contents on disk. */
  readonly #uses = new Map<string, number>();

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(parent = tmpdir()): Promise<ContentStore> {
    return new ContentStore(await mkdtemp(join(parent, 'wmco-sandbox-')));
  }

  /** Number of contents on disk. */
  get size(): number {
    return this.#uses.size;
  }

  draft(): Draft {
    return new Draft(join(this.folder, `draft-${randomUUID()}`), (path, bytes, hash) => this.#take(path, bytes, hash));
  }

  of(data: Uint8Array): Content {
    return { bytes: data.length, sha256: sha256(data), data };
  }

  retain({ data, sha256: hash }: Content): void {
    if (data === undefined) this.#uses.set(hash, (this.#uses.get(hash) ?? 0) + 1);
  }

  /** Deletes unreferenced content. */
  async release({ data, sha256: hash }: Content): Promise<void> {
    if (data !== undefined) return;
    const left = (this.#uses.get(hash) ?? 1) - 1;
    if (left > 0) return void this.#uses.set(hash, left);
    this.#uses.delete(hash);
    // Synchronous with the count, so that a concurrent upload of the same content keeps its file.
    const unused = `${this.#place(hash)}-${randomUUID()}`;
    renameSync(this.#place(hash), unused);
    await rm(unused, { force: true });
  }

  async read(content: Content, at: number, length: number): Promise<Uint8Array> {
    if (content.data !== undefined) return content.data.subarray(at, at + length);
    await using handle = await open(this.#place(content.sha256));
    return readAt(handle, at, Math.min(length, Math.max(0, content.bytes - at)));
  }

  async *chunks(content: Content): AsyncGenerator<Uint8Array> {
    if (content.data !== undefined) {
      yield content.data;
      return;
    }
    await using handle = await open(this.#place(content.sha256));
    for (let at = 0; at < content.bytes; at += chunkBytes) {
      yield await readAt(handle, at, Math.min(chunkBytes, content.bytes - at));
    }
  }

  async close(): Promise<void> {
    this.#uses.clear();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The content gets one reference. */
  async #take(path: string, bytes: number, hash: string): Promise<Content> {
    const content = { bytes, sha256: hash };
    const isKnown = this.#uses.has(hash);
    this.retain(content);
    if (isKnown) await rm(path);
    else renameSync(path, this.#place(hash));
    return content;
  }

  #place(hash: string): string {
    return join(this.folder, hash);
  }
}

type Keep = (path: string, bytes: number, hash: string) => Promise<Content>;

/** Content that is being written. Writes must not overlap. */
export class Draft {
  readonly #path: string;
  readonly #keep: Keep;
  readonly #hash: Hash = createHash('sha256');
  #memory: Uint8Array = new Uint8Array();
  #handle: FileHandle | undefined;
  #bytes = 0;
  /** End of the sequential part, which is hashed on the fly. */
  #hashed = 0;
  #isOrdered = true;

  constructor(path: string, keep: Keep) {
    this.#path = path;
    this.#keep = keep;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async write(data: Uint8Array, at: number = this.#bytes): Promise<void> {
    if (at === this.#hashed && this.#isOrdered) {
      this.#hash.update(data);
      this.#hashed += data.length;
    } else this.#isOrdered = false;
    this.#bytes = Math.max(this.#bytes, at + data.length);
    if (this.#handle === undefined && this.#bytes <= memoryBytes) return this.#remember(data, at);
    this.#handle ??= await this.#spill();
    for (let done = 0; done < data.length; ) {
      done += (await this.#handle.write(data, done, data.length - done, at + done)).bytesWritten;
    }
  }

  /** Returns the content with one reference. */
  async finish(): Promise<Content> {
    if (this.#handle === undefined) {
      return { bytes: this.#bytes, sha256: sha256(this.#memory), data: this.#memory.slice(0, this.#bytes) };
    }
    const hash = this.#isOrdered ? this.#hash.digest('hex') : await hashOf(this.#handle, this.#bytes);
    await this.#handle.close();
    return this.#keep(this.#path, this.#bytes, hash);
  }

  async discard(): Promise<void> {
    await this.#handle?.close();
    if (this.#handle !== undefined) await rm(this.#path, { force: true });
  }

  #remember(data: Uint8Array, at: number): void {
    const grown = new Uint8Array(this.#bytes);
    grown.set(this.#memory);
    grown.set(data, at);
    this.#memory = grown;
  }

  async #spill(): Promise<FileHandle> {
    const handle = await open(this.#path, 'w+');
    await handle.write(this.#memory, 0, this.#memory.length, 0);
    this.#memory = new Uint8Array();
    return handle;
  }
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await handle.read(buffer, 0, length, at);
  return buffer.subarray(0, bytesRead);
}

async function hashOf(handle: FileHandle, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes; at += chunkBytes) {
    hash.update(await readAt(handle, at, Math.min(chunkBytes, bytes - at)));
  }
  return hash.digest('hex');
}
