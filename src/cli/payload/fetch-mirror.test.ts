import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runPayload } from '../../../test/kit/payload-command.ts';
import { serve, startVendor, type Vendor } from '../../../test/kit/payload-vendor.ts';
import { startServer } from '../../../test/kit/tls-server.ts';

/** A vendor that is not reachable: all that it has, by the path in a mirror. */
async function disconnected(): Promise<{ vendor: Vendor; copies: Map<string, Buffer> }> {
  const vendor = await startVendor();
  const copies = new Map(
    [...vendor.served].map(([path, content]) => [`127.0.0.1:${vendor.server.port}${path}`, content]),
  );
  const image = vendor.sources.find(({ name }) => name === 'hybrid-overlay-node');
  if (image?.files[0] === undefined) throw new Error('no source to make an image of');
  delete image['file'];
  copies.delete(`127.0.0.1:${vendor.server.port}/files/hybrid-overlay-node.exe`);
  Object.assign(image, { image: 'quay.invalid/openshift/ovn:4.19', platform: 'linux/amd64', digest: 'unverified' });
  image.files[0].member = 'root/windows/overlay.exe';
  copies.set(
    'quay.invalid/openshift/ovn/4.19/linux/amd64/root/windows/overlay.exe',
    vendor.programs.get('hybrid-overlay-node.exe') ?? Buffer.alloc(0),
  );
  await vendor.writeLock();
  await vendor.server.stop();
  return { vendor, copies };
}

const fetchFrom = ({ lock, output }: Vendor, ...words: string[]) =>
  runPayload(['fetch', '--lock', lock, '-o', output, ...words]);

test('--mirror takes everything from a folder, and names the file that is missing there', async () => {
  const { vendor, copies } = await disconnected();
  const mirror = join(vendor.root, 'mirror');
  for (const [path, content] of copies) {
    await mkdir(dirname(join(mirror, path)), { recursive: true });
    if (!path.endsWith('csi-proxy.exe')) await writeFile(join(mirror, path), content);
  }
  const run = await fetchFrom(vendor, '--mirror', mirror);
  const missing = join(mirror, `127.0.0.1:${vendor.server.port}/files/csi-proxy/csi-proxy.exe`);
  expect([run.code, run.err, run.out.split('\n').at(-2)]).toEqual([
    1,
    expect.stringContaining(`PAYLOAD_DOWNLOAD_FAILED: ${missing}: the file does not exist`),
    expect.stringContaining('9 sources: 7 downloaded, 1 not given, 1 failed'),
  ]);
  await writeFile(missing, copies.get(missing.slice(mirror.length + 1)) ?? '');
  expect((await fetchFrom(vendor, '--mirror', mirror)).code).toBe(0);
});

test('--mirror takes everything from a URL, also without TLS', async () => {
  const { vendor, copies } = await disconnected();
  const mirror = await startServer(
    (request, answer) => serve(request, answer, copies.get(request.path.replace('/copies/', ''))),
    { protocol: 'plain' },
  );
  onTestFinished(() => mirror.stop());
  const run = await fetchFrom(vendor, '--mirror', `${mirror.url}/copies/`);
  expect([run.code, run.err]).toEqual([0, '']);
  expect(mirror.seen.map(({ path }) => path.replace('/copies/', '')).toSorted()).toEqual([...copies.keys()].toSorted());
});

for (const url of ['ftp://mirror/x', 'https://user:pa55word@mirror/x', 'https://mirror/x?y'])
  test(`--mirror ${url} is a usage error that shows no password`, async () => {
    const { lock, output } = await startVendor();
    const run = await runPayload(['fetch', '--lock', lock, '-o', output, '--mirror', url]);
    expect([run.err.includes('--mirror is'), run.err.includes('pa55word')]).toEqual([true, false]);
  });
