import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { managedDescription } from '#contract/names.ts';
import { agentProgram, dir, file, folderRecordFile, leaderFile, lockFile, orderedRebootFile } from '#contract/paths.ts';
import { stageTexts } from '../../../test/kit/bundles.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { secureHost } from '../secure.ts';
import { writeSet } from '../stage/record.ts';
import { changeState } from '../state.ts';
import { ownFiles } from './own-files.ts';
import { removeFiles } from './remove-files.ts';

const text = 'the agent';
const program = agentProgram(sha256(text));
const never = new AbortController().signal;
const remove = (host: ModelHost) => removeFiles(program, host, never);
const kubelet = 'C:\\var\\lib\\kubelet';

/** Written by services, or by earlier versions. */
const written = [
  file.kubeconfig,
  file.agentKey,
  `${dir.agentCerts}\\wicd-client-2026-03-01-12-00-00.pem`,
  `${dir.k}\\wicd-state.json.4-1.wicd-new\\content`,
  `${file.kubelet}.wicd-old-2`,
  `${dir.incoming}\\${'a'.repeat(64)}.part`,
  `${dir.cniConfig}\\ovnkube-client-current.pem`,
  `${dir.registries}\\quay.io\\hosts.toml`,
  `${dir.cniState}\\networks\\OVN\\10.132.0.2`,
  `${kubelet}\\pki\\kubelet-client-current.pem`,
  `${kubelet}\\pki\\kubelet.key`,
  `${kubelet}\\pods\\1-2\\volumes\\kubernetes.io~secret\\token`,
  `${kubelet}\\cpu_manager_state`,
];

const placesOfUsers = [
  dir.k,
  dir.cni,
  dir.cniConfig,
  dir.containerd,
  dir.staticPods,
  dir.agentCerts,
  dir.staged,
  dir.incoming,
  dir.tls,
  `${dir.registries}\\quay.io`,
  dir.temp,
  dir.log,
  dir.kubeletLog,
  dir.quarantine,
  kubelet,
  `${kubelet}\\pki`,
  'C:\\var',
  'C:\\ProgramData\\containerd',
  'C:\\own',
];

/** A host after `secure` and `stage`, with what services write. */
async function joinedHost(before: readonly string[] = []): Promise<ModelHost> {
  const host = new ModelHost();
  host.fileTexts.set(program, text);
  for (const path of before) await host.files.makeDirectory(path);
  await secureHost(program, path => host.files.sha256(path), host, never);
  await stageTexts(host, { [file.kubelet]: 'k', [file.tlsKey]: 'secret', 'C:\\Temp\\mine.ps1': 'script' });
  for (const path of [...ownFiles, ...written]) host.fileTexts.set(path, 'x');
  host.fileTexts.delete(file.importedCerts);
  host.fileTexts.set('C:\\k\\wicd-state.json', '{}');
  return host;
}

const filesOf = (host: ModelHost) => host.fileTexts.keys().filter(path => ![program, folderRecordFile].includes(path));
const rootsOf = async (host: ModelHost) => (await host.files.list('C:')).toSorted();
const bare = ['Program Files', 'Windows'];

test('removes everything of the operator, and says what is left to the caller', async () => {
  const host = await joinedHost();
  const outcome = await remove(host);
  expect(outcome).toEqual({
    removed: expect.any(Number),
    left: [],
    last: [
      dir.agentNative,
      program,
      program.slice(0, program.lastIndexOf('\\')),
      leaderFile,
      `${dir.agentPrograms}\\leader.lock`,
      `${dir.agentPrograms}\\holder.json`,
      lockFile,
      `${dir.agentPrograms}\\open-folders.json`,
      orderedRebootFile,
      folderRecordFile,
      dir.agentPrograms,
    ],
  });
  expect([filesOf(host), await rootsOf(host)]).toEqual([[], bare]);
  expect(await remove(host)).toEqual({ ...outcome, removed: 0 });
});

test('keeps folders that existed before the join, also empty ones, and removes the others', async () => {
  const host = await joinedHost([dir.temp, dir.cni, dir.log]);
  await remove(host);
  expect(await rootsOf(host)).toEqual([...bare, 'Temp', 'k', 'var'].toSorted());
  expect([await host.files.list(dir.k), await host.files.list('C:\\var')]).toEqual([['cni'], ['log']]);
});

test('removes empty folders of a host that an earlier version joined, without a record of folders', async () => {
  const host = new ModelHost();
  for (const path of [...written, file.agent, 'C:\\Temp\\hns.psm1', 'C:\\Temp\\own.txt']) host.fileTexts.set(path, 'x');
  await secureHost(program, async () => sha256(text), host, never).catch(() => undefined);
  await remove(host);
  expect([filesOf(host), await rootsOf(host)]).toEqual([['C:\\Temp\\own.txt'], [...bare, 'Temp'].toSorted()]);
});

test('keeps logs', async () => {
  const host = await joinedHost();
  const logs = [file.kubeletLog, `${dir.agentLog}\\windows-instance-config-daemon.exe.INFO`];
  for (const path of logs) host.fileTexts.set(path, 'line');
  await remove(host);
  expect(filesOf(host)).toEqual(logs.toSorted());
});

test('keeps a staged file outside of C:\\k whose content a user has changed', async () => {
  const host = await joinedHost();
  host.fileTexts.set('C:\\Temp\\mine.ps1', 'changed');
  await remove(host);
  expect(filesOf(host)).toEqual(['C:\\Temp\\mine.ps1']);
});

test('keeps a link of a user at the path of a staged file outside of C:\\k', async () => {
  const host = await joinedHost();
  host.files.rights.plantLink('C:\\Temp\\mine.ps1');
  expect((await remove(host)).left).toEqual([]);
  expect(host.files.rights.isLink('C:\\Temp\\mine.ps1')).toBe(true);
});

test('lists a staged file whose content cannot be read', async () => {
  const host = await joinedHost();
  host.before = call => {
    if (call === 'hash C:\\Temp\\mine.ps1') throw new Error('access denied');
  };
  expect((await remove(host)).left).toEqual(['C:\\Temp\\mine.ps1: access denied']);
  expect(filesOf(host)).toEqual(['C:\\Temp\\mine.ps1', file.stagedRecord]);
});

test('ignores paths of the record outside of the folders for staged files', async () => {
  const host = await joinedHost();
  const path = 'C:\\Windows\\notepad.exe';
  host.fileTexts.set(path, 'x');
  host.fileTexts.set(file.stagedRecord, JSON.stringify({ files: [{ path, sha256: sha256('x') }] }));
  await remove(host);
  expect(host.fileTexts.has(path)).toBe(true);
});

test('does not follow links: one to a volume in a folder of pods, and one in place of a folder', async () => {
  const host = await joinedHost();
  const [volume, folder] = [`${kubelet}\\pods\\1-2\\volumes\\disk`, dir.cniConfig];
  for (const path of [`${volume}\\data`, `${folder}\\cni.conf`]) host.fileTexts.set(path, 'of a user');
  for (const path of [volume, folder]) host.files.rights.plantLink(path);
  const { left } = await remove(host);
  expect(left).toEqual([`${folder}: is a link, which is not followed`]);
  expect(host.fileTexts.get(`${volume}\\data`)).toBe('of a user');
  expect(host.fileTexts.get(`${folder}\\cni.conf`)).toBe('of a user');
});

test('removes the rest when a file is in use, lists it, and removes it with the next run', async () => {
  const host = await joinedHost();
  host.before = call => {
    if (call === `remove ${file.kubelet}`) throw new Error('is in use');
  };
  expect((await remove(host)).left).toContain(`${file.kubelet}: is in use`);
  expect(filesOf(host)).toContain(file.stagedRecord);
  expect(filesOf(host)).not.toContain(file.kubeconfig);
  host.before = () => undefined;
  expect((await remove(host)).left).toEqual([]);
  expect([filesOf(host), await rootsOf(host)]).toEqual([[], bare]);
});

test('keeps its own program when it runs from C:\\k, and says so', async () => {
  const host = await joinedHost();
  const { left } = await removeFiles(file.agent, host, never);
  expect(left).toEqual([`${file.agent}: is the program that runs this command`]);
  expect(host.fileTexts.has(program)).toBe(false);
});

test('lists Defender exclusions that cleanup could not remove, and keeps their record', async () => {
  const host = await joinedHost();
  await changeState(host.files, { defenderExclusions: [{ path: file.containerd, done: true }] });
  expect((await remove(host)).left).toEqual([`${file.containerd}: its Defender exclusion was not removed`]);
  expect(filesOf(host)).toContain('C:\\k\\wicd-state.json');
});

const unfinished: [string, (host: ModelHost) => unknown][] = [
  ['service kubelet', host => host.services.install('kubelet', { description: managedDescription('kubelet') })],
  ['variable NO_PROXY', host => changeState(host.files, { environment: [{ name: 'NO_PROXY', value: 'x' }] })],
  ['imported certificates', host => host.fileTexts.set(file.importedCerts, 'x')],
];
for (const [what, leave] of unfinished) {
  test(`changes nothing before cleanup is done: ${what}`, async () => {
    const host = await joinedHost();
    await leave(host);
    const before = filesOf(host);
    await expect(remove(host)).rejects.toMatchObject({
      code: 'CLEANUP_INCOMPLETE',
      message: `the host still has ${what}`,
    });
    expect(filesOf(host)).toEqual(before);
  });
}

const nameOfUser = fc.constantFrom(
  'notes.txt',
  'hns.psm1',
  'kubelet.log',
  'app.exe',
  'own.pem',
  'files.zip',
  'x.conf',
  'data',
);

test('files of users survive and those of the operator go, wherever the verb is killed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(fc.constantFrom(...placesOfUsers), nameOfUser), { maxLength: 8 }),
      fc.subarray([dir.temp, dir.k, dir.log, 'C:\\var\\lib']),
      fc.array(fc.nat(150), { maxLength: 4 }),
      async (own, before, kills) => {
        const host = await joinedHost(before);
        const users = own.map(([place, name]) => `${place}\\${name}`).filter(path => !host.fileTexts.has(path));
        for (const path of users) host.fileTexts.set(path, 'of a user');
        for (const after of kills) await removeUntilKilled(host, after);
        expect((await remove(host)).left).toEqual([]);
        expect(filesOf(host)).toEqual([...new Set(users)].toSorted());
        for (const path of before) expect(host.files.isFolder(path)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

/** Ends the verb before its nth change. */
async function removeUntilKilled(host: ModelHost, after: number): Promise<void> {
  let left = after;
  const killed = new AbortController();
  host.before = call => {
    if (!call.startsWith('remove ') || left-- > 0) return;
    killed.abort(new Error('killed'));
    throw new Error('killed');
  };
  await removeFiles(program, host, killed.signal).catch(() => undefined);
  host.before = () => undefined;
}

test('removes what a cancelled swap has left of a kept set, but no file of a user with that name', async () => {
  const host = await joinedHost();
  const kept = ['C:\\k\\new.conf', 'C:\\k\\mine.conf'].map(path => {
    return { path, sha256: sha256('new'), bytes: 3, encoding: 'none', secret: false } as const;
  });
  await writeSet(file.nextSet, { version: 'v2', bundle: '', agent: '', files: kept }, host.files);
  host.fileTexts.set('C:\\k\\new.conf', 'new');
  host.fileTexts.set('C:\\k\\mine.conf', 'of a user');
  await remove(host);
  expect(filesOf(host)).toEqual(['C:\\k\\mine.conf']);
});
