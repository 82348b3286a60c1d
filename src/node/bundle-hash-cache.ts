import { createHash } from 'node:crypto';
import { AppError } from '#base/errors.ts';
import { setRecent } from '#base/recent-map.ts';
import { sha256 } from '#base/sha256.ts';
import { type BundleContent, bundleHeader, packBundle, type Reading } from './bundle.ts';

/** A bundle with hash and size, known before the first byte is sent. */
export interface PreparedBundle {
  sha256: string;
  bytes: number;
  /** Can be called for every host. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Reads it all again and rejects when a file changed; the next `prepare` hashes the new content. */
  check(): Promise<void>;
}

/** More than a cluster has different bundles, and less than a megabyte. */
const maxHashes = 256;

/** Hashes bundles. Hosts that need the same files share a bundle, which is hashed only once. */
export class BundleHashCache {
  readonly #hashes = new Map<string, Promise<string>>();

  async prepare(content: BundleContent): Promise<PreparedBundle> {
    const header = bundleHeader(content);
    const chunks = (how: Reading) => packBundle(content, how);
    const hash = () => hashChunks(chunks('checked'));
    const bytes = content.files.reduce((sum, file) => sum + file.packedBytes, header.length);
    const key = sha256(header);
    const known = await this.#hashOf(key, hash);
    return {
      sha256: known,
      bytes,
      chunks: () => chunks('unchecked'),
      check: async () => {
        if ((await hash()) === known) return;
        this.#hashes.delete(key);
        throw changedPayload();
      },
    };
  }

  /** The header has the hash of every file, so it identifies the bundle until a file is packed again. */
  async #hashOf(header: string, make: () => Promise<string>): Promise<string> {
    const known = this.#hashes.get(header);
    if (known !== undefined) return known;
    const hash = make();
    setRecent(this.#hashes, header, hash, maxHashes);
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
function changedPayload(): AppError {
  return new AppError('PAYLOAD_DAMAGED', 'a payload file was packed again after its bundle was hashed', {
    remedy: 'Find out what writes to the payload cache (--payload-cache-dir).',
  });
}
