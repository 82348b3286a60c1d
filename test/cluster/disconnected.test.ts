import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { pauseImage } from '../../src/node/desired/containerd-config.ts';
import { imageList, releaseImages } from '../../tools/release/images.ts';
import { writeExamples } from '../../tools/release/olm-parts.ts';
import { ensurePrograms } from '../kit/debian-package.ts';
import { partsOf } from '../kit/doc-commands.ts';
import { startRegistry } from '../kit/registry.ts';
import { repositoryRoot, runWmco } from '../kit/run-wmco.ts';

const page = readFileSync(join(repositoryRoot, 'docs', 'disconnected.md'), 'utf8');
const copyCommand = partsOf(page).fences.find(({ text }) => text.includes('skopeo copy'))?.text ?? '';

/** An image for two platforms as an OCI layout, so that a copy of one platform would be noticed. */
function writeLayout(folder: string, name: string): void {
  mkdirSync(join(folder, 'blobs', 'sha256'), { recursive: true });
  const blob = (mediaType: string, content: string) => {
    const hash = createHash('sha256').update(content).digest('hex');
    writeFileSync(join(folder, 'blobs', 'sha256', hash), content);
    return { mediaType, digest: `sha256:${hash}`, size: content.length };
  };
  const oci = (kind: string) => `application/vnd.oci.image.${kind}+json`;
  const manifests = ['linux', 'windows'].map(os => {
    const config = JSON.stringify({
      architecture: 'amd64',
      os,
      rootfs: { type: 'layers', diff_ids: [] },
      author: name,
    });
    const manifest = {
      schemaVersion: 2,
      mediaType: oci('manifest.v1'),
      config: blob(oci('config.v1'), config),
      layers: [],
    };
    return { ...blob(oci('manifest.v1'), JSON.stringify(manifest)), platform: { architecture: 'amd64', os } };
  });
  const list = JSON.stringify({ schemaVersion: 2, mediaType: oci('index.v1'), manifests });
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(
    join(folder, 'index.json'),
    JSON.stringify({ schemaVersion: 2, manifests: [blob(oci('index.v1'), list)] }),
  );
}

test('images copied as documented are where the examples of a release send nodes to', async () => {
  ensurePrograms('/usr/bin/skopeo');
  await using internet = await startRegistry();
  await using mirror = await startRegistry();
  const folder = mkdtempSync(join(tmpdir(), 'wmco-mirror-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));

  // To skopeo, the hosts of the release are the first registry.
  const hosts = ['quay.io', 'mcr.microsoft.com'];
  const located = (image: string) =>
    hosts.reduce((text, host) => text.replace(host, `${internet.host}/${host}`), image);
  const registries = [...hosts.map(host => [host, located(host)]), [mirror.host, mirror.host]].map(
    ([prefix, location]) => `[[registry]]\nprefix = "${prefix}"\nlocation = "${location}"\ninsecure = true\n`,
  );
  writeFileSync(join(folder, 'registries.conf'), registries.join(''));
  writeFileSync(join(folder, 'policy.json'), '{"default":[{"type":"insecureAcceptAnything"}]}');
  const run = (command: string, args: readonly string[]) => {
    const env = { ...process.env, HOME: folder };
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' });
    expect([args, status, status === 0 ? '' : stderr]).toEqual([args, 0, '']);
    return stdout;
  };
  const options = [`--policy=${join(folder, 'policy.json')}`, `--registries-conf=${join(folder, 'registries.conf')}`];
  const digestOf = (image: string) =>
    `sha256:${createHash('sha256')
      .update(run('skopeo', [...options, 'inspect', '--raw', `docker://${image}`]))
      .digest('hex')}`;

  const tags = releaseImages('11.0.0');
  const digests = new Map<string, string>();
  for (const [name, image] of Object.entries(tags)) {
    writeLayout(join(folder, name), name);
    const copy = ['copy', '--all', '--dest-tls-verify=false', `oci:${name}`, `docker://${located(image)}`];
    run('skopeo', [...options, ...copy]);
    digests.set(name, digestOf(image));
  }
  const byDigest = (image: string, name: string) => `${image.replace(/:[^:/]+$/, '')}@${digests.get(name)}`;
  const images = { ...tags, operator: byDigest(tags.operator, 'operator'), bundle: byDigest(tags.bundle, 'bundle') };

  writeFileSync(join(folder, 'images.txt'), imageList(images));
  await writeExamples(join(folder, 'examples'), images);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'skopeo'), `#!/bin/sh\nexec /usr/bin/skopeo ${options.join(' ')} "$@"\n`, {
    mode: 0o755,
  });
  const script = copyCommand.replace('mirror.example.com:5000', mirror.host);
  run('sh', ['-c', `set -e; PATH=${folder}/bin:$PATH\n${script}`]);

  // What pulls an image, by the objects that the page applies.
  const objectsIn = (name: string) =>
    parseAllDocuments(
      readFileSync(join(folder, 'examples', name), 'utf8').replaceAll('mirror.example.com:5000', mirror.host),
    ).map(each => each.toJS() as { kind: string; spec: Record<string, unknown> });
  const [source] = objectsIn('catalogsource-mirror.yaml');
  expect(digestOf(String(source?.spec['image']))).toBe(digests.get('catalog'));
  const [digestSet] = objectsIn('mirrors.yaml');
  const [entry] = (digestSet?.spec['imageDigestMirrors'] ?? []) as { source: string; mirrors: string[] }[];
  for (const image of [images.operator, images.bundle])
    expect(digestOf(image.replace(entry?.source ?? '', entry?.mirrors[0] ?? ''))).toBe(image.split('@')[1]);

  const { code, out } = await runWmco(['render', 'registries', '-f', join(folder, 'examples', 'mirrors.yaml')]);
  expect(code).toBe(0);
  const [, prefix] = /\[host\."https:\/\/mirror\.example\.com:5000\/v2\/?([^"]*)"\]/.exec(out) ?? [];
  const path = [prefix, pauseImage.replace('mcr.microsoft.com/', '')].filter(Boolean).join('/');
  expect(digestOf(`${mirror.host}/${path}`)).toBe(digests.get('pause'));
});
