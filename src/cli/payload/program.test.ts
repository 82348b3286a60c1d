import { execFileSync } from 'node:child_process';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { openPayload } from '#node/payload-source.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import {
  fetchedPayload,
  flipBit,
  programContent,
  runPayload,
  temporaryFolder,
} from '../../../test/kit/payload-command.ts';
import { bytesOf } from '../../../test/kit/payload-image.ts';

/** A packed payload with its key, packed once for all tests. */
let once: Promise<string> | undefined;
async function packedOnce(): Promise<string> {
  const { root, folder, lock } = await fetchedPayload();
  const kept = await import('node:fs/promises').then(fs => fs.mkdtemp(join(dirname(root), 'wmco-packed-')));
  process.once('exit', () => execFileSync('rm', ['-rf', kept]));
  expect((await runPayload(['keygen', '-o', join(kept, 'key')])).code).toBe(0);
  const run = await runPayload([
    'pack',
    folder,
    '--lock',
    lock,
    '--sign-key',
    join(kept, 'key.pem'),
    '-o',
    join(kept, 'packed'),
  ]);
  expect([run.code, run.out]).toEqual([0, `${join(kept, 'packed')}: packed and signed by ${join(kept, 'key.pem')}\n`]);
  return kept;
}

async function packed(): Promise<{ folder: string; key: string; root: string }> {
  const kept = await (once ??= packedOnce());
  const root = await temporaryFolder();
  await cp(kept, root, { recursive: true });
  return { root, folder: join(root, 'packed'), key: join(root, 'key.pub') };
}
/** Puts files where the packed payload should go. */
const outputWith =
  (...names: string[]) =>
  async ({ root }: { root: string }) => {
    await mkdir(join(root, 'out'));
    for (const name of names) await writeFile(join(root, 'out', name), '');
  };
const verify = ({ folder, key }: { folder: string; key: string }) => runPayload(['verify', folder, '--key', key]);

describe('keygen', () => {
  test('writes a pair of which only the owner reads the private key, and replaces none', async () => {
    const root = await temporaryFolder();
    const name = join(root, 'own');
    const run = await runPayload(['keygen', '-o', name]);
    expect(run.code).toBe(0);
    expect((await lstat(`${name}.pem`)).mode & 0o777).toBe(0o600);
    expect(`${run.out}${run.err}`).not.toContain('BEGIN');
    const text = execFileSync('openssl', ['pkey', '-in', `${name}.pem`, '-pubout'], { encoding: 'utf8' });
    expect(text).toBe(await readFile(`${name}.pub`, 'utf8'));
    const again = await runPayload(['keygen', '-o', name]);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('a key is never replaced')]);
    expect(await readFile(`${name}.pub`, 'utf8')).toBe(text);
    // No half of a pair is left.
    await rm(`${name}.pem`);
    expect((await runPayload(['keygen', '-o', name])).code).toBe(1);
    expect(await readdir(root)).toEqual(['own.pub']);
  });
});

describe('pack', () => {
  test('makes a payload that verifies, that the operator opens, and whose programs are the same', async () => {
    const { root, folder, key } = await packed();
    expect(await verify({ folder, key })).toMatchObject({ code: 0, err: '' });
    const publicPem = await readFile(key, 'utf8');
    const payload = await openPayload({ folder, cacheFolder: join(root, 'cache'), key: { publicPem, keyName: key } });
    const agent = await payload.agent();
    const name = 'windows-instance-config-daemon.exe';
    expect(await bytesOf(agent.content())).toEqual(programContent(name));
    expect(await payload.files('Azure')).toHaveLength(12);
  });

  test('its lists pass `sha256sum -c`: that of all files in place, that of the programs where they are unpacked', async () => {
    const { folder, root } = await packed();
    execFileSync('sha256sum', ['--strict', '-c', 'SHA256SUMS'], { cwd: folder });
    const files = join(root, 'unpacked');
    for (const path of (await readdir(folder, { recursive: true })).filter(each => each.endsWith('.tar.gz'))) {
      await mkdir(dirname(join(files, path)), { recursive: true });
      execFileSync('tar', ['-xzf', join(folder, path), '-C', dirname(join(files, path))]);
    }
    execFileSync('sha256sum', ['--strict', '-c', join(folder, 'sha256sum')], { cwd: files });
  });

  test('two runs give the same bytes, with SPDX 2.3 that names every program with its sums and license', async () => {
    const { folder, lock, root, paths } = await fetchedPayload();
    await runPayload(['keygen', '-o', join(root, 'key')]);
    const sums: string[] = [];
    for (const name of ['one', 'two']) {
      const output = join(root, name);
      const words = ['pack', folder, '--lock', lock, '--sign-key', join(root, 'key.pem'), '-o', output];
      expect((await runPayload(words, { environment: { SOURCE_DATE_EPOCH: '1700000000' } })).code).toBe(0);
      sums.push(
        await readFile(join(output, 'SHA256SUMS'), 'utf8'),
        await readFile(join(output, 'SHA256SUMS.sig'), 'utf8'),
      );
    }
    expect(sums.slice(0, 2)).toEqual(sums.slice(2));
    const sbom = JSON.parse(await readFile(join(root, 'one', 'payload.spdx.json'), 'utf8')) as {
      spdxVersion: string;
      creationInfo: { created: string };
      packages: { SPDXID: string; licenseDeclared: string }[];
      files: { SPDXID: string; fileName: string; checksums: { algorithm: string; checksumValue: string }[] }[];
      relationships: { spdxElementId: string; relatedSpdxElement: string }[];
    };
    expect([sbom.spdxVersion, sbom.creationInfo.created]).toEqual(['SPDX-2.3', '2023-11-14T22:13:20Z']);
    expect(sbom.files.map(({ fileName }) => fileName).toSorted()).toEqual(paths.map(path => `./${path}`).toSorted());
    for (const { fileName, checksums } of sbom.files)
      expect(checksums).toContainEqual({
        algorithm: 'SHA256',
        checksumValue: sha256(programContent(fileName.slice(2))),
      });
    const ids = new Set([...sbom.packages, ...sbom.files].map(({ SPDXID }) => SPDXID));
    expect(ids.size).toBe(sbom.packages.length + sbom.files.length);
    for (const { spdxElementId, relatedSpdxElement } of sbom.relationships)
      expect([ids.has(spdxElementId), ids.has(relatedSpdxElement)]).toEqual([true, true]);
  });

  const refusals: [
    about: string,
    change: (at: { folder: string; lock: string; root: string }) => Promise<unknown>,
    error: string,
  ][] = [
    ['a changed program', ({ folder }) => flipBit(join(folder, 'kube-node/kubelet.exe')), 'PAYLOAD_DAMAGED'],
    ['a missing program', ({ folder }) => rm(join(folder, 'cni/host-local.exe')), 'cni/host-local.exe is missing'],
    [
      'a program whose checksum nobody has checked',
      async ({ lock }) =>
        writeFile(lock, (await readFile(lock, 'utf8')).replace(/sha256: [0-9a-f]{64}/, 'sha256: unverified')),
      'PAYLOAD_UNVERIFIED',
    ],
    ['a folder that is no packed payload', outputWith('thesis.txt'), '"thesis.txt" is not in its SHA256SUMS'],
    [
      'a folder with a list of other files',
      outputWith('SHA256SUMS', 'disk.iso'),
      '"disk.iso" is not in its SHA256SUMS',
    ],
    [
      'a folder with a link',
      async ({ root }) => {
        await outputWith('thesis.txt')({ root });
        await symlink('thesis.txt', join(root, 'out', 'link'));
      },
      'is not a packed payload',
    ],
    ['a file in place of the folder', ({ root }) => writeFile(join(root, 'out'), 'x'), 'is not a packed payload'],
  ];
  for (const [about, change, error] of refusals) {
    test(`refuses ${about}, and leaves nothing half-done`, async () => {
      const { folder, lock, root } = await fetchedPayload();
      await change({ folder, lock, root });
      const before = await readdir(root, { recursive: true });
      const run = await runPayload(['pack', folder, '--lock', lock, '-o', join(root, 'out')]);
      expect([run.code, run.err]).toEqual([1, expect.stringContaining(error)]);
      expect(await readdir(root, { recursive: true })).toEqual(before);
    });
  }

  test('replaces an older packed payload, also with a slash behind its name, and says when nothing signs it', async () => {
    const { folder, lock, root } = await fetchedPayload();
    for (const slash of ['', '/'])
      expect(await runPayload(['pack', folder, '--lock', lock, '-o', `${join(root, 'out')}${slash}`])).toMatchObject({
        code: 0,
        err: expect.stringContaining('refuses it') as string,
      });
    const unsigned = await runPayload(['verify', join(root, 'out')]);
    expect([unsigned.code, unsigned.err]).toEqual([1, expect.stringContaining('the payload is not signed')]);
  });
});

test('pack stops with Ctrl-C, and leaves nothing half-done', async () => {
  const { folder, lock, root } = await fetchedPayload();
  const before = await readdir(root, { recursive: true });
  const words = ['pack', folder, '--lock', lock, '-o', join(root, 'out')];
  const run = await runPayload(words, { signal: AbortSignal.abort(new Error('SIGINT')) });
  expect([run.code, run.err]).toEqual([1, expect.stringMatching(/^error: INTERRUPTED: /)]);
  expect(await readdir(root, { recursive: true })).toEqual(before);
});

test('pack refuses a private key that it cannot use before it packs, and tells how to decrypt one', async () => {
  const { folder, lock, root } = await fetchedPayload();
  const key = join(root, 'key.pem');
  const pack = () => runPayload(['pack', folder, '--lock', lock, '--sign-key', key, '-o', join(root, 'out')]);
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-aes256', '-pass', 'pass:secret', '-out', key]);
  expect((await pack()).err).toMatch(
    /^error: PAYLOAD_KEY_INVALID: \S+ is encrypted\n  -> Decrypt it .*openssl pkey -in/,
  );
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed448', '-out', key]);
  expect((await pack()).err).toMatch(
    /^error: PAYLOAD_KEY_INVALID: \S+ is not an Ed25519 private key in PEM \(its type is ed448\)/,
  );
});

test('an empty name of a key is an error, not the key of the release or no signature', async () => {
  const { folder } = await fetchedPayload();
  for (const words of [
    ['verify', folder, '--key', ''],
    ['pack', folder, '--sign-key', ''],
  ])
    expect((await runPayload(words)).err).toMatch(/^error: --[\w-]+ is "", not the path of a key\n/);
});

test('pack names an output that cannot be written', async () => {
  const { folder, lock } = await fetchedPayload();
  const run = await runPayload(['pack', folder, '--lock', lock, '-o', join(lock, 'out')]);
  expect([run.code, run.err]).toEqual([
    1,
    expect.stringMatching(/^error: OUTPUT_UNWRITABLE: \S+\/out: cannot be written/m),
  ]);
});

describe('verify', () => {
  test('names every file of which a single bit was changed', async () => {
    const { folder, key } = await packed();
    const paths = (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name));
    expect(paths).toHaveLength(14 + 6);
    for (const path of paths) {
      const good = await readFile(path);
      await flipBit(path);
      const run = await verify({ folder, key });
      expect([path, run.code, run.err.includes(path.replace(/\.sig$/, ''))]).toEqual([path, 1, true]);
      await writeFile(path, good);
    }
    expect((await verify({ folder, key })).code).toBe(0);
  });

  const damages: [about: string, change: (folder: string) => Promise<unknown>, error: string][] = [
    ['a missing file', folder => rm(join(folder, 'csi-proxy/csi-proxy.exe.tar.gz')), 'csi-proxy.exe.tar.gz is missing'],
    [
      'a file that nobody listed',
      folder => writeFile(join(folder, 'cni/extra.exe'), 'x'),
      'cni/extra.exe has no checksum',
    ],
    ['a missing signature', folder => rm(join(folder, 'sha256sum.sig')), 'the payload is not signed'],
    [
      'a link',
      async folder => {
        await rename(join(folder, 'cni'), join(folder, '..', 'cni'));
        await symlink(join(folder, '..', 'cni'), join(folder, 'cni'));
      },
      'is a link',
    ],
    [
      'two files that were swapped',
      async folder => {
        await rename(join(folder, 'cni/win-bridge.exe.tar.gz'), join(folder, 'x'));
        await rename(join(folder, 'cni/host-local.exe.tar.gz'), join(folder, 'cni/win-bridge.exe.tar.gz'));
        await rename(join(folder, 'x'), join(folder, 'cni/host-local.exe.tar.gz'));
      },
      'cni/host-local.exe.tar.gz has SHA-256',
    ],
    [
      'an archive that was made anew, with new lists',
      async folder => {
        await flipBit(join(folder, 'kube-node/kubelet.exe.tar.gz'));
        const sum = sha256(await readFile(join(folder, 'kube-node/kubelet.exe.tar.gz')));
        const list = join(folder, 'SHA256SUMS');
        await writeFile(list, (await readFile(list, 'utf8')).replace(/^\w+(?= {2}kube-node\/kubelet)/m, sum));
      },
      'SHA256SUMS.sig is not a signature over',
    ],
  ];
  for (const [about, change, error] of damages) {
    test(`finds ${about}`, async () => {
      const { folder, key } = await packed();
      await change(folder);
      const run = await verify({ folder, key });
      expect([run.code, run.err]).toEqual([1, expect.stringContaining(error)]);
    });
  }

  test('refuses what another key has signed, as the operator does', async () => {
    const { folder, root } = await packed();
    await runPayload(['keygen', '-o', join(root, 'other')]);
    const key = join(root, 'other.pub');
    const run = await verify({ folder, key });
    expect([run.code, run.err]).toEqual([
      1,
      expect.stringContaining(`is not a signature over ${join(folder, 'sha256sum')} by ${key}`),
    ]);
    const trusted = { publicPem: await readFile(key, 'utf8'), keyName: key };
    expect(await rejectionOf(openPayload({ folder, cacheFolder: join(root, 'cache'), key: trusted }))).toMatchObject({
      code: 'PAYLOAD_UNSIGNED',
    });
    // Without --key it is that of the release.
    expect((await runPayload(['verify', folder])).err).toContain('by the key of the release');
  });

  test('the operator refuses a changed list or signature at its start, a changed or missing archive when it is used, and reads no other file', async () => {
    const { folder, root, key } = await packed();
    const trusted = { publicPem: await readFile(key, 'utf8'), keyName: key };
    const open = async () => {
      await rm(join(root, 'cache'), { recursive: true, force: true });
      return openPayload({ folder, cacheFolder: join(root, 'cache'), key: trusted });
    };
    await writeFile(join(folder, 'cni/extra.exe.tar.gz'), 'x');
    expect(await (await open()).files('AWS')).toHaveLength(12);
    for (const path of ['sha256sum', 'sha256sum.sig']) {
      const good = await readFile(join(folder, path));
      await flipBit(join(folder, path));
      expect([path, await rejectionOf(open())]).toMatchObject([path, { code: 'PAYLOAD_UNSIGNED' }]);
      await writeFile(join(folder, path), good);
    }
    const archive = join(folder, 'kube-node/kubelet.exe.tar.gz');
    const good = await readFile(archive);
    await flipBit(archive);
    expect(['PAYLOAD_DAMAGED', 'PAYLOAD_UNREADABLE']).toContain(
      (await rejectionOf((await open()).files('None')))?.code,
    );
    await rm(archive);
    expect(await rejectionOf((await open()).files('None'))).toMatchObject({ code: 'PAYLOAD_UNREADABLE' });
    await writeFile(archive, good);
    expect(await (await open()).files('None')).toHaveLength(11);
  });

  test('compares downloaded programs with the lock', async () => {
    const { folder, lock } = await fetchedPayload();
    const words = ['verify', folder, '--lock', lock];
    expect(await runPayload(words)).toMatchObject({ code: 0, out: `${folder}: 14 programs, as in ${lock}\n` });
    await flipBit(join(folder, 'kube-node/kube-proxy.exe'));
    await writeFile(join(folder, 'kube-node/kubectl.exe'), 'x');
    await rm(join(folder, 'hybrid-overlay-node.exe'));
    const run = await runPayload(words);
    expect([run.code, run.err.match(/^error: .*?(?= has SHA| has no| is missing)/gm)]).toEqual([
      1,
      [
        `error: PAYLOAD_CHECKSUM_MISSING: ${join(folder, 'kube-node/kubectl.exe')}`,
        `error: PAYLOAD_UNREADABLE: ${join(folder, 'hybrid-overlay-node.exe')}`,
        `error: PAYLOAD_DAMAGED: ${join(folder, 'kube-node/kube-proxy.exe')}`,
      ],
    ]);
  });

  test('with a key refuses a folder that is not signed, whatever the lock says about it', async () => {
    const { folder, lock, root } = await fetchedPayload();
    expect((await runPayload(['verify', folder, '--lock', lock])).code).toBe(0);
    await runPayload(['keygen', '-o', join(root, 'key')]);
    const run = await runPayload(['verify', folder, '--lock', lock, '--key', join(root, 'key.pub')]);
    expect([run.code, run.err]).toEqual([1, expect.stringContaining('SHA256SUMS cannot be read')]);
  });

  test('takes no private key for a public one, and says which file cannot be read', async () => {
    const { folder, root } = await packed();
    const run = await runPayload(['verify', folder, '--key', join(root, 'key.pem')]);
    expect([run.code, run.err]).toEqual([1, expect.stringContaining('PAYLOAD_KEY_INVALID')]);
    expect((await runPayload(['verify', folder, '--key', join(root, 'none.pub')])).err).toContain(
      'none.pub cannot be read',
    );
    await chmod(folder, 0o755);
    expect((await runPayload(['verify', join(root, 'nothing')])).code).toBe(1);
  });
});

test('the lock of the project names every program, and its sums are unverified until they are checked', async () => {
  const run = await runPayload(['verify', await temporaryFolder()]);
  expect(run.code).toBe(1);
  // It is parsed as a lock: only programs are missing.
  expect(run.err.match(/^error: \w+/gm)?.every(line => line === 'error: PAYLOAD_UNREADABLE')).toBe(true);
});
