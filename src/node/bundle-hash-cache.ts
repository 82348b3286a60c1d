import { createHash } from 'node:crypto';
import { AppError } from '#base/errors.ts';
import { sha256 } from '#base/sha256.ts';
import { type BundleFile, bundleHeader, packBundle, type Reading } from './bundle.ts';

export interface BundleContent {
  /** Version of the operator that the files belong to. */
  version: string;
  files: readonly BundleFile[];
  /** Paths of files that are to go. */
  remove?: readonly string[];
}

/** A bundle of which hash and size are known before the first byte is sent. */
export interface PreparedBundle {
  sha256: string;
  bytes: number;
  /** As often as there are hosts, which check what they get. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Reads all of it again, and rejects when a file is not what it was; whoever seals next gets the hash of what is there then. */
  check(): Promise<void>;
}

/** More than there are different hosts in a cluster, and less than a megabyte. */
const maxRemembered = 256;

/** Seals bundles. Hosts that need the same files have the same bundle, which is then read through only once. */
export class BundleHashCache {
  readonly #hashes = new Map<string, Promise<string>>();

  async prepare({ version, files, remove = [] }: BundleContent): Promise<PreparedBundle> {
    const header = bundleHeader(version, files, remove);
    const chunks = (how: Reading) => packBundle(version, files, remove, how);
    const hash = () => hashChunks(chunks('checked'));
    const bytes = files.reduce((sum, file) => sum + file.packedBytes, header.length);
    const key = sha256(header);
    const sealed = await this.#hashOf(key, hash);
    return {
      sha256: sealed,
      bytes,
      chunks: () => chunks('unchecked'),
      check: async () => {
        if ((await hash()) === sealed) return;
        this.#hashes.delete(key);
        throw repacked();
      },
    };
  }

  /** The header names every content by its hash and stands for the whole, as long as nothing is packed again. */
  async #hashOf(header: string, make: () => Promise<string>): Promise<string> {
    const known = this.#hashes.get(header);
    if (known !== undefined) return known;
    const hash = make();
    this.#hashes.set(header, hash);
    for (const oldest of this.#hashes.keys()) {
      if (this.#hashes.size <= maxRemembered) break;
      this.#hashes.delete(oldest);
    }
    try {
      return await hash;
    } catch (error) {
      this.#hashes.delete(header);
      throw error;
    }
  }
}

async function hashChunks(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of chunks) digest.update(chunk);
  return digest.digest('hex');
}

/** The same content can be packed into other bytes of the same length. */
function repacked(): AppError {
  return new AppError('PAYLOAD_DAMAGED', 'a payload file was packed again since its bundle was hashed', {
    remedy: 'Find out what writes to the folder of the payload cache; the next attempt hashes the bundle again.',
  });
}
