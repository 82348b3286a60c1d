import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPartial } from '../../src/payload/fetch/partial.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { TestCa } from '../kit/certificates.ts';
import { fastClock } from '../kit/fast-clock.ts';
import { flipBit, runPayload } from '../kit/payload-command.ts';
import { startVendor, type Vendor } from '../kit/payload-vendor.ts';
import { type Registry, type RegistrySettings, startRegistry } from '../kit/registry.ts';
import { ImagePusher } from '../kit/registry-image.ts';
import { startTokenService, tokenService } from '../kit/registry-token.ts';
import { tarOf } from '../kit/tar-archive.ts';

const program = (name: string) => Buffer.concat([Buffer.from(`MZ ${name}`), randomBytes(300_000)]);
const overlay = program('overlay');
const manager = program('manager');
const member = 'root/windows/hybrid-overlay-node.exe';

const linuxLayers = [
  gzipSync(tarOf({ 'root/windows/': '', [member]: program('an old one'), 'etc/passwd': 'root' })),
  gzipSync(tarOf({ 'root/.wh.windows': '' })),
  zstdCompressSync(tarOf({ 'root/windows/': '', [`./${member}`]: overlay })),
  gzipSync(tarOf({ 'etc/.wh..wh..opq': '', 'etc/hosts': 'localhost' })),
];
const windowsLayers = [
  gzipSync(tarOf({ 'Files/': '', 'Files/Windows/System32/cmd.exe': 'MZ', 'Hives/System_Delta': 'x' })),
  gzipSync(tarOf({ 'cloud-node-manager.exe': 'not a file of the system', 'Files/cloud-node-manager.exe': manager })),
];

let registry: Registry;
let digest = '';
const repository = 'openshift/ovn';
beforeAll(async () => {
  registry = await startRegistry();
  const pusher = new ImagePusher(registry.host, repository);
  digest = await pusher.pushList('4.19', [
    { os: 'windows', osVersion: '10.0.20348.1', layers: windowsLayers },
    { os: 'windows', osVersion: '10.0.26100.1', layers: windowsLayers.slice(0, 1) },
    { os: 'linux', layers: linuxLayers },
  ]);
  await pusher.pushImage('single', { os: 'linux', layers: linuxLayers });
  await pusher.pushImage('deleted', { os: 'linux', layers: linuxLayers.slice(0, 2) });
});
afterAll(() => registry[Symbol.asyncDispose]());

interface Sourcing {
  host?: string;
  tag?: string;
  isPinned?: boolean;
}

/** A lock that takes two programs from images, and the others from an ordinary server. */
async function lockWithImages({
  host = 'quay.invalid',
  tag = '4.19',
  isPinned = true,
}: Sourcing = {}): Promise<Vendor> {
  const vendor = await startVendor();
  const images = [
    { name: 'hybrid-overlay-node', platform: 'linux/amd64', member, content: overlay },
    { name: 'azure-cloud-node-manager', platform: 'windows/amd64', member: 'cloud-node-manager.exe', content: manager },
  ];
  for (const { name, platform, member: inImage, content } of images) {
    const source = vendor.sources.find(each => each.name === name);
    const file = source?.files[0];
    if (source === undefined || file === undefined) throw new Error(`no source ${name}`);
    delete source['file'];
    Object.assign(source, { image: `${host}/${repository}:${tag}`, platform });
    Object.assign(source, { digest: isPinned ? digest : 'unverified' });
    Object.assign(file, { member: inImage, sha256: isPinned ? sha256(content) : 'unverified' });
  }
  await vendor.writeLock();
  return vendor;
}

const images = ['--only', 'hybrid-overlay-node', 'azure-cloud-node-manager'];
const linuxImage = ['--only', 'hybrid-overlay-node'];
/** Registries answer with errors of the server when what they have stored is damaged. */
const clock = fastClock(100);
const fetchFrom = ({ lock, output }: Vendor, ...words: string[]) =>
  runPayload(['fetch', '--lock', lock, '-o', output, ...words], { clock });
const mirror = () => ['--registry-mirror', `http://${registry.host}`];
const programsIn = async ({ output }: Vendor) =>
  Promise.all(
    ['hybrid-overlay-node.exe', 'azure-cloud-node-manager.exe'].map(path =>
      readFile(join(output, path)).catch(() => undefined),
    ),
  );

describe('a registry', () => {
  test('has programs in images of several platforms; deleted ones and those of other layers are not taken; digests are pinned', async () => {
    const vendor = await lockWithImages({ isPinned: false });
    const refused = await fetchFrom(vendor, ...images, ...mirror());
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('no checksum of the image itself')]);
    const run = await fetchFrom(vendor, ...images, ...mirror(), '--trust-first-download');
    expect([run.code, await programsIn(vendor)]).toEqual([0, [overlay, manager]]);
    const lock = await readFile(vendor.lock, 'utf8');
    expect(lock.split(digest)).toHaveLength(3);
    expect([lock.includes(sha256(overlay)), lock.includes(sha256(manager))]).toEqual([true, true]);
  });

  test('serves a whole payload together with archives and files, which verifies', async () => {
    const vendor = await lockWithImages();
    const agent = join(vendor.root, 'agent.exe');
    await writeFile(agent, vendor.programs.get('windows-instance-config-daemon.exe') ?? '');
    expect(await fetchFrom(vendor, '--agent', agent, ...mirror())).toMatchObject({ code: 0 });
    expect((await runPayload(['verify', vendor.output, '--lock', vendor.lock])).code).toBe(0);
    const requests = registry.log().length;
    const copies = ['--mirror', join(vendor.root, 'copies'), ...mirror()];
    expect((await fetchFrom(vendor, ...copies)).out).toContain('9 sources: 9 already there');
    expect(registry.log()).toHaveLength(requests);
  });

  test('serves images beside a folder with copies of everything else', async () => {
    const vendor = await lockWithImages();
    const copies = join(vendor.root, 'copies');
    await mkdir(copies);
    const run = await fetchFrom(vendor, '--mirror', copies, ...mirror());
    expect([run.code, await programsIn(vendor)]).toEqual([1, [overlay, manager]]);
    expect(run.err).toContain(`PAYLOAD_DOWNLOAD_FAILED: ${copies}`);
  });

  test('is asked only for the part of a layer that is missing', async () => {
    const vendor = await lockWithImages();
    const [, , layer = Buffer.alloc(0)] = linuxLayers;
    const downloads = join(vendor.output, '.downloads');
    await mkdir(downloads, { recursive: true });
    const url = `http://${registry.host}/v2/${repository}/blobs/sha256:${sha256(layer)}`;
    const partial = await startPartial(join(downloads, `sha256-${sha256(layer)}`), { url, validator: '' });
    await partial.writeFile(layer.subarray(0, 100_000));
    await partial.close();
    const before = registry.log().length;
    expect((await fetchFrom(vendor, ...linuxImage, ...mirror())).code).toBe(0);
    expect(registry.log().slice(before)).toMatch(/status=206/);
    expect((await programsIn(vendor))[0]).toEqual(overlay);
  });

  const refusals: [about: string, tag: string, error: string][] = [
    ['an image without a list, for the wrong platform', 'single', 'is built for linux/amd64, not for windows/amd64'],
    ['a program that a layer deletes', 'deleted', 'layer 2 of 2 deletes "root/windows/hybrid-overlay-node.exe"'],
    ['a tag that does not exist', 'none', 'the server answered 404'],
  ];
  for (const [about, tag, error] of refusals)
    test(`refuses ${about}`, async () => {
      const vendor = await lockWithImages({ tag, isPinned: false });
      const run = await fetchFrom(vendor, ...images, ...mirror(), '--trust-first-download');
      expect([run.code, run.err]).toEqual([1, expect.stringContaining(error)]);
    });

  test('with one flipped bit in list, manifest or layer is found out, and a layer above is not to blame', async () => {
    const list = JSON.parse(await readFile(blobPath(digest.slice(7)), 'utf8')) as { manifests: { digest: string }[] };
    const flipped = [digest, list.manifests[2]?.digest ?? '', `sha256:${sha256(linuxLayers[2] ?? '')}`];
    for (const each of flipped) {
      const vendor = await lockWithImages();
      await flipBit(blobPath(each.slice(7)));
      // The size of the answer is right, and so is its name: only its content tells.
      const run = await fetchFrom(vendor, ...linuxImage, ...mirror());
      await flipBit(blobPath(each.slice(7)));
      expect([run.code, run.err]).toEqual([1, expect.stringMatching(/PAYLOAD_DOWNLOAD_(DIFFERS|FAILED): http/)]);
      expect(run.err).toContain(each);
      expect((await programsIn(vendor))[0]).toBeUndefined();
      expect((await fetchFrom(vendor, ...linuxImage, ...mirror())).code).toBe(0);
    }
  });
});

function blobPath(hex: string): string {
  return join(registry.storage, 'docker/registry/v2/blobs/sha256', hex.slice(0, 2), hex, 'data');
}

describe('a registry with TLS that wants a login', () => {
  const password = 'pa55word-of-the-test';
  const login = Buffer.from(`user:${password}`).toString('base64');
  const ca = new TestCa();
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wmco-registry-tls-'));
    const { cert, key } = ca.issue({ commonName: 'registry', names: ['127.0.0.1'] });
    const files = {
      'ca.pem': ca.cert,
      'tls.crt': cert,
      'tls.key': key,
      // By `htpasswd -B`, of the password above.
      htpasswd: 'user:$2y$04$abcdefghijklmnopqrstuu0iypvXexmhl2dhK.wCFJIkdoaLN2GKO\n',
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function logins(host: string, auth: string): Promise<string> {
    const path = join(folder, 'auth.json');
    await writeFile(path, JSON.stringify({ auths: { [host]: { auth }, 'other.example.com': { auth: login } } }));
    return path;
  }
  const startClosed = (config: string[]) => {
    const tls = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
    const settings: RegistrySettings = { tls, storage: registry.storage, config: ['auth:', ...config] };
    return startRegistry(settings);
  };
  const fetchWith = async (host: string, auth: string) => {
    const vendor = await lockWithImages({ host });
    const words = ['--ca-file', join(folder, 'ca.pem'), '--authfile', await logins(host, auth)];
    return { run: await fetchFrom(vendor, ...linuxImage, ...words), vendor };
  };
  const wrong = Buffer.from('user:wrong').toString('base64');

  test('by password gives programs for the right one only, and no message has it', async () => {
    await using closed = await startClosed(['  htpasswd:', '    realm: test', `    path: ${join(folder, 'htpasswd')}`]);
    const { run, vendor } = await fetchWith(closed.host, login);
    expect([run.code, (await programsIn(vendor))[0]]).toEqual([0, overlay]);
    const refused = await fetchWith(closed.host, wrong);
    expect([refused.run.code, refused.run.err]).toEqual([1, expect.stringContaining('it refuses the login')]);
    const none = await fetchFrom(
      await lockWithImages({ host: closed.host }),
      ...linuxImage,
      '--ca-file',
      join(folder, 'ca.pem'),
    );
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('it wants a login, and there is none')]);
    for (const { out, err } of [run, refused.run, none])
      for (const secret of [password, login, wrong]) expect(`${out}${err}`).not.toContain(secret);
  });

  test('by tokens gives programs to whoever its login service knows', async () => {
    await using tokens = await startTokenService(ca, login);
    await using closed = await startClosed([
      '  token:',
      `    realm: ${tokens.url}/token`,
      `    service: ${tokenService.service}`,
      `    issuer: ${tokenService.issuer}`,
      `    rootcertbundle: ${join(folder, 'ca.pem')}`,
    ]);
    const { run, vendor } = await fetchWith(closed.host, login);
    expect([run.code, (await programsIn(vendor))[0]]).toEqual([0, overlay]);
    const refused = await fetchWith(closed.host, wrong);
    expect([refused.run.code, refused.run.err]).toEqual([1, expect.stringContaining('it refuses the login')]);
  });
});
