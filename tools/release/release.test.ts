import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pauseImage } from '../../src/node/desired/containerd-config.ts';
import { newKeyPair } from '../../src/payload/signature.ts';
import { bundleRules } from '../olm/bundle-rules.ts';
import { catalogRules } from '../olm/catalog-rules.ts';
import { csvRules } from '../olm/csv-rules.ts';
import { documentsIn, listAt, readBundle } from '../olm/read.ts';
import { problemsOf } from '../olm/rule.ts';
import { readBuild } from './build.ts';
import { imageList, isImageReference, releaseImages, withoutDigest } from './images.ts';
import { makeRelease, type ReleaseOptions } from './release.ts';

const build = readBuild({ release: '11.0.3', version: '11.0.3-1234abc', sourceDateEpoch: '1700000000' });
/** A program that needs no build. */
const program = { path: '/bin/true', sha256: '0'.repeat(64), bytes: 1, inputs: [] };

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wmco-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A payload as far as a release looks into it. */
function newPayload(): string {
  const folder = newFolder();
  writeFileSync(join(folder, 'sha256sum'), `${'0'.repeat(64)}  kubelet.exe\n`);
  writeFileSync(join(folder, 'kubelet.exe.tar.gz'), 'kubelet');
  return folder;
}

async function release(options: Partial<ReleaseOptions> = {}): Promise<string> {
  const output = join(newFolder(), 'release');
  await makeRelease({ build, output, ...options }, () => Promise.resolve(program));
  return output;
}

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
const sums = (folder: string) => readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
const digest = (letter: string) => `@sha256:${letter.repeat(64)}`;

test('a release has everything, and sha256sum accepts it', async () => {
  const output = await release({ payload: newPayload() });
  const files = filesOf(output);
  expect(readdirSync(output).sort()).toEqual(
    [
      'SHA256SUMS',
      'bundle',
      'catalog',
      'examples',
      'image',
      'images.txt',
      'manifests',
      'sbom.spdx.json',
      'wmco',
    ].sort(),
  );
  for (const path of [
    'image/Containerfile',
    'image/rootfs/payload/kubelet.exe.tar.gz',
    'manifests/openshift/install.yaml',
    'manifests/kubernetes/install.yaml',
    'manifests/admission/agents.yaml',
    'bundle/Containerfile',
    'bundle/metadata/annotations.yaml',
    'catalog/configs/windows-machine-config-operator/catalog.yaml',
    'examples/subscription-manual.yaml',
  ])
    expect(files).toContain(path);
  expect(sums(output).split('\n').length - 1).toBe(files.length - 1);
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: output });
  expect(readFileSync(join(output, 'examples/catalogsource.yaml'), 'utf8')).toContain('/catalog:v11.0.3\n');
  expect(readFileSync(join(output, 'manifests/openshift/install.yaml'), 'utf8')).toContain('/operator:v11.0.3\n');
});

test('manifests and bundle of a payload that another key has signed have that key', async () => {
  const { publicPem } = newKeyPair();
  const output = await release({ payloadKey: publicPem });
  const data = { 'public.pem': Buffer.from(publicPem).toString('base64') };
  const argument = '--payload-key=/etc/windows-payload-key/public.pem';
  for (const platform of ['openshift', 'kubernetes']) {
    const objects = documentsIn(readFileSync(join(output, 'manifests', platform, 'install.yaml'), 'utf8'));
    expect(objects.slice(-2)).toMatchObject([{ kind: 'Secret', data }, { kind: 'Deployment' }]);
    expect(JSON.stringify(objects.at(-1))).toContain(argument);
  }
  const bundle = bundleOf(output);
  const secrets = bundle.manifests.map(({ object }) => object).filter(({ kind }) => kind === 'Secret');
  expect(secrets).toMatchObject([{ metadata: { name: 'windows-payload-key' }, data }]);
  expect(JSON.stringify(bundle.csv)).toContain(argument);
  expect([problemsOf(bundleRules, bundle), problemsOf(csvRules, bundle.csv)]).toEqual([[], []]);
  const usual = bundleOf(await release());
  expect(JSON.stringify(usual)).not.toContain('--payload-key');
});

test('two releases of the same sources have the same bytes, which all can read', async () => {
  const payload = newPayload();
  const [one, other] = [await release({ payload }), await release({ payload })];
  expect(sums(other)).toBe(sums(one));
  const modes = await Promise.all(filesOf(one).map(async path => (await stat(join(one, path))).mode & 0o777));
  expect(new Set(modes)).toEqual(new Set([0o644, 0o755]));
});

test('pushed images are named by digest everywhere, and the bundle does not depend on its own image', async () => {
  const images = {
    operator: `quay.io/a/operator${digest('a')}`,
    bundle: `quay.io/a/bundle${digest('b')}`,
    catalog: `quay.io/a/catalog${digest('c')}`,
    pause: `mcr.microsoft.com/oss/kubernetes/pause${digest('d')}`,
  };
  const { bundle: _, ...withoutBundle } = images;
  const [output, before] = [await release({ images }), await release({ images: withoutBundle })];
  const lines = (folder: string, part: string) =>
    sums(folder)
      .split('\n')
      .filter(line => line.includes(`  ${part}/`));
  expect(lines(output, 'bundle')).toEqual(lines(before, 'bundle'));
  expect(lines(output, 'catalog')).not.toEqual(lines(before, 'catalog'));
  const content = bundleOf(output);
  expect(listAt(content.csv, 'spec', 'relatedImages')).toEqual([
    { name: 'operator', image: images.operator },
    { name: 'pause', image: images.pause },
  ]);
  expect(content.csv.metadata?.annotations?.['createdAt']).toBe('2023-11-14T22:13:20Z');
  const catalog = documentsIn(
    readFileSync(join(output, 'catalog/configs/windows-machine-config-operator/catalog.yaml'), 'utf8'),
  );
  expect(listAt(catalog[2], 'relatedImages').map(({ image }) => image)).toEqual([
    images.bundle,
    images.operator,
    images.pause,
  ]);
  expect([
    problemsOf(bundleRules, content),
    problemsOf(csvRules, content.csv),
    problemsOf(catalogRules, catalog),
  ]).toEqual([[], [], []]);
  expect(readFileSync(join(output, 'images.txt'), 'utf8')).toBe(imageList(releaseImages('11.0.3', images)));
});

function bundleOf(output: string) {
  const folder = join(output, 'bundle');
  return readBundle(Object.fromEntries(filesOf(folder).map(path => [path, readFileSync(join(folder, path), 'utf8')])));
}

test('a release replaces a former one, and nothing else', async () => {
  const output = await release();
  const before = sums(output);
  const again = () =>
    makeRelease({ build: { ...build, date: '2026-01-01T00:00:00Z' }, output }, () => Promise.resolve(program));
  await again();
  expect(sums(output)).not.toBe(before);
  writeFileSync(join(output, 'notes.txt'), '');
  await expect(again()).rejects.toThrow(/is not a release: "notes.txt" is not in its SHA256SUMS/);
  expect(existsSync(join(output, 'notes.txt'))).toBe(true);
});

test('the payload is checked where it is in the image, so that no other bytes get there', async () => {
  const [folder, payload] = [newFolder(), newPayload()];
  const seen: string[] = [];
  const checkPayload = async (copy: string) => {
    seen.push(readFileSync(join(copy, 'kubelet.exe.tar.gz'), 'utf8'), copy);
    throw new Error('not signed');
  };
  const made = makeRelease({ build, output: join(folder, 'release'), payload, checkPayload }, async () => {
    writeFileSync(join(payload, 'kubelet.exe.tar.gz'), 'changed');
    return program;
  });
  await expect(made).rejects.toThrow('not signed');
  expect(seen).toEqual(['changed', expect.stringMatching(/\/image\/rootfs\/payload$/)]);
  expect(readdirSync(folder)).toEqual([]);
});

test('a release that fails leaves nothing behind', async () => {
  const folder = newFolder();
  const output = join(folder, 'release');
  const payload = newFolder();
  await expect(makeRelease({ build, output, payload }, () => Promise.resolve(program))).rejects.toThrow(
    /not a payload/,
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('refuses a version that is for no Kubernetes', async () => {
  const other = readBuild({ release: '12.0.0', sourceDateEpoch: '1' });
  await expect(release({ build: other })).rejects.toThrow(/"12\.0\.0" has no row/);
});

const references: [text: string, isValid: boolean][] = [
  ['quay.io/a/b:v1', true],
  [`quay.io/a/b${digest('a')}`, true],
  ['mirror.example.com:5000/a/b/c:v1.2', true],
  ['quay.io/a/b', false],
  ['b:v1', false],
  ['quay.io/A/b:v1', false],
  [`quay.io/a/b@sha256:${'a'.repeat(63)}`, false],
  ['quay.io/a/b:v1 x', false],
];
for (const [text, isValid] of references) {
  test(`${text} is ${isValid ? 'an' : 'no'} image reference`, () => expect(isImageReference(text)).toBe(isValid));
}

test('images without digest are named', () => {
  expect(withoutDigest(releaseImages('11.0.0'))).toEqual(['operator', 'bundle', 'pause']);
  const all = { operator: `a/b${digest('a')}`, bundle: `a/c${digest('b')}`, pause: `a/d${digest('c')}` };
  expect(withoutDigest(releaseImages('11.0.0', all))).toEqual([]);
  // containerd on the hosts asks for the tag.
  expect(imageList(releaseImages('11.0.0', all)).split('\n')).toContain(pauseImage);
});
