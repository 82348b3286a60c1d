import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { parseManifest } from './manifest.ts';

const sum = 'a'.repeat(64);
const blob = { digest: `sha256:${sum}`, size: 5 };
const image = { config: blob, layers: [blob] };
const list = { manifests: [{ ...blob, platform: { os: 'linux', architecture: 'arm64' } }, blob] };
const fail = (why: string) => new AppError('PAYLOAD_ARCHIVE_REFUSED', why, { remedy: '' });
const parse = (value: unknown) => parseManifest(Buffer.from(JSON.stringify(value)), 'image', fail);

test('reads images and lists of images', () => {
  const descriptor = { sha256: sum, bytes: 5 };
  expect(parse(image)).toEqual({ kind: 'image', config: descriptor, layers: [descriptor] });
  expect(parse(list)).toEqual({
    kind: 'list',
    platforms: [
      { ...descriptor, platform: 'linux/arm64' },
      { ...descriptor, platform: '/' },
    ],
  });
});

const bad: [about: string, value: unknown, error: string][] = [
  ['what others would read as an image or as a list', { ...image, ...list }, 'a list and an image at the same time'],
  ['another format', { schemaVersion: 1, fsLayers: [] }, 'neither an image nor a list'],
  ['no object', 'text', 'not an object'],
  ['another digest', { ...image, layers: [{ digest: `sha512:${sum}`, size: 1 }] }, 'not of SHA-256'],
  ['a path for a digest', { ...image, layers: [{ digest: 'sha256:../../x', size: 1 }] }, 'not of SHA-256'],
  ['a size below zero', { ...image, config: { ...blob, size: -1 } }, 'has no size of'],
  ['no size', { ...image, config: { digest: blob.digest } }, 'has no size of'],
  ['layers without end', { ...image, layers: Array.from({ length: 1001 }, () => blob) }, 'has 1001 entries'],
];
for (const [about, value, error] of bad)
  test(`refuses ${about}`, () => expect(errorOf(() => parse(value))?.message).toContain(error));
