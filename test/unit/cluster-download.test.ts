import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { downloadBinaries } from '../kit/cluster/download.ts';

const version = '1.34.1';
const archiveName = `envtest-v${version}-linux-amd64.tar.gz`;
const manager = Buffer.from('kube-controller-manager of a test');

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'download-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function makeArchive(): Buffer {
  const folder = makeFolder();
  const inner = join(folder, 'controller-tools', 'envtest');
  mkdirSync(inner, { recursive: true });
  for (const name of ['etcd', 'kube-apiserver', 'kubectl'])
    writeFileSync(join(inner, name), `${name} of a test`, { mode: 0o755 });
  return execFileSync('tar', ['-czf', '-', '-C', folder, 'controller-tools']);
}

const sum = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex');

/** A fake internet: addresses get the response of their suffix. */
function internet(pages: Record<string, string | Uint8Array<ArrayBuffer> | undefined>): typeof fetch {
  return input => {
    const { url } = new Request(input);
    const page = Object.entries(pages).find(([ending]) => url.endsWith(ending));
    if (page === undefined) return Promise.reject(new TypeError('fetch failed'));
    return Promise.resolve(page[1] === undefined ? new Response('', { status: 404 }) : new Response(page[1]));
  };
}

function pages(
  archive: Uint8Array<ArrayBuffer>,
  changed: Record<string, string | Uint8Array<ArrayBuffer> | undefined> = {},
) {
  const entry = { hash: sum('sha512', archive), selfLink: `https://files.example/${archiveName}` };
  return {
    'envtest-releases.yaml': JSON.stringify({ releases: { [`v${version}`]: { [archiveName]: entry } } }),
    [archiveName]: archive,
    '/kube-controller-manager': new Uint8Array(manager),
    '/kube-controller-manager.sha256': `${sum('sha256', manager)}\n`,
    ...changed,
  };
}

test('installs executable programs in a folder of the cache', async () => {
  const cache = makeFolder();
  const said: string[] = [];
  const folder = await downloadBinaries(cache, line => said.push(line), internet(pages(new Uint8Array(makeArchive()))));
  expect(folder).toBe(join(cache, `kube-${version}`));
  expect(said).toEqual([`downloading Kubernetes ${version} (once)`]);
  for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager']) {
    expect(readFileSync(join(folder, name), 'utf8')).toBe(`${name} of a test`);
    expect(statSync(join(folder, name)).mode & 0o111).not.toBe(0);
  }
});

test('replaces an incomplete folder', async () => {
  const cache = makeFolder();
  mkdirSync(join(cache, `kube-${version}`));
  writeFileSync(join(cache, `kube-${version}`, 'left-over'), '');
  const folder = await downloadBinaries(cache, () => undefined, internet(pages(new Uint8Array(makeArchive()))));
  expect(existsSync(join(folder, 'left-over'))).toBe(false);
});

const archive = new Uint8Array(Buffer.from('no archive at all'));
const failures: [string, Record<string, string | Uint8Array<ArrayBuffer> | undefined>, string][] = [
  ['the internet cannot be reached', {}, 'raw.githubusercontent.com cannot be reached'],
  ['the list is gone', { 'envtest-releases.yaml': undefined }, 'envtest-releases.yaml answers 404'],
  ['the list lacks the version', { 'envtest-releases.yaml': 'releases: {}' }, `does not list ${archiveName}`],
  ['the archive is another', { ...pages(archive), [archiveName]: 'changed' }, 'has the sha512'],
  ['the archive is none', pages(archive), `tar cannot unpack ${archiveName}`],
];
for (const [name, pages, message] of failures) {
  test(`fails and leaves no files when ${name}`, async () => {
    const cache = makeFolder();
    await expect(downloadBinaries(cache, () => undefined, internet(pages))).rejects.toThrow(message);
    expect(readdirSync(cache)).toEqual([]);
  });
}

test('fails and leaves no files when a checksum differs', async () => {
  const cache = makeFolder();
  const changed = pages(new Uint8Array(makeArchive()), { '/kube-controller-manager.sha256': 'abc' });
  await expect(downloadBinaries(cache, () => undefined, internet(changed))).rejects.toThrow('has the sha256');
  expect(readdirSync(cache)).toEqual([]);
});
