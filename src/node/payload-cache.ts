import { randomUUID } from 'node:crypto';
import { access, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline as connect, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { AppError, messageOf } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { type BundleFile, type PackedFacts, packStream, type Reading } from './bundle.ts';
import { checkedPieces, checkFile, chunksOf, type FileSum, pieces, Sum } from './checked-file.ts';
import { Slots } from '#base/waiting/slots.ts';
import type { PlainFile } from './payload-source.ts';
import { ensurePrivateFolder, openNew } from './private-folder.ts';
import { fileOfTar } from './tar.ts';

/** A program as it was built. */
export interface StoredProgram {
  /** Path of the file as it is; or of the archive, without `.tar.gz`. */
  source: string;
  name: string;
  /** What its content has to be. */
  sha256: string;
}

type Packed = PackedFacts & Pick<BundleFile, 'packed'>;
type Plain = Omit<PlainFile, 'path'>;
type Form = 'packed' | 'plain';

/** A file of the cache whose bytes have been read and found right in this process. */
interface Kept {
  path: string;
  /** Of the content, unpacked. */
  bytes: number;
  /** Of the file as it is. */
  sum: FileSum;
}

/** Packing takes a core each; hosts that are served meanwhile need one, too. */
const packedAtOnce = 2;

/** Of the size: hosts need not unpack what hardly becomes smaller. */
const worthwhile = 0.97;

/**
 * Programs kept in a folder under the hash of their content, each made once however many ask for it. What an earlier run has left
 * is read and checked before it is used. What the host cannot check is checked again while it is sent.
 */
export class PayloadCache {
  readonly #folder: string;
  readonly #log: Log;
  readonly #made = new Map<string, Promise<unknown>>();
  readonly #work = new Slots(packedAtOnce);

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  packed(program: StoredProgram): Promise<Packed> {
    return this.#once('packed', program, async () => {
      const packed = await this.#find(program, 'packed');
      if (packed !== undefined) return this.#packedOf(program, packed, 'zstd');
      // It was found before that packing is of no use.
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
    const made = this.#inTurn(make);
    this.#made.set(key, made);
    // What failed is tried anew by whoever asks next.
    made.catch(() => this.#made.delete(key));
    return made;
  }

  async #inTurn<T>(make: () => Promise<T>): Promise<T> {
    using _place = await this.#work.take(new AbortController().signal);
    await ensurePrivateFolder(this.#folder);
    return make();
  }

  /** What an earlier run has left and is still what its name says; the rest of that name is deleted. */
  async #find({ sha256, name: program }: StoredProgram, form: Form): Promise<Kept | undefined> {
    for (const name of await readdir(this.#folder)) {
      const [, hash, content = '', packed] = /^([0-9a-f]{64})-(\d{1,15})(?:-(\d{1,15}))?$/.exec(name) ?? [];
      if (hash !== sha256 || (packed === undefined) !== (form === 'plain')) continue;
      const [path, bytes] = [join(this.#folder, name), Number(content)];
      const sum = await checkFile(path, Number(packed ?? content), form === 'packed' ? { sha256, bytes } : undefined);
      if (sum !== undefined && (form === 'packed' || sum.sha256 === sha256)) return { path, bytes, sum };
      this.#log.warn('Deleting a cached payload file whose content is not what its name says', { program, path });
      await rm(path, { recursive: true, force: true });
    }
    return undefined;
  }

  /** Makes a file beside and gives it its name once all is checked. */
  async #build(program: StoredProgram, form: Form): Promise<Kept> {
    const draft = join(this.#folder, `.${randomUUID()}`);
    try {
      const { content, file } = await write(contentOf(program), draft, form);
      if (content.sha256 !== program.sha256) throw damaged(program, content.sha256);
      const sizes = form === 'packed' ? [content.bytes, file.bytes] : [content.bytes];
      const path = join(this.#folder, [program.sha256, ...sizes].join('-'));
      await rename(draft, path);
      return { path, bytes: content.bytes, sum: file };
    } catch (error) {
      await rm(draft, { force: true });
      throw error instanceof AppError ? error : unreadable(program, error);
    }
  }

  #packedOf(program: StoredProgram, { path, bytes, sum }: Kept, encoding: Packed['encoding']): Packed {
    const { sha256 } = program;
    const packed: Packed['packed'] = how => this.#pieces(program, path, sum, how);
    return { sha256, bytes, encoding, packedBytes: sum.bytes, packed };
  }

  #plainOf(program: StoredProgram, { path, bytes, sum }: Kept): Plain {
    return { sha256: program.sha256, bytes, content: () => this.#pieces(program, path, sum) };
  }

  #pieces(program: StoredProgram, path: string, sum: FileSum, how?: Reading): AsyncGenerator<Uint8Array> {
    const hasChanged = (cause?: unknown) => {
      // The next caller gets one that is packed again.
      for (const form of ['packed', 'plain']) this.#made.delete(`${form} ${program.sha256}`);
      return changed(program, path, cause);
    };
    return how === 'unchecked' ? pieces(path, sum.bytes, hasChanged) : checkedPieces(path, sum, hasChanged);
  }
}

/** Writes content to a new file, packed or as it is; the hash of both is taken from memory, not from the file. */
async function write(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  form: Form,
): Promise<{ content: FileSum; file: FileSum }> {
  await using draft = await openNew(path);
  const sum = new Sum();
  const keep = (packed: AsyncIterable<Uint8Array>) => draft.writeFile(sum.watched(packed));
  if (form === 'packed') return { content: await packStream(chunks, keep), file: sum.take() };
  await keep(chunks);
  const file = sum.take();
  return { content: file, file };
}

/**
 * The program as it is, out of its archive where it is in one. Opened with the first chunk: the failure of a stream without
 * a reader would end the process.
 */
async function* contentOf({ source, name }: StoredProgram): AsyncGenerator<Uint8Array> {
  const isPlain = await exists(source);
  await using file = await open(isPlain ? source : `${source}.tar.gz`);
  if (isPlain) {
    yield* chunksOf(file);
    return;
  }
  const unzip = createGunzip();
  // Ends the one with the other, whichever is first; a failure shows to whoever reads.
  connect(Readable.from(chunksOf(file)), unzip, () => undefined);
  yield* fileOfTar(unzip, name);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function damaged({ name, sha256 }: StoredProgram, actual: string): AppError {
  return new AppError('PAYLOAD_DAMAGED', `${name} has the hash ${actual}, and sha256sum says ${sha256}`, {
    remedy: 'Build the payload again: the file is not the one whose checksum was listed.',
  });
}

function changed({ name }: StoredProgram, path: string, cause: unknown): AppError {
  const why = cause === undefined ? '' : ` (${messageOf(cause)})`;
  return new AppError('PAYLOAD_DAMAGED', `${path} (${name}) has changed since the operator checked it${why}`, {
    remedy: 'Find out what writes to the folder; the next attempt packs the file again.',
    cause,
  });
}

function unreadable({ name, source }: StoredProgram, cause: unknown): AppError {
  const why = messageOf(cause);
  return new AppError('PAYLOAD_UNREADABLE', `${name} cannot be read from ${source}, or be packed: ${why}`, {
    remedy: 'See that the payload is complete and that the folder for packed files has room.',
    cause,
  });
}
