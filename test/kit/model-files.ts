import type { Access } from '#agent/access/plan.ts';
import { sha256 } from '#base/sha256.ts';
import type { Content, ContentStore, Draft } from '../../src/sandbox/machines/host/content-store.ts';
import { SimulatedFiles } from '../../src/sandbox/machines/host/files.ts';
import { beforeCalls } from './before-calls.ts';

/** The disk of a simulated host with contents in memory, so that tests can look at it and change it at once. */
export class ModelFiles extends SimulatedFiles {
  /** Files and directories that a program in use keeps where they are. */
  readonly busy = new Set<string>();
  /** Directories that were made, with their access. */
  readonly directories = new Map<string, Access | undefined>();
  readonly #disk: { bytes: number };
  readonly #written: (call: string) => void;
  readonly #before: (call: string) => void;

  /** `written` gets each write, `before` every other call that could be the last one; both may throw. */
  constructor(written: (call: string) => void = () => undefined, before: (call: string) => void = () => undefined) {
    const disk = { bytes: 50e9 };
    const store = new MemoryContents() as unknown as ContentStore;
    super({ store, clock: { now: () => 0 }, diskBytes: () => disk.bytes, pace: async () => undefined });
    this.#disk = disk;
    this.#written = written;
    this.#before = before;
    beforeCalls<ModelFiles>(this, before, {
      remove: path => (this.has(path) || this.rights.isLink(path) ? `remove ${path}` : undefined),
      sha256: path => `hash ${path}`,
      makeDirectory: path => `make ${path}`,
      protect: path => `protect ${path}`,
      move: from => (this.busy.has(from) ? undefined : `move ${from}`),
      removeDirectory: path => `remove ${path}`,
      removeEmptyDirectory: path => `remove folder ${path}`,
    });
  }

  set diskBytes(bytes: number) {
    this.#disk.bytes = bytes;
  }

  /** The files as a map of texts. */
  readonly texts = {
    get: (path: string): string | undefined => {
      const data = this.content(path)?.data;
      return data && Buffer.from(data).toString('utf8');
    },
    set: (path: string, content: string | Uint8Array): void => void this.put(path, contentOf(Buffer.from(content))),
    has: (path: string): boolean => this.has(path),
    delete: (path: string): void => void super.remove(path),
    keys: (): string[] => this.paths(),
  };

  /** Changes a file while its time of change, and with an equal length its size, stay the same. */
  tamper(path: string, text: string): void {
    const content = this.content(path);
    if (content === undefined) throw new Error(`${path} does not exist`);
    Object.assign(content, contentOf(Buffer.from(text)));
  }

  override async write(path: string, text: string, access?: 'secret'): Promise<void> {
    this.#written(`write ${path}`);
    await this.put(path, contentOf(Buffer.from(text)), access);
  }

  override async writeChunks(path: string, chunks: AsyncIterable<Uint8Array>, access?: 'secret'): Promise<void> {
    const [before, written] = [this.#before, this.#written];
    async function* watched() {
      for await (const chunk of chunks) {
        before(`write into ${path}`);
        yield chunk;
      }
      written(`write ${path}`);
    }
    await super.writeChunks(path, watched(), access);
  }

  override async makeDirectory(path: string, access?: Access): Promise<void> {
    this.directories.set(path, access);
    await super.makeDirectory(path, access);
  }

  override async protect(path: string, access: Access): Promise<void> {
    if (this.directories.has(path)) this.directories.set(path, access);
    await super.protect(path, access);
  }

  override async move(from: string, to: string): Promise<boolean> {
    if (this.busy.has(from)) return false;
    await super.move(from, to);
    return true;
  }
}

function contentOf(data: Uint8Array): Content {
  return { bytes: data.length, sha256: sha256(data), data };
}

/** The part of a content store that files need, without a folder. */
class MemoryContents {
  draft(): Pick<Draft, 'bytes' | 'write' | 'finish' | 'discard'> {
    let data = Buffer.alloc(0);
    return {
      get bytes() {
        return data.length;
      },
      write: async chunk => void (data = Buffer.concat([data, chunk])),
      finish: async () => contentOf(data),
      discard: async () => undefined,
    };
  }

  retain(): void {}
  async release(): Promise<void> {}

  async read({ data }: Content, at: number, length: number): Promise<Uint8Array> {
    return (data ?? new Uint8Array()).subarray(at, at + length);
  }

  /** In five pieces, so that a test can fail between them. */
  async *chunks({ data = new Uint8Array() }: Content): AsyncGenerator<Uint8Array> {
    const step = Math.max(1, Math.ceil(data.length / 5));
    for (let at = 0; at < data.length; at += step) yield data.slice(at, at + step);
  }
}
