import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFiles } from '../debian-package.ts';
import type { ImageTools } from './buildah.ts';

/** What the libraries of C and C++ need, and the usual empty folders. Change the number with the list. */
const cacheName = 'base-image-1';
const packages = ['base-files', 'libc6', 'libgcc-s1', 'libstdc++6'];

export const baseName = 'localhost/base:1';

/** Labels that bases of Red Hat have; images that are made from them inherit what they do not replace. */
export const baseLabels = {
  name: 'base',
  vendor: 'Vendor of the base',
  maintainer: 'Vendor of the base',
  version: '9.9',
  release: '1747',
  summary: 'The base',
  description: 'The base',
  url: 'https://base.example.com',
  'com.redhat.component': 'base-container',
  'build-date': '2020-01-01T00:00:00',
  'vcs-ref': 'ba5eba5eba5e',
  'vcs-type': 'git',
  'io.k8s.display-name': 'The base',
  'io.k8s.description': 'The base',
  'io.openshift.tags': 'base',
  'org.opencontainers.image.created': '2020-01-01T00:00:00Z',
  'org.opencontainers.image.revision': 'ba5eba5eba5e',
};

/** Makes an image of Debian packages that stands for the public bases. */
export async function makeBase({ folder, buildah }: ImageTools): Promise<void> {
  const context = join(folder, 'base');
  mkdirSync(context);
  for (const file of packageFiles(cacheName, packages))
    execFileSync('dpkg-deb', ['--extract', file, join(context, 'rootfs')]);
  const labels = Object.entries(baseLabels).map(([key, value]) => `LABEL ${key}=${JSON.stringify(value)}`);
  writeFileSync(join(context, 'Containerfile'), ['FROM scratch', 'COPY rootfs/ /', ...labels, ''].join('\n'));
  await buildah('build', '--isolation', 'chroot', '--timestamp', '0', '--tag', baseName, context);
}
