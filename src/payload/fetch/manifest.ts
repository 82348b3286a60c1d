import { shown } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';

/** A blob or manifest, by its content. */
export interface Descriptor {
  /** 64 hex digits. */
  sha256: string;
  bytes: number;
}

export type Manifest =
  | { kind: 'list'; platforms: readonly (Descriptor & { platform: string })[] }
  | { kind: 'image'; config: Descriptor; layers: readonly Descriptor[] };

type Fail = (why: string) => Error;

/** For the Accept header; the content tells which of them it is. */
export const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

const maxEntries = 1000;

export function parseManifest(content: Uint8Array, label: string, fail: Fail): Manifest {
  const fields = new Fields(jsonIn(new TextDecoder().decode(content)) ?? [], label);
  const [isList, isImage] = [fields.raw('manifests') !== undefined, fields.raw('layers') !== undefined];
  // Programs that read the same bytes as the one or the other would see different images.
  if (isList === isImage)
    throw fail(isList ? 'is a list and an image at the same time' : 'is neither an image nor a list of images');
  const entries = fields.objects(isList ? 'manifests' : 'layers');
  if (entries.length > maxEntries) throw fail(`has ${entries.length} entries`);
  if (isImage)
    return {
      kind: 'image',
      config: descriptorIn(fields.object('config'), fail),
      layers: entries.map(each => descriptorIn(each, fail)),
    };
  return {
    kind: 'list',
    platforms: entries.map(each => ({ ...descriptorIn(each, fail), platform: platformIn(each.object('platform')) })),
  };
}

/** `windows/amd64`, of an image configuration or an entry of a list. */
export function platformIn(fields: Fields): string {
  return `${fields.string('os') ?? ''}/${fields.string('architecture') ?? ''}`;
}

function descriptorIn(fields: Fields, fail: Fail): Descriptor {
  const [digest, bytes] = [fields.requiredString('digest'), fields.number('size')];
  const [, sha256] = /^sha256:([0-9a-f]{64})$/.exec(digest) ?? [];
  if (sha256 === undefined) throw fail(`has the digest ${shown(digest)}, which is not of SHA-256`);
  if (bytes === undefined || !Number.isSafeInteger(bytes) || bytes < 0) throw fail(`has no size of ${digest}`);
  return { sha256, bytes };
}
