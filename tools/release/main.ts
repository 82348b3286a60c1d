import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { commandHelp, type CommandLine, type Flags, notEmpty, parseCommandLine } from '../../src/base/command-line.ts';
import { isAppError } from '../../src/base/errors.ts';
import { readPublicKey } from '../../src/payload/signature.ts';
import { readBuild } from './build.ts';
import { checkPayload } from './check-payload.ts';
import { isImageReference, type ReleaseImages, releaseImages, withoutDigest } from './images.ts';
import { makeRelease } from './release.ts';

/** `npm run release -- --version 11.0.0 --payload FOLDER -o dist/release`: everything that a release has. */
const imageFlag = (what: string) =>
  ({
    value: 'image',
    help: `${what}, by digest once it is pushed; default is its tag`,
    expected: text =>
      isImageReference(text) ? undefined : 'an image such as quay.io/a/b:v1 or quay.io/a/b@sha256:...',
  }) as const satisfies Flags[string];

const flags = {
  version: {
    value: 'X.Y.Z',
    help: 'version of the release; default is that of package.json',
    expected: text =>
      /^\d{1,4}\.\d{1,4}\.\d{1,4}(-[\w.]{1,32})?$/.test(text) ? undefined : 'a version such as 11.0.0',
  },
  payload: { value: 'folder', help: 'packed payload for the image, made by `wmco payload pack`' },
  'payload-key': {
    value: 'file',
    help: 'public key that must have signed the payload, also for manifests and bundle; default is that of the release',
    expected: notEmpty('the path of a key'),
  },
  image: imageFlag('image of the operator'),
  'bundle-image': imageFlag('image of the bundle'),
  'catalog-image': imageFlag('image of the catalog'),
  'pause-image': imageFlag('pause image'),
  output: { value: 'folder', short: 'o', default: 'dist/release', help: 'folder of the release' },
} as const satisfies Flags;
const line: CommandLine<typeof flags> = {
  name: 'npm run release --',
  summary: 'make a release: executable, image context, manifests, OLM bundle, catalog, checksums',
  flags,
  details: 'SOURCE_DATE_EPOCH replaces the date of the commit. Two runs on the same sources give the same bytes.',
};

try {
  const values = parseCommandLine(line, process.argv.slice(2))?.values;
  if (values === undefined) console.log(commandHelp(line));
  else await release(values);
} catch (error) {
  if (isAppError(error)) console.error(`error: ${error.message}\n  -> ${error.remedy}`);
  else console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = isAppError(error, 'USAGE') ? 2 : 1;
}

async function release(values: Readonly<Record<keyof typeof flags, string>>): Promise<void> {
  const { version, payload, output } = values;
  const { SOURCE_DATE_EPOCH: sourceDateEpoch } = process.env;
  const build = readBuild({ ...(version && { release: version }), ...(sourceDateEpoch && { sourceDateEpoch }) });
  if (build.version.endsWith('-dirty'))
    console.error('note: the sources differ from the commit, so the version says dirty');
  if (payload === '') console.error('note: without --payload the image has no programs for hosts and does not start');
  else await checkPayload(resolve(payload), values['payload-key']);
  const images = imagesOf(values);
  const byTag = withoutDigest(releaseImages(build.release, images));
  if (byTag.length > 0) console.error(`note: ${byTag.join(', ')}: by tag; name pushed images by digest`);
  await makeRelease({
    build,
    output: resolve(output),
    images,
    ...(payload && { payload: resolve(payload) }),
    ...payloadKeyOf(values),
    // Once more: the folder may have changed since.
    checkPayload: copy => checkPayload(copy, values['payload-key']),
    progress: text => console.error(text),
  });
  console.log(`${output}: release ${build.release}, version ${build.version}`);
}

function payloadKeyOf({ 'payload-key': path = '' }: Readonly<Record<string, string>>): { payloadKey?: string } {
  if (path === '') return {};
  const key = readPublicKey(readFileSync(path, 'utf8'), path);
  return { payloadKey: key.export({ type: 'spki', format: 'pem' }) };
}

function imagesOf(values: Readonly<Record<string, string>>): Partial<ReleaseImages> {
  const { image, 'bundle-image': bundle, 'catalog-image': catalog, 'pause-image': pause } = values;
  return {
    ...(image && { operator: image }),
    ...(bundle && { bundle }),
    ...(catalog && { catalog }),
    ...(pause && { pause }),
  };
}
