import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline as connect } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { AppError } from '#base/errors.ts';
import { uploadChunkBytes } from '#host/host.ts';
import { type BundleFile, type PackedFacts, packStream } from './bundle.ts';
import type { PlainFile } from './payload-source.ts';
import { Slots } from './lifecycle/slots.ts';
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

/** Packing takes a core each; hosts that are served meanwhile need one, too. */
const packedAtOnce = 2;

/** Of the size: hosts need not unpack what hardly becomes smaller. */
const worthwhile = 0.97;

/** Programs kept in a folder under the hash of their content, each made once however many ask for it. */
export class PayloadCache {
  readonly #folder: string;
  readonly #made = new Map<string, Promise<unknown>>();
  readonly #work = new Slots(packedAtOnce);

  constructor(folder: string) {
    this.#folder = folder;
  }

  packed(program: StoredProgram): Promise<Packed> {
    return this.#once(`packed ${program.sha256}`, async () => {
      const known = await this.#find(program.sha256);
      if (known?.packedBytes !== undefined) return this.#packedOf(program.sha256, known.bytes, known.packedBytes);
      // It was found before that packing is of no use.
      if (known?.plain === true) return this.#unpackedOf(program.sha256, known.bytes);
      const { bytes, packedBytes } = await this.#pack(program);
      if (packedBytes <= bytes * worthwhile) return this.#packedOf(program.sha256, bytes, packedBytes);
      await this.#copy(program);
      await rm(this.#packedPath(program.sha256, bytes, packedBytes));
      return this.#unpackedOf(program.sha256, bytes);
    });
  }

  plain(program: StoredProgram): Promise<Plain> {
    return this.#once(`plain ${program.sha256}`, async () => {
      const known = await this.#find(program.sha256);
      const bytes = known?.plain === true ? known.bytes : await this.#copy(program);
      return this.#plainOf(program.sha256, bytes);
    });
  }

  #once<T>(key: string, make: () => Promise<T>): Promise<T> {
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
    await mkdir(this.#folder, { recursive: true });
    return make();
  }

  /** What an earlier run has left. The sizes are part of the name, so that half a file is not taken for a whole one. */
  async #find(sha256: string): Promise<{ bytes: number; packedBytes?: number; plain?: boolean } | undefined> {
    const sizes = { bytes: -1 } as { bytes: number; packedBytes?: number; plain?: boolean };
    for (const name of await readdir(this.#folder)) {
      const [, hash, bytes, packedBytes] = /^([0-9a-f]{64})-(\d+)(?:-(\d+))?$/.exec(name) ?? [];
      if (hash !== sha256 || (await sizeOf(join(this.#folder, name))) !== Number(packedBytes ?? bytes)) continue;
      sizes.bytes = Number(bytes);
      if (packedBytes === undefined) sizes.plain = true;
      else sizes.packedBytes = Number(packedBytes);
    }
    return sizes.bytes === -1 ? undefined : sizes;
  }

  async #pack(program: StoredProgram): Promise<PackedFacts> {
    return this.#build(program, async draft => {
      const facts = await packStream(await contentOf(program), packed => pipeline(packed, createWriteStream(draft)));
      return { ...facts, name: `${facts.sha256}-${facts.bytes}-${facts.packedBytes}` };
    });
  }

  async #copy(program: StoredProgram): Promise<number> {
    const { bytes } = await this.#build(program, async draft => {
      const digest = createHash('sha256');
      let size = 0;
      const watched = async function* watch(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
        for await (const chunk of chunks) {
          digest.update(chunk);
          size += chunk.length;
          yield chunk;
        }
      };
      await pipeline(await contentOf(program), watched, createWriteStream(draft));
      const sha256 = digest.digest('hex');
      return { sha256, bytes: size, name: `${sha256}-${size}` };
    });
    return bytes;
  }

  /** Makes a file beside and gives it its name once all is checked. */
  async #build<T extends { sha256: string; name: string }>(
    program: StoredProgram,
    make: (draft: string) => Promise<T>,
  ): Promise<T> {
    const draft = join(this.#folder, `.${randomUUID()}`);
    try {
      const made = await make(draft);
      if (made.sha256 !== program.sha256) throw damaged(program, made.sha256);
      await rename(draft, join(this.#folder, made.name));
      return made;
    } catch (error) {
      await rm(draft, { force: true });
      throw error instanceof AppError ? error : unreadable(program, error);
    }
  }

  #packedOf(sha256: string, bytes: number, packedBytes: number): Packed {
    const path = this.#packedPath(sha256, bytes, packedBytes);
    return { sha256, bytes, encoding: 'zstd', packedBytes, packed: () => piecesOf(path) };
  }

  #unpackedOf(sha256: string, bytes: number): Packed {
    const { content: packed } = this.#plainOf(sha256, bytes);
    return { sha256, bytes, encoding: 'none', packedBytes: bytes, packed };
  }

  #packedPath(sha256: string, bytes: number, packedBytes: number): string {
    return join(this.#folder, `${sha256}-${bytes}-${packedBytes}`);
  }

  #plainOf(sha256: string, bytes: number): Plain {
    const path = join(this.#folder, `${sha256}-${bytes}`);
    return { sha256, bytes, content: () => piecesOf(path) };
  }
}

/** The program as it is, out of its archive where it is in one. */
async function contentOf({ source, name }: StoredProgram): Promise<AsyncIterable<Uint8Array>> {
  if (await exists(source)) return createReadStream(source, { highWaterMark: uploadChunkBytes });
  const unzip = createGunzip();
  // Ends the one with the other, whichever is first; a failure shows to whoever reads.
  connect(createReadStream(`${source}.tar.gz`), unzip, () => undefined);
  return fileOfTar(unzip, name);
}

/**
 * In the pieces in which it is sent, all in the same memory: a new one for each would cost more than to encrypt it. Opened with the
 * first of them, so that whoever never begins leaves nothing open.
 */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  await using file = await open(path);
  const memory = Buffer.allocUnsafeSlow(uploadChunkBytes);
  for (;;) {
    const { bytesRead } = await file.read(memory, 0, memory.length);
    if (bytesRead === 0) return;
    yield memory.subarray(0, bytesRead);
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path)).size;
}

function damaged({ name, sha256 }: StoredProgram, actual: string): AppError {
  return new AppError('PAYLOAD_DAMAGED', `${name} has the hash ${actual}, and sha256sum says ${sha256}`, {
    remedy: 'Build the payload again: the file is not the one whose checksum was listed.',
  });
}

function unreadable({ name, source }: StoredProgram, cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError('PAYLOAD_UNREADABLE', `${name} cannot be read from ${source}, or be packed: ${why}`, {
    remedy: 'See that the payload is complete and that the folder for packed files has room.',
    cause,
  });
}
