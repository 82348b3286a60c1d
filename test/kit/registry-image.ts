import { sha256 } from '../../src/base/sha256.ts';

/** What a manifest has of another object. */
export interface Pushed {
  mediaType: string;
  digest: string;
  size: number;
}

export interface ImageContent {
  os: string;
  /** Blobs, the lowest first. */
  layers: readonly Buffer[];
  osVersion?: string;
}

const type = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
};

/** Pushes images to a registry without TLS and logins. */
export class ImagePusher {
  readonly #repository: string;

  constructor(host: string, repository: string) {
    this.#repository = `http://${host}/v2/${repository}`;
  }

  /** A list with an image for each platform. Returns the digest of the list. */
  async pushList(tag: string, images: readonly ImageContent[]): Promise<string> {
    const manifests = [];
    for (const image of images) {
      const platform = {
        os: image.os,
        architecture: 'amd64',
        ...(image.osVersion && { 'os.version': image.osVersion }),
      };
      manifests.push({ ...(await this.pushImage(undefined, image)), platform });
    }
    return (await this.#putManifest(tag, { schemaVersion: 2, mediaType: type.index, manifests })).digest;
  }

  async pushImage(tag: string | undefined, { os, layers }: ImageContent): Promise<Pushed> {
    const config = await this.#putBlob(json({ os, architecture: 'amd64', rootfs: { type: 'layers' } }), type.config);
    const pushed = [];
    for (const layer of layers) pushed.push(await this.#putBlob(layer, type.layer));
    return this.#putManifest(tag, { schemaVersion: 2, mediaType: type.manifest, config, layers: pushed });
  }

  async #putBlob(content: Buffer, mediaType: string): Promise<Pushed> {
    const digest = `sha256:${sha256(content)}`;
    const started = await fetch(`${this.#repository}/blobs/uploads/`, { method: 'POST' });
    await expectStatus(started, 202);
    const target = new URL(started.headers.get('location') ?? '', this.#repository);
    target.searchParams.set('digest', digest);
    await expectStatus(await fetch(target, { method: 'PUT', body: new Uint8Array(content) }), 201);
    return { mediaType, digest, size: content.length };
  }

  async #putManifest(
    tag: string | undefined,
    manifest: { mediaType: string; schemaVersion: 2; [key: string]: unknown },
  ): Promise<Pushed> {
    const content = json(manifest);
    const digest = `sha256:${sha256(content)}`;
    const headers = { 'content-type': manifest.mediaType };
    const target = `${this.#repository}/manifests/${tag ?? digest}`;
    await expectStatus(await fetch(target, { method: 'PUT', headers, body: new Uint8Array(content) }), 201);
    return { mediaType: manifest.mediaType, digest, size: content.length };
  }
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

async function expectStatus(answer: Response, status: number): Promise<void> {
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`${answer.url}: ${answer.status} ${text}`);
}
