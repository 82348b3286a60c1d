import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { shown } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { sha256 as sumOfBytes } from '#base/sha256.ts';
import { type Origin, unverified } from '../lock.ts';
import type { TakeMember } from './archive.ts';
import { download, type DownloadContext } from './download.ts';
import { archiveRefused, downloadDiffers } from './failures.ts';
import { readLayer } from './layer.ts';
import { type Descriptor, type Manifest, manifestTypes, parseManifest, platformIn } from './manifest.ts';
import { openRepository, type RegistryOptions, type Repository } from './registry.ts';

export interface ImageOptions extends RegistryOptions {
  context: DownloadContext;
  downloads: string;
}

type Image = Extract<Origin, { kind: 'image' }>;

const maxManifestBytes = 4 * 1024 ** 2;
const maxLayerBytes = 8 * 1024 ** 3;

/**
 * Takes files out of the layers of an image, the topmost first, and downloads no more layers than needed. Everything is checked by its
 * digest, from the one of the lock down to the layers. Returns the digest of what the tag refers to.
 */
export async function unpackImage(
  image: Image,
  members: readonly string[],
  take: TakeMember,
  options: ImageOptions,
): Promise<string> {
  const { reference, platform, digest } = image;
  const tag = reference.lastIndexOf(':');
  const source: Source = { image, options, repository: openRepository(reference.slice(0, tag), options) };
  const pinned = digest === unverified ? undefined : digest.slice('sha256:'.length);
  const top = await fetchJson(source, `manifests/${pinned === undefined ? reference.slice(tag + 1) : digest}`, {
    sha256: pinned,
  });
  const layers = await layersOf(source, parseManifest(top.content, reference, failOf(reference)));
  let missing = [...members];
  for (const [index, layer] of [...layers.entries()].toReversed()) {
    if (missing.length === 0) break;
    const what = `${reference}, layer ${index + 1} of ${layers.length}`;
    const path = join(options.downloads, `sha256-${layer.sha256}`);
    await fetchBlob(source, layer, path, maxLayerBytes);
    const { taken, hidden } = await readLayer(
      { path, what, isWindows: platform.startsWith('windows/') },
      missing,
      take,
    );
    missing = missing.filter(member => !taken.has(member));
    const deleted = missing.filter(member => hidden.has(member));
    if (deleted.length > 0) throw archiveRefused(what, `deletes ${deleted.map(shown).join(', ')}`);
    await rm(path, { force: true });
  }
  if (missing.length > 0) throw archiveRefused(reference, `has no file ${missing.map(shown).join(', ')}`);
  return `sha256:${top.sha256}`;
}

interface Source {
  image: Image;
  options: ImageOptions;
  repository: Repository;
}

const failOf = (what: string) => (why: string) => archiveRefused(what, why);

async function layersOf(source: Source, top: Manifest): Promise<readonly Descriptor[]> {
  const { reference, platform } = source.image;
  const fail = failOf(reference);
  if (top.kind === 'list') {
    // Of several versions of Windows the first one: programs for hosts do not depend on it.
    const entry = top.platforms.find(each => each.platform === platform);
    if (entry === undefined)
      throw fail(`is not built for ${platform}, but for ${top.platforms.map(each => each.platform).join(', ')}`);
    const { content } = await fetchJson(source, `manifests/sha256:${entry.sha256}`, entry);
    const manifest = parseManifest(content, reference, fail);
    if (manifest.kind === 'list') throw fail('is a list of lists');
    return manifest.layers;
  }
  const { content } = await fetchJson(source, `blobs/sha256:${top.config.sha256}`, top.config);
  const own = platformIn(new Fields(jsonIn(content.toString()) ?? [], reference));
  if (own !== platform) throw fail(`is built for ${own}, not for ${platform}`);
  return top.layers;
}

/** A manifest or configuration. The bytes that are returned are those that were checked. */
async function fetchJson(
  { repository, options: { downloads, context } }: Source,
  path: string,
  { sha256, bytes }: { sha256: string | undefined; bytes?: number },
): Promise<{ content: Buffer; sha256: string }> {
  const partial = join(downloads, `manifest-${sumOfBytes(`${repository.url}/${path}`).slice(0, 16)}`);
  const url = `${repository.url}/${path}`;
  const sum = await download(
    {
      url,
      get: (headers, signal) => repository.get(path, { ...headers, accept: manifestTypes }, signal),
      sha256,
      ...(bytes !== undefined && { bytes }),
      maxBytes: maxManifestBytes,
      partial,
    },
    context,
  );
  const content = await readFile(partial);
  await rm(partial, { force: true });
  if (sumOfBytes(content) !== sum) throw downloadDiffers(url, sumOfBytes(content), sum);
  return { content, sha256: sum };
}

async function fetchBlob(
  { repository, options: { context } }: Source,
  { sha256, bytes }: Descriptor,
  partial: string,
  maxBytes: number,
): Promise<void> {
  const path = `blobs/sha256:${sha256}`;
  const get = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => repository.get(path, headers, signal);
  await download({ url: `${repository.url}/${path}`, get, sha256, bytes, maxBytes, partial }, context);
}
