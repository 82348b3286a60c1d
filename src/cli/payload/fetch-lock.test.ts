import { chmod, lstat, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { parseLock, type PayloadLock } from '#payload/lock.ts';
import { payloadFiles } from '#node/payload.ts';
import { runPayload } from '../../../test/kit/payload-command.ts';
import { startVendor, type Vendor } from '../../../test/kit/payload-vendor.ts';

const fetchFrom = ({ lock, output }: Vendor, ...words: string[]) =>
  runPayload(['fetch', '--lock', lock, '-o', output, ...words]);
const lockOf = async ({ lock }: Vendor) => parseLock(await readFile(lock, 'utf8'), lock, payloadFiles);

/** By name of the source and path of the file. */
function sumsOf({ sources }: PayloadLock): Record<string, string> {
  return Object.fromEntries(
    sources.flatMap(({ name, origin, files }) => [
      ...(origin.kind === 'archive' ? [[name, origin.sha256] as const] : []),
      ...files.map(({ path, sha256: sum }) => [path, sum] as const),
    ]),
  );
}

describe('checksums that nobody has checked', () => {
  test('are refused: nothing is downloaded, and the error names them', async () => {
    const vendor = await startVendor({ isPinned: false });
    const before = await readFile(vendor.lock, 'utf8');
    const run = await fetchFrom(vendor);
    expect([run.code, run.out.split('\n').at(-2)]).toEqual([1, expect.stringContaining('1 not given, 8 failed')]);
    expect(run.err).toContain('PAYLOAD_UNVERIFIED: cni-plugins: the lock has no checksum of the archive itself, "cni/');
    expect([vendor.server.seen, await readFile(vendor.lock, 'utf8')]).toEqual([[], before]);
  });

  test('are entered by --trust-first-download for what was downloaded, also when other sources fail', async () => {
    const vendor = await startVendor({ isPinned: false });
    vendor.served.delete('/releases/node.tar.gz');
    vendor.served.set('/files/hybrid-overlay-node.exe', Buffer.from('<html>Please log in</html>'));
    // A list of files that has no member: the archive was downloaded, and yet nothing of it is trusted.
    vendor.served.set('/releases/cni.tgz', vendor.served.get('/releases/containerd.zip') ?? Buffer.alloc(0));
    await chmod(vendor.lock, 0o640);
    const before = await readFile(vendor.lock, 'utf8');
    const run = await fetchFrom(vendor, '--trust-first-download');
    expect([run.code, run.err.match(/error: \w+: [\w-]*/g)]).toEqual([
      1,
      [
        'error: PAYLOAD_DOWNLOAD_FAILED: http',
        'error: PAYLOAD_ARCHIVE_REFUSED: http',
        'error: PAYLOAD_ARCHIVE_REFUSED: hybrid-overlay-node',
      ],
    ]);
    const sums = sumsOf(await lockOf(vendor));
    expect(sums['containerd']).toBe(sha256(vendor.served.get('/releases/containerd.zip') ?? ''));
    for (const [path, content] of vendor.programs)
      expect([path, sums[path]]).toEqual([
        path,
        /^(kube-node|cni|hybrid|windows-inst)/.test(path) ? 'unverified' : sha256(content),
      ]);
    expect([sums['kubernetes'], sums['cni-plugins']]).toEqual(['unverified', 'unverified']);
    const after = await readFile(vendor.lock, 'utf8');
    expect(after.replaceAll(/[0-9a-f]{64}/g, 'unverified')).toBe(before);
    expect((await stat(vendor.lock)).mode & 0o777).toBe(0o640);
    expect(await readdir(vendor.root)).toEqual(['files', 'payload.lock.yaml']);
  });

  test('once entered, they hold: nothing is downloaded again, and other bytes are refused', async () => {
    const vendor = await startVendor({ isPinned: false });
    expect((await fetchFrom(vendor, '--trust-first-download')).code).toBe(0);
    const [pinned, requests] = [await readFile(vendor.lock, 'utf8'), vendor.server.seen.length];
    expect((await fetchFrom(vendor)).code).toBe(0);
    expect(vendor.server.seen).toHaveLength(requests);
    vendor.served.set('/files/csi-proxy/csi-proxy.exe', Buffer.from('MZ other'));
    await writeFile(join(vendor.output, 'csi-proxy/csi-proxy.exe'), 'x');
    const run = await fetchFrom(vendor, '--trust-first-download');
    expect([run.code, run.err]).toEqual([1, expect.stringContaining('PAYLOAD_DOWNLOAD_DIFFERS')]);
    expect(await readFile(vendor.lock, 'utf8')).toBe(pinned);
  });

  const overlay = '/files/hybrid-overlay-node.exe';
  const first = (vendor: Vendor) => fetchFrom(vendor, '--trust-first-download', '--only', 'hybrid-overlay-node');

  test('are not entered for a download of which nobody can tell whether it was cut', async () => {
    const vendor = await startVendor({ isPinned: false });
    const content = vendor.served.get(overlay) ?? Buffer.alloc(0);
    vendor.faults.set(overlay, (_, answer) => {
      answer.socket?.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), content.subarray(0, 50_000)]));
    });
    const run = await first(vendor);
    expect([run.code, run.err]).toEqual([1, expect.stringContaining('the server does not tell how large it is')]);
    expect(sumsOf(await lockOf(vendor))['hybrid-overlay-node.exe']).toBe('unverified');
  });

  test('are not entered for parts of two files, from a server that has only dates and ignores If-Range', async () => {
    const vendor = await startVendor({ isPinned: false });
    const content = vendor.served.get(overlay) ?? Buffer.alloc(0);
    const partial = join(vendor.output, '.downloads', 'hybrid-overlay-node.hybrid-overlay-node.exe');
    vendor.faults.set(overlay, ({ headers }, answer, turn) => {
      const [, from = '0'] = /^bytes=(\d+)-$/.exec(String(headers['range'])) ?? [];
      const rest = content.subarray(Number(from));
      answer.writeHead(from === '0' ? 200 : 206, {
        'last-modified': `Mon, 0${turn === 1 ? 1 : 8} Jan 2024 00:00:00 GMT`,
        'content-length': rest.length,
        ...(from !== '0' && { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }),
      });
      if (turn > 1) {
        answer.end(rest);
        return;
      }
      answer.write(Buffer.from(content).fill(1, 100).subarray(0, 70_000));
      void expect
        .poll(async () => (await stat(partial).catch(() => undefined))?.size)
        .toBe(70_000)
        .finally(() => answer.destroy());
    });
    expect((await first(vendor)).code).toBe(0);
    expect(sumsOf(await lockOf(vendor))['hybrid-overlay-node.exe']).toBe(sha256(content));
  });

  test('a lock behind a link is changed where it is', async () => {
    const vendor = await startVendor({ isPinned: false });
    const target = join(vendor.root, 'v1.36.yaml');
    await rename(vendor.lock, target);
    await symlink('v1.36.yaml', vendor.lock);
    expect((await fetchFrom(vendor, '--trust-first-download', '--only', 'csi-proxy')).code).toBe(0);
    expect((await lstat(vendor.lock)).isSymbolicLink()).toBe(true);
    expect(sumsOf(await lockOf(vendor))['csi-proxy/csi-proxy.exe']).not.toBe('unverified');
  });
});

test('a member that differs from the lock is named, and nothing of its archive is kept', async () => {
  const vendor = await startVendor();
  const file = vendor.sources[0]?.files[1];
  if (file) file.sha256 = 'a'.repeat(64);
  await vendor.writeLock();
  const run = await fetchFrom(vendor, '--only', 'kubernetes');
  expect(run.err).toContain(
    `kubernetes: ${file?.member} has SHA-256 ${sha256(vendor.programs.get(file?.path ?? '') ?? '')}, but the lock has ${'a'.repeat(64)}`,
  );
  expect((await readdir(vendor.output)).filter(path => !path.startsWith('.'))).toEqual([]);
});

const ambiguous: [what: string, change: (text: string) => string][] = [
  ['a key twice', text => text.replace(/( +)sha256: (\S+)/, '$1sha256: $2\n$1sha256: unverified')],
  [
    'an alias',
    text => text.replace(/sha256: \S+/, 'sha256: &one unverified').replace(/sha256: [^&]\S+/, 'sha256: *one'),
  ],
  [
    'a key twice, as JSON',
    text => text.replace(/[^]*/, '{"kubernetes": "v1.36", "kubernetes": "v1.35", "sources": []}'),
  ],
];
for (const [what, change] of ambiguous)
  test(`a lock that has ${what} is refused`, async () => {
    const vendor = await startVendor();
    await writeFile(vendor.lock, change(await readFile(vendor.lock, 'utf8')));
    expect(await fetchFrom(vendor)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not valid YAML, or has a key twice or an alias') as string,
    });
  });

for (const image of ['quay.io:99999/a:1', 'quay.io/../a:1', 'quay.io/a:..'])
  test(`a lock with the image ${image} is refused`, async () => {
    const vendor = await startVendor();
    const source = vendor.sources.find(({ name }) => name === 'hybrid-overlay-node');
    delete source?.['file'];
    source?.files.forEach(file => (file.member = 'a.exe'));
    Object.assign(source ?? {}, { image, platform: 'linux/amd64', digest: 'unverified' });
    await vendor.writeLock();
    expect((await fetchFrom(vendor)).err).toContain(`image is "${image}", not an image with registry and tag`);
  });

const doubles: [what: string, change: (vendor: Vendor) => void][] = [
  ['source "csi-proxy"', ({ sources }) => Object.assign(sources[0] ?? {}, { name: 'csi-proxy' })],
  ['member "bin/kubelet.exe"', ({ sources }) => sources[0]?.files.forEach(file => (file.member = 'bin/kubelet.exe'))],
];
for (const [what, change] of doubles)
  test(`a lock that has a ${what} twice is refused`, async () => {
    const vendor = await startVendor();
    change(vendor);
    await vendor.writeLock();
    expect(await fetchFrom(vendor)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`has the ${what} twice`) as string,
    });
  });
