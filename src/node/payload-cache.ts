import { randomUUID } from 'node:crypto';
import { access, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { AppError, messageOf } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { Slots } from '#base/waiting/slots.ts';
import { fileOfTar } from '#payload/tar.ts';
import { type BundleFile, type PackedFacts, packStream, type Reading } from './bundle.ts';
import { checkedPieces, checkFile, chunksOf, type FileSum, pieces, Sum } from './checked-file.ts';
import { Packer } from './packer.ts';
import type { PlainFile } from './payload-source.ts';
import { ensurePrivateFolder, openNew } from './private-folder.ts';
import { transformed } from '#payload/transformed.ts';

/** A program of the payload. */
export interface StoredProgram {
  /** Path of the file, or of its archive without `.tar.gz`. */
  source: string;
  name: string;
  /** Expected hash of its content. */
  sha256: string;
}

type Packed = PackedFacts & Pick<BundleFile, 'packed'>;
type Plain = Omit<PlainFile, 'path'>;
type Form = 'packed' | 'plain';

/** A file of the cache that this process has checked. */
interface CachedFile {
  path: string;
  /** Of the unpacked content. */
  bytes: number;
  /** Of the file itself. */
  sum: FileSum;
}

/** Each takes a CPU core, and uploads need one as well. */
const maxPacking = 2;

/** Files that hardly shrink are stored unpacked. */
const worthwhile = 0.97;

/**
 * Keeps programs in a folder, named by the hash of their content; each is built once for all callers. Files of an earlier run are
 * checked before use. Content that the host cannot check is checked again while it is uploaded.
 */
export class PayloadCache {
  readonly #folder: string;
  readonly #log: Log;
  readonly #made = new Map<string, Promise<unknown>>();
  readonly #work = new Slots(maxPacking);
  readonly #idlePackers: Packer[] = [];

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  packed(program: StoredProgram): Promise<Packed> {
    return this.#once('packed', program, async () => {
      const packed = await this.#find(program, 'packed');
      if (packed !== undefined) return this.#packedOf(program, packed, 'zstd');
      // An earlier run found that packing does not help.
      const plain = await this.#find(program, 'plain');
      if (plain !== undefined) return this.#packedOf(program, plain, 'none');
      const made = await this.#build(program, 'packed');
      if (made.sum.bytes <= made.bytes * worthwhile) return this.#packedOf(program, made, 'zstd');
      const copy = await this.#build(program, 'plain');
      await rm(made.path);
      return this.#packedOf(program, copy, 'none');
    });
  }

  plain(program: StoredProgram): Promise<Plain> {
    return this.#once('plain', program, async () =>
      this.#plainOf(program, (await this.#find(program, 'plain')) ?? (await this.#build(program, 'plain'))),
    );
  }

  #once<T>(form: Form, { sha256 }: StoredProgram, make: () => Promise<T>): Promise<T> {
    const key = `${form} ${sha256}`;
    const known = this.#made.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const made = this.#withSlot(make);
    this.#made.set(key, made);
    // The next caller retries after a failure.
    made.catch(() => this.#made.delete(key));
    return made;
  }

  async #withSlot<T>(make: () => Promise<T>): Promise<T> {
    using _slot = await this.#work.take(new AbortController().signal);
    await ensurePrivateFolder(this.#folder);
    // Without await, the slot would be free before the work is done.
    return await make();
  }

  /** The file of an earlier run, if its content still matches its name; otherwise it is deleted. */
  async #find({ sha256, name: program }: StoredProgram, form: Form): Promise<CachedFile | undefined> {
    for (const name of await readdir(this.#folder)) {
      const [, hash, content = '', packed] = /^([0-9a-f]{64})-(\d{1,15})(?:-(\d{1,15}))?$/.exec(name) ?? [];
      if (hash !== sha256 || (packed === undefined) !== (form === 'plain')) continue;
      const [path, bytes] = [join(this.#folder, name), Number(content)];
      const sum = await checkFile(path, Number(packed ?? content), form === 'packed' ? { sha256, bytes } : undefined);
      if (sum !== undefined && (form === 'packed' || sum.sha256 === sha256)) return { path, bytes, sum };
      this.#log.warn('Deleting cached payload file with wrong content', { program, path });
      await rm(path, { recursive: true, force: true });
    }
    return undefined;
  }

  /** Writes a temporary file and renames it once it is checked. */
  async #build(program: StoredProgram, form: Form): Promise<CachedFile> {
    const draft = join(this.#folder, `.${randomUUID()}`);
    const packer = this.#idlePackers.pop() ?? new Packer();
    try {
      const { content, file } = await write(contentOf(program), draft, form === 'packed' ? packer : undefined);
      if (content.sha256 !== program.sha256) throw damaged(program, content.sha256);
      const sizes = form === 'packed' ? [content.bytes, file.bytes] : [content.bytes];
      const path = join(this.#folder, [program.sha256, ...sizes].join('-'));
      await rename(draft, path);
      return { path, bytes: content.bytes, sum: file };
    } catch (error) {
      await rm(draft, { force: true });
      throw error instanceof AppError ? error : unreadable(program, error);
    } finally {
      this.#release(packer);
    }
  }

  /** Keeps it for the next program, if there is one. */
  #release(packer: Packer): void {
    this.#idlePackers.push(packer);
    if (this.#work.waiting > 0) return;
    for (const idle of this.#idlePackers.splice(0)) idle[Symbol.dispose]();
  }

  #packedOf(program: StoredProgram, { path, bytes, sum }: CachedFile, encoding: Packed['encoding']): Packed {
    const { sha256 } = program;
    const packed: Packed['packed'] = how => this.#pieces(program, path, sum, how);
    return { sha256, bytes, encoding, packedBytes: sum.bytes, packed };
  }

  #plainOf(program: StoredProgram, { path, bytes, sum }: CachedFile): Plain {
    return { sha256: program.sha256, bytes, content: () => this.#pieces(program, path, sum) };
  }

  #pieces(program: StoredProgram, path: string, sum: FileSum, how?: Reading): AsyncGenerator<Uint8Array> {
    const hasChanged = (cause?: unknown) => {
      // The next caller packs it again.
      for (const form of ['packed', 'plain']) this.#made.delete(`${form} ${program.sha256}`);
      return changed(program, path, cause);
    };
    return how === 'unchecked' ? pieces(path, sum.bytes, hasChanged) : checkedPieces(path, sum, hasChanged);
  }
}

/** Writes content to a new file, packed or not; hashes are computed from memory, not from the file. */
async function write(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  packer: Packer | undefined,
): Promise<{ content: FileSum; file: FileSum }> {
  await using draft = await openNew(path);
  const sum = new Sum();
  const keep = (packed: AsyncIterable<Uint8Array>) => draft.writeFile(sum.watched(packed));
  if (packer !== undefined) return { content: await packStream(packer, chunks, keep), file: sum.take() };
  await keep(chunks);
  const file = sum.take();
  return { content: file, file };
}

/**
 * The unpacked program, from its archive if it is in one. Opened with the first chunk, because an error of a stream without a reader
 * would crash the process.
 */
async function* contentOf({ source, name }: StoredProgram): AsyncGenerator<Uint8Array> {
  const isPlain = await exists(source);
  await using file = await open(isPlain ? source : `${source}.tar.gz`);
  if (isPlain) {
    yield* chunksOf(file);
    return;
  }
  yield* fileOfTar(transformed(createGunzip(), chunksOf(file)), name);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function damaged({ name, sha256 }: StoredProgram, actual: string): AppError {
  return new AppError('PAYLOAD_DAMAGED', `${name} has hash ${actual}, but sha256sum lists ${sha256}`, {
    remedy: 'Build the payload again.',
  });
}

function changed({ name }: StoredProgram, path: string, cause: unknown): AppError {
  const why = cause === undefined ? '' : ` (${messageOf(cause)})`;
  return new AppError('PAYLOAD_DAMAGED', `${path} (${name}) changed after the operator checked it${why}`, {
    remedy: 'Find out what writes to the payload cache (--payload-cache-dir).',
    cause,
  });
}

function unreadable({ name, source }: StoredProgram, cause: unknown): AppError {
  const why = messageOf(cause);
  return new AppError('PAYLOAD_UNREADABLE', `${name} cannot be read from ${source} or packed: ${why}`, {
    remedy: 'Check that the payload is complete and the folder for packed files has free space.',
    cause,
  });
}
