import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { sha256 } from '#base/sha256.ts';
import { dir, file } from '#contract/paths.ts';
import type { FileInfo } from '#contract/services/manifest.ts';
import { stageTexts } from '../../../test/kit/bundles.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { type Descriptor, sid } from '../access/descriptor.ts';
import { type Access, descriptorOf } from '../access/plan.ts';
import { changeState, readState } from '../state.ts';
import { repairFiles } from './repair.ts';

const program = 'MZ kubelet '.repeat(300);
const texts = { [file.kubelet]: program, [file.kubeletConfig]: '{"a":1}', [file.tlsKey]: 'key' };

async function stagedHost(): Promise<ModelHost> {
  const host = new ModelHost();
  await stageTexts(host, texts, { secrets: [file.tlsKey] });
  return host;
}

const repair = (host: ModelHost, listed: FileInfo[] = [], signal = new AbortController().signal) =>
  repairFiles(listed, path => host.files.sha256(path), host.files, signal);

const current = (host: ModelHost) =>
  Object.fromEntries(Object.keys(texts).map(path => [path, host.fileTexts.get(path)]));

test('writes nothing when all files are unchanged', async () => {
  const host = await stagedHost();
  const calls = host.log.length;
  expect(await repair(host)).toEqual({ repaired: [], problems: [] });
  expect(host.log).toHaveLength(calls);
});

test('does nothing without staged files', async () => {
  expect(await repair(new ModelHost())).toEqual({ repaired: [], problems: [] });
});

const damages: [string, (host: ModelHost) => unknown, string[]][] = [
  ['a changed program', host => host.fileTexts.set(file.kubelet, 'virus'), [file.kubelet]],
  ['a program with a byte too many', host => host.fileTexts.set(file.kubelet, `${program}x`), [file.kubelet]],
  ['a missing file', host => host.fileTexts.delete(file.kubeletConfig), [file.kubeletConfig]],
  ['an emptied file', host => host.fileTexts.set(file.kubeletConfig, ''), [file.kubeletConfig]],
  [
    'all of them',
    host => Object.keys(texts).forEach(path => host.fileTexts.delete(path)),
    [file.kubelet, file.kubeletConfig, file.tlsKey],
  ],
];
for (const [name, damage, want] of damages) {
  test(`fixes ${name}`, async () => {
    const host = await stagedHost();
    damage(host);
    expect(await repair(host)).toEqual({ repaired: want, problems: [] });
    expect(current(host)).toEqual(texts);
  });

  test(`remembers that services may have read ${name}`, async () => {
    const host = await stagedHost();
    damage(host);
    await changeState(host.files, { changedFiles: ['C:\\k\\earlier'] });
    await repair(host);
    expect((await readState(host.files)).changedFiles).toEqual(['C:\\k\\earlier', ...want]);
  });
}

test('records a change before it is made', async () => {
  const host = await stagedHost();
  host.fileTexts.delete(file.kubelet);
  host.before = call => {
    if (call === `write ${file.kubelet}`) throw new Error('power cut');
  };
  await repair(host);
  expect((await readState(host.files)).changedFiles).toEqual([file.kubelet]);
});

test('protects a secret again', async () => {
  const host = await stagedHost();
  host.fileTexts.set(file.tlsKey, 'other');
  await repair(host);
  expect([host.fileTexts.get(file.tlsKey), host.files.accessOf(file.tlsKey)]).toEqual(['key', 'secret']);
});

test('uses the hash of the ConfigMap if it has one', async () => {
  const host = await stagedHost();
  await stageTexts(host, { 'C:\\k\\spare': 'newer' });
  const listed = [{ path: file.kubeletConfig.toUpperCase(), checksum: sha256('newer').toUpperCase() }];
  expect(await repair(host, listed)).toEqual({ repaired: [file.kubeletConfig.toUpperCase()], problems: [] });
  expect(host.fileTexts.get(file.kubeletConfig)).toBe('newer');
});

test('uses the staged hash when the ConfigMap has none', async () => {
  const host = await stagedHost();
  expect(await repair(host, [{ path: file.kubelet, checksum: '' }])).toEqual({ repaired: [], problems: [] });
});

const hopeless: [string, FileInfo, RegExp][] = [
  ['is missing', { path: 'C:\\k\\x.exe', checksum: 'a'.repeat(64) }, /file C:\\k\\x\.exe is missing, and there is no/],
  ['is another one', { path: file.kubelet, checksum: 'a'.repeat(64) }, /kubelet\.exe has the hash [0-9a-f]{64}, and/],
];
for (const [name, listed, message] of hopeless) {
  test(`reports a file that ${name} and has no copy, and touches nothing`, async () => {
    const host = await stagedHost();
    const { repaired, problems } = await repair(host, [listed]);
    expect([repaired, current(host), problems.length]).toEqual([[], texts, 1]);
    expect(problems[0]).toMatchObject({ code: 'FILE_DAMAGED', message: expect.stringMatching(message) });
    expect(problems[0]?.remedy).not.toBe('');
  });
}

test('uses no copy that is damaged itself', async () => {
  const host = await stagedHost();
  host.fileTexts.set(file.kubeletConfig, 'damaged');
  host.fileTexts.set(`${dir.staged}\\${sha256('{"a":1}')}`, 'damaged too');
  const { repaired, problems } = await repair(host);
  expect([repaired, host.fileTexts.get(file.kubeletConfig)]).toEqual([[], 'damaged']);
  expect(problems).toMatchObject([{ code: 'BUNDLE_DAMAGED' }]);
});

test('fixes the other files when one cannot be read or written', async () => {
  const host = await stagedHost();
  Object.keys(texts).forEach(path => host.fileTexts.delete(path));
  host.before = call => {
    if (call === `hash ${file.kubelet}`) throw new Error('access denied');
    if (call === `write ${file.tlsKey}`) throw new AppError('OUTPUT_UNWRITABLE', 'disk full', { remedy: 'r' });
  };
  const { repaired, problems } = await repair(host);
  expect(repaired).toEqual([file.kubeletConfig]);
  expect(problems.map(({ code, message }) => [code, message])).toEqual([
    ['FILE_DAMAGED', `file ${file.kubelet} cannot be checked or restored: access denied`],
    ['OUTPUT_UNWRITABLE', 'disk full'],
  ]);
});

const everyone: Descriptor = { owner: sid.administrators, entries: undefined };
const rows: [string, Descriptor, wanted: Access, string, repaired: string[]][] = [
  ['a program that users may write', everyone, 'programs', file.kubelet, []],
  [
    'a program of a user',
    { ...descriptorOf('programs'), owner: 'S-1-5-21-1-2-3-1001' },
    'programs',
    file.kubelet,
    [file.kubelet],
  ],
  ['a key that users may read', descriptorOf('programs'), 'secret', file.tlsKey, []],
];
for (const [name, rights, wanted, path, want] of rows) {
  test(`sets rights of ${name}, although its content is right`, async () => {
    const host = await stagedHost();
    host.files.rights.set(path, rights);
    expect(await repair(host)).toEqual({ repaired: want, problems: [] });
    expect([current(host), host.files.rights.of(path)]).toEqual([texts, descriptorOf(wanted)]);
  });
}

test('stops when aborted', async () => {
  const host = await stagedHost();
  await expect(repair(host, [], AbortSignal.abort(new Error('stopping')))).rejects.toThrow('stopping');
});
