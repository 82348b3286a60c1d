import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { dir, file, requiredDirectories } from '#contract/paths.ts';
import { type BundleOptions, bundleOf, bundlePath, stageTexts } from '../../../test/kit/bundles.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { type Descriptor, sid } from '../access/descriptor.ts';
import { descriptorOf } from '../access/plan.ts';
import { lastStagedFile, readNotes } from './change-notes.ts';
import { copyPath, readRecord } from './record.ts';
import { stage } from './stage.ts';

const signal = new AbortController().signal;
const agent = 'a9'.repeat(32);
const program = 'MZ kubelet '.repeat(1000);
const texts = { [file.kubelet]: program, [file.kubeletConfig]: '{"a":1}', 'C:\\k\\empty': '' };
const hosts = 'C:\\k\\containerd\\registries\\quay.io\\hosts.toml';

/** What a host looks like to everybody but us: every file with its text, without our copies and the upload. */
function visible(host: ModelHost): Record<string, string | undefined> {
  const paths = host.fileTexts.keys().filter(path => !path.startsWith(dir.staged) && path !== bundlePath);
  return Object.fromEntries(paths.map(path => [path, host.fileTexts.get(path)]));
}

const records: readonly string[] = [file.stagedRecord, lastStagedFile];
const copies = (host: ModelHost) =>
  host.fileTexts.keys().filter(path => path.startsWith(dir.staged) && !records.includes(path));

async function uploaded(bundle: Uint8Array, host = new ModelHost()): Promise<ModelHost> {
  host.fileTexts.set(bundlePath, bundle);
  return host;
}

test('places all files and reports how many', async () => {
  const host = new ModelHost();
  const outcome = await stageTexts(host, texts);
  expect(outcome).toEqual({ placed: 3, unchanged: 0, removed: 0, bytes: program.length + 7 });
  expect(visible(host)).toEqual(texts);
});

test('creates the directories of services before files are placed', async () => {
  const host = new ModelHost();
  const made = new Set<string>();
  host.before = call => {
    if (call.startsWith('make ')) made.add(call.slice(5));
    // That one is there: the bundle is in it.
    const expected = requiredDirectories.filter(path => path !== dir.temp);
    if (call.startsWith('write ')) expect([...made]).toEqual(expect.arrayContaining(expected));
  };
  await stageTexts(host, texts);
  const secrets = [dir.agentCerts, dir.tls, dir.staged, dir.incoming, dir.cniConfig, dir.kubeletLog, dir.agentLog];
  for (const path of secrets) expect([path, host.files.directories.get(path)]).toEqual([path, 'secret']);
  expect(host.files.directories.get('C:\\var\\lib\\kubelet\\pki')).toBe('secret');
  for (const path of [dir.k, dir.cni]) expect(host.files.directories.get(path)).toBe('programs');
});

const user = 'S-1-5-21-1-2-3-1001';
const wrong: [string, Descriptor][] = [
  ['that a user may write', { owner: sid.administrators, entries: undefined }],
  ['that belongs to a user', { ...descriptorOf('programs'), owner: user }],
];
for (const [name, rights] of wrong) {
  for (const path of [file.kubelet, 'C:\\Temp\\hns.psm1']) {
    test(`does not keep ${path} ${name} because its hash is right`, async () => {
      const host = new ModelHost();
      host.fileTexts.set(path, program);
      host.files.rights.set(path, rights);
      await stageTexts(host, { [path]: program });
      expect([host.fileTexts.get(path), host.files.rights.of(path)]).toEqual([program, descriptorOf('programs')]);
    });
  }
}

test('keeps a record and a packed copy of each file, and not the bundle', async () => {
  const host = new ModelHost();
  await stageTexts(host, texts, { version: '11.0.0-1' });
  const record = await readRecord(host.files);
  expect(record).toMatchObject({ version: '11.0.0-1', bundle: sha256(await bundleOf(texts, { version: '11.0.0-1' })) });
  expect(record.files.map(({ path, sha256: hash, encoding }) => [path, hash, encoding])).toEqual([
    [file.kubelet, sha256(program), 'zstd'],
    [file.kubeletConfig, sha256('{"a":1}'), 'none'],
    ['C:\\k\\empty', sha256(''), 'none'],
  ]);
  expect(copies(host)).toEqual(record.files.map(copyPath).toSorted());
  expect((await host.files.stat(copyPath(record.files[0] ?? expect.fail())))?.bytes).toBeLessThan(200);
  expect(host.fileTexts.has(bundlePath)).toBe(false);
});

test('does not touch an unchanged file', async () => {
  const host = new ModelHost();
  host.fileTexts.set(file.kubelet, program);
  const before = await host.files.stat(file.kubelet);
  expect(await stageTexts(host, texts)).toMatchObject({ placed: 2, unchanged: 1, bytes: 7 });
  expect(await host.files.stat(file.kubelet)).toEqual(before);
});

test('changes nothing the second time', async () => {
  const host = new ModelHost();
  await stageTexts(host, texts);
  const before = visible(host);
  expect(await stageTexts(host, texts)).toEqual({ placed: 0, unchanged: 3, removed: 0, bytes: 0 });
  expect(visible(host)).toEqual(before);
});

test('does not need the bundle again after it was installed', async () => {
  const host = new ModelHost();
  await stageTexts(host, texts);
  host.fileTexts.set(file.kubeletConfig, 'damaged');
  const hash = sha256(await bundleOf(texts));
  expect(await stage({ bundle: bundlePath, sha256: hash, agent }, host.files, signal)).toMatchObject({
    placed: 1,
    unchanged: 2,
  });
  expect(visible(host)).toEqual(texts);
});

test('accepts the hash of the bundle in upper case', async () => {
  const bundle = await bundleOf(texts);
  const host = await uploaded(bundle);
  await stage({ bundle: bundlePath, sha256: sha256(bundle).toUpperCase(), agent }, host.files, signal);
  expect(visible(host)).toEqual(texts);
});

test('replaces a file in another spelling of its path', async () => {
  const host = new ModelHost();
  host.fileTexts.set('c:\\K\\KUBELET.exe', 'old');
  await stageTexts(host, texts);
  expect(await host.files.read(file.kubelet)).toBe(program);
});

test('keeps files of earlier bundles, and removes copies that are not needed', async () => {
  const host = new ModelHost();
  await stageTexts(host, texts);
  await stageTexts(host, { [file.kubeletConfig]: '{"a":2}' });
  const record = await readRecord(host.files);
  expect(record.files.map(({ path }) => path)).toEqual([file.kubelet, 'C:\\k\\empty', file.kubeletConfig]);
  expect(copies(host)).toEqual(record.files.map(copyPath).toSorted());
  expect(copies(host)).not.toContain(`${dir.staged}\\${sha256('{"a":1}')}`);
});

test('keeps one copy of equal content, as long as one file needs it', async () => {
  const host = new ModelHost();
  await stageTexts(host, { 'C:\\k\\a': 'same', 'C:\\k\\b': 'same' });
  expect(copies(host)).toHaveLength(1);
  await stageTexts(host, { 'C:\\k\\a': 'other' });
  expect(copies(host)).toHaveLength(2);
  await stageTexts(host, { 'C:\\k\\b': 'other' });
  expect(copies(host)).toEqual([`${dir.staged}\\${sha256('other')}`]);
});

test('removes what is to go, from the disk and from the record', async () => {
  const host = new ModelHost();
  await stageTexts(host, { [hosts]: 'server = "x"' });
  expect(await stageTexts(host, {}, { remove: [hosts, 'C:\\k\\never-there'] })).toMatchObject({ removed: 1 });
  expect([visible(host), (await readRecord(host.files)).files, copies(host)]).toEqual([{}, [], []]);
});

test('removes the folder of a registry with its last file, but none with a file of a user', async () => {
  const host = new ModelHost();
  const other = hosts.replace('quay.io', 'docker.io');
  await stageTexts(host, { [hosts]: 'x', [other]: 'y' });
  host.fileTexts.set(other.replace('hosts.toml', 'own.crt'), 'of a user');
  await stageTexts(host, {}, { remove: [hosts, other] });
  expect(await host.files.list(dir.registries)).toEqual(['docker.io']);
});

test('has services restarted for files that it changes or removes, and not for new ones', async () => {
  const host = new ModelHost();
  const [same, gone] = ['C:\\k\\same', 'C:\\k\\gone'];
  await stageTexts(host, { [file.kubeletConfig]: 'one', [same]: 'x', [gone]: 'y' });
  const next = { [file.kubeletConfig]: 'two', [same]: 'x', [file.cloudConfig]: 'new' };
  await stageTexts(host, next, { remove: [gone], hasServices: true });
  await stageTexts(host, { [same]: 'other' }, { hasServices: true });
  expect((await readNotes(host.files)).map(({ changed }) => changed)).toEqual([[file.kubeletConfig, gone], [same]]);
});

test('has nothing restarted on a host without services', async () => {
  const host = new ModelHost();
  for (const text of ['one', 'two']) await stageTexts(host, { [file.kubeletConfig]: text });
  expect(await readNotes(host.files)).toEqual([]);
});

test('protects secrets and their copies, also those whose content was right', async () => {
  const host = new ModelHost();
  host.fileTexts.set(file.tlsKey, 'key');
  const options = { secrets: [file.tlsKey] };
  expect(await stageTexts(host, { ...texts, [file.tlsKey]: 'key' }, options)).toMatchObject({ placed: 4 });
  expect(host.files.accessOf(file.tlsKey)).toBe('secret');
  expect(host.files.accessOf(`${dir.staged}\\${sha256('key')}`)).toBe('secret');
  expect(host.files.accessOf(file.kubelet)).toBeUndefined();
});

test('protects the copy of a secret also when a file for everybody has the same content', async () => {
  const host = new ModelHost();
  await stageTexts(host, { [file.tlsKey]: 'same', 'C:\\k\\z': 'same' }, { secrets: [file.tlsKey] });
  expect(host.files.accessOf(`${dir.staged}\\${sha256('same')}`)).toBe('secret');
});

test('does not touch what is no copy in the directory of copies', async () => {
  const host = new ModelHost();
  host.fileTexts.set(`${dir.staged}\\x.1-1.wicd-new`, 'somebody writes this');
  await stageTexts(host, texts);
  expect(host.fileTexts.has(`${dir.staged}\\x.1-1.wicd-new`)).toBe(true);
});

const refusals: [string, (bundle: Buffer) => [Uint8Array, string?], string][] = [
  ['a bundle with another hash', bundle => [bundle, 'f'.repeat(64)], 'BUNDLE_DAMAGED'],
  ['no bundle', () => [Buffer.from('hello, this is none')], 'BUNDLE_MALFORMED'],
  ['nothing', () => [Buffer.alloc(0)], 'BUNDLE_DAMAGED'],
  ['half a header', bundle => [bundle.subarray(0, 40)], 'BUNDLE_DAMAGED'],
  ['a bundle cut short', bundle => [bundle.subarray(0, -1)], 'BUNDLE_DAMAGED'],
  ['a bundle that goes on', bundle => [Buffer.concat([bundle, Buffer.from('x')])], 'BUNDLE_DAMAGED'],
  ['a changed last byte', bundle => [Buffer.from(bundle).fill(0, bundle.length - 1)], 'BUNDLE_DAMAGED'],
];
for (const [name, change, code] of refusals) {
  test(`rejects ${name} and leaves everything unchanged`, async () => {
    const host = new ModelHost();
    await stageTexts(host, { [file.kubelet]: 'old', 'C:\\k\\mine': 'mine' });
    const before = [visible(host), copies(host), await readRecord(host.files)];
    const [bundle, hash = sha256(bundle)] = change(await bundleOf(texts));
    await uploaded(bundle, host);
    await expect(stage({ bundle: bundlePath, sha256: hash, agent }, host.files, signal)).rejects.toMatchObject({
      code,
    });
    expect([visible(host), copies(host), await readRecord(host.files)]).toEqual(before);
  });
}

test('rejects a bundle in which one file, even the last, does not match its hash', async () => {
  const bundle = await bundleOf({ 'C:\\k\\a': 'first', 'C:\\k\\b': 'second' });
  const changed = Buffer.from(bundle.toString('latin1').replace('second', 'secund'), 'latin1');
  const host = await uploaded(changed);
  await expect(stage({ bundle: bundlePath, sha256: sha256(changed), agent }, host.files, signal)).rejects.toMatchObject(
    {
      code: 'BUNDLE_DAMAGED',
      message: expect.stringContaining('content for C:\\k\\b has the hash'),
    },
  );
  expect([visible(host), copies(host)]).toEqual([{}, []]);
});

test('a bundle for the version in place does not change which agent that version has', async () => {
  const host = new ModelHost();
  await stageTexts(host, texts, { version: 'v1', agent: 'a1' });
  await stageTexts(host, { [file.agentKubeconfig]: 'token' }, { version: 'v1', agent: 'a2' });
  expect(await readRecord(host.files)).toMatchObject({ version: 'v1', agent: 'a1' });
  await stageTexts(host, texts, { version: 'v2', agent: 'a2' });
  expect(await readRecord(host.files)).toMatchObject({ version: 'v2', agent: 'a2' });
});

test('rejects a path outside of the folders of the agent', async () => {
  const bundle = await bundleOf({ 'C:\\k\\aaaa': 'x' });
  const changed = Buffer.from(bundle.toString('latin1').replace('C:\\\\k\\\\aaaa', 'C:\\\\kk\\\\aaa'), 'latin1');
  const host = await uploaded(changed);
  await expect(stage({ bundle: bundlePath, sha256: sha256(changed), agent }, host.files, signal)).rejects.toMatchObject(
    {
      code: 'BUNDLE_MALFORMED',
    },
  );
});

test('requests the upload when there is no bundle', async () => {
  await expect(
    stage({ bundle: bundlePath, sha256: 'f'.repeat(64), agent }, new ModelHost().files, signal),
  ).rejects.toMatchObject({
    code: 'INPUT_UNREADABLE',
    message: expect.stringContaining(bundlePath),
    remedy: expect.stringMatching(/./),
  });
});

test('stops when aborted', async () => {
  const bundle = await bundleOf(texts);
  const host = await uploaded(bundle);
  const stop = new AbortController();
  host.before = call => call === `write ${file.stagedRecord}` && stop.abort(new Error('stopping'));
  await expect(stage({ bundle: bundlePath, sha256: sha256(bundle), agent }, host.files, stop.signal)).rejects.toThrow(
    'stopping',
  );
  expect(visible(host)).toEqual({});
  await stage({ bundle: bundlePath, sha256: sha256(bundle), agent }, host.files, signal);
  expect(visible(host)).toEqual(texts);
});

test('keeps the other files when one cannot be written, and finishes the next time', async () => {
  const bundle = await bundleOf(texts);
  const host = await uploaded(bundle);
  host.before = call => {
    if (call === `write ${file.kubelet}`) throw new Error('disk full');
  };
  await expect(stage({ bundle: bundlePath, sha256: sha256(bundle), agent }, host.files, signal)).rejects.toThrow(
    'disk full',
  );
  host.before = () => undefined;
  expect(await stage({ bundle: bundlePath, sha256: sha256(bundle), agent }, host.files, signal)).toMatchObject({
    placed: 3,
  });
});

/** Ends the agent before its n-th step on the file system; true when that many steps were made. */
async function cutShort(run: () => Promise<unknown>, host: ModelHost, step: number): Promise<boolean> {
  let steps = 0;
  host.before = () => {
    steps += 1;
    if (steps > step) throw new Error('power cut');
  };
  await run().catch(() => undefined);
  host.before = () => undefined;
  return steps > step;
}

const oldTexts = { [file.kubelet]: 'old kubelet', [hosts]: 'old', 'C:\\k\\kept': 'kept' };
const options: BundleOptions = { version: 'v2', remove: [hosts], secrets: [file.kubeletConfig] };
const after = { ...texts, 'C:\\k\\kept': 'kept' };

test('interrupted at any step, every file is old or new, and the next run completes it', async () => {
  const bundle = await bundleOf(texts, options);
  const run = (host: ModelHost) => stage({ bundle: bundlePath, sha256: sha256(bundle), agent }, host.files, signal);
  let cuts = 0;
  for (let isCut = true; isCut; cuts += 1) {
    const host = new ModelHost();
    await stageTexts(host, oldTexts);
    await uploaded(bundle, host);
    isCut = await cutShort(() => run(host), host, cuts);
    for (const [path, text] of Object.entries(visible(host))) {
      expect([(oldTexts as Record<string, string>)[path], after[path as keyof typeof after]]).toContain(text);
    }
    for (const path of copies(host)) expect(path).toMatch(/\\[0-9a-f]{64}(\.zst)?$/);
    await run(host);
    expect(visible(host)).toEqual(after);
    const record = await readRecord(host.files);
    expect(copies(host)).toEqual([...new Set(record.files.map(copyPath))].toSorted());
  }
  expect(cuts).toBeGreaterThan(15);
});

test('interrupted any number of times, one bundle after the other, the last one wins', async () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const content = fc.constantFrom('1', '2', 'long '.repeat(60));
  const bundles = fc.array(fc.dictionary(name, content, { maxKeys: 3 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(bundles, fc.array(fc.nat(25), { maxLength: 6 }), async (given, cuts) => {
      const host = new ModelHost();
      const want: Record<string, string> = {};
      for (const one of given) {
        const files = Object.fromEntries(Object.entries(one).map(([path, text]) => [`C:\\k\\${path}`, text]));
        const bundle = await bundleOf(files);
        const run = () => stage({ bundle: bundlePath, sha256: sha256(bundle), agent }, host.files, signal);
        await uploaded(bundle, host);
        for (const step of cuts) await cutShort(run, host, step);
        await run();
        Object.assign(want, files);
        expect(visible(host)).toEqual(want);
      }
    }),
    { numRuns: 60 },
  );
});
