import { expect, test } from 'vitest';
import { dir, file, requiredDirectories } from '#contract/paths.ts';
import { stageTexts } from '../../../test/kit/bundles.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { type Descriptor, sid } from './descriptor.ts';
import { folderRules } from './folders.ts';
import { descriptorOf, judge } from './plan.ts';
import { secureFolders } from './secure-folders.ts';

const user = 'S-1-5-21-1-2-3-1001';
const ofUser: Descriptor = { ...descriptorOf('programs'), owner: user };
const everyone: Descriptor = { owner: sid.administrators, entries: undefined };
const pki = 'C:\\var\\lib\\kubelet\\pki';
const never = new AbortController().signal;
const secure = async (host: ModelHost, signal = never) => (await secureFolders(host.files, signal)).events;
const quarantined = (host: ModelHost) => host.files.list(dir.quarantine);
const plant = (host: ModelHost, path: string, rights: Descriptor = ofUser) => {
  host.fileTexts.set(path, 'evil');
  host.files.rights.set(path, rights);
};

/** Whatever was found before: every folder of ours is there, is no link, and is only ours. */
async function expectSecure(host: ModelHost): Promise<void> {
  for (const { path, access } of folderRules) {
    const entry = await host.files.inspect(path);
    expect([path, entry?.is, entry && judge(entry, access).do]).toEqual([path, 'directory', 'keep']);
  }
}

test('creates every folder that services need, and its parents, with its rights', async () => {
  const host = new ModelHost();
  expect(await secure(host)).toEqual([]);
  await expectSecure(host);
  for (const path of requiredDirectories) expect(host.files.directories.has(path)).toBe(true);
  const made = [...host.files.directories.keys()];
  for (const path of made) {
    const above = made.filter(other => path.startsWith(`${other}\\`));
    expect(above.every(other => made.indexOf(other) < made.indexOf(path))).toBe(true);
  }
});

test('changes nothing the second time', async () => {
  const host = new ModelHost();
  await stageTexts(host, { [file.kubelet]: 'MZ', [file.tlsKey]: 'key' }, { secrets: [file.tlsKey] });
  const calls: string[] = [];
  host.before = call => void calls.push(call);
  expect(await secure(host)).toEqual([]);
  expect(calls).toEqual([]);
});

const links = [dir.k, 'C:\\var', 'C:\\var\\lib\\kubelet', pki, dir.agentLog, dir.incoming, dir.temp, dir.cniState];
for (const path of links) {
  test(`replaces a junction at ${path} by a folder, without following it`, async () => {
    const host = new ModelHost();
    host.files.rights.plantLink(path);
    expect(await secure(host)).toEqual([`${path}: is a link; removed`]);
    await expectSecure(host);
  });
}

test('removes a link below the folders of the agent', async () => {
  const host = new ModelHost();
  host.files.rights.plantLink('C:\\k\\cni\\config\\ovnkube-client-current.pem');
  const [event, ...more] = await secure(host);
  expect([event?.toLowerCase(), more]).toEqual([
    'c:\\k\\cni\\config\\ovnkube-client-current.pem: is a link; removed',
    [],
  ]);
});

test('quarantines a folder of a user with its content', async () => {
  const host = new ModelHost();
  plant(host, `${dir.k}\\version.dll`);
  host.files.rights.set(dir.k, ofUser);
  const [event] = await secure(host);
  expect(event).toBe(`C:\\k: belongs to ${user}, not to Administrators or SYSTEM; moved to ${dir.quarantine}\\1-C_k`);
  expect(host.fileTexts.keys()).toEqual([`${dir.quarantine}\\1-C_k\\version.dll`]);
  await expectSecure(host);
});

const planted: [string, string][] = [
  ['a DLL beside the kubelet', 'C:\\k\\version.dll'],
  ['a DLL beside containerd', 'C:\\k\\containerd\\cryptbase.dll'],
  ['a CNI plugin', 'C:\\k\\cni\\win-overlay.exe'],
  ['a program with the name of the agent', file.agent],
  ['a static pod', `${dir.staticPods}\\pod.yaml`],
  ['a bundle', `${dir.incoming}\\${'ab'.repeat(32)}`],
  ['a key of the kubelet', `${pki}\\kubelet-client-current.pem`],
  ['a log file', `${dir.agentLog}\\agent.INFO`],
  ['a file in a folder of its own', 'C:\\k\\plugins\\deep\\x.dll'],
];
for (const [name, path] of planted) {
  test(`quarantines ${name} of a user`, async () => {
    const host = new ModelHost();
    await secure(host);
    plant(host, path);
    const events = await secure(host);
    expect(events).toEqual([expect.stringContaining(`${path}: belongs to ${user}`)]);
    expect(host.fileTexts.has(path)).toBe(false);
    expect(await quarantined(host)).toHaveLength(1);
  });
}

test('gives every quarantined entry its own name, and restricts the folder to administrators', async () => {
  const host = new ModelHost();
  for (const round of [1, 2, 3]) {
    plant(host, 'C:\\k\\version.dll');
    expect(await secure(host)).toHaveLength(1);
    expect(await quarantined(host)).toHaveLength(round);
  }
  expect(host.files.rights.of(dir.quarantine)).toEqual(descriptorOf('secret'));
});

test('sets owner and rights of an open folder that cannot be moved, and continues below it', async () => {
  const host = new ModelHost();
  plant(host, 'C:\\k\\plugins\\x.dll');
  host.files.rights.set('C:\\k\\plugins', ofUser);
  host.files.busy.add('C:\\k\\plugins');
  expect(await secure(host)).toEqual([
    expect.stringMatching(/^C:\\k\\plugins: belongs to .*; set owner and rights$/),
    expect.stringMatching(/^C:\\k\\plugins\\x\.dll: belongs to .*; moved to /),
  ]);
  expect(host.files.rights.of('C:\\k\\plugins')).toEqual(descriptorOf('programs'));
});

const open: [string, 'secret' | 'programs'][] = [
  [file.kubelet, 'programs'],
  [file.containerdConfig, 'programs'],
  [file.kubeconfig, 'secret'],
  [file.bootstrapKubeconfig, 'secret'],
  [file.cloudNodeKubeconfig, 'secret'],
  [file.agentKey, 'secret'],
  [`${dir.cniConfig}\\ovnkube-client-2026-01-01-00-00-00.pem`, 'secret'],
  [`${pki}\\kubelet.key`, 'secret'],
];
for (const [path, wanted] of open) {
  test(`sets the rights of ${path}: ${wanted}`, async () => {
    const host = new ModelHost();
    await secure(host);
    plant(host, path, everyone);
    expect(await secure(host)).toEqual([`${path}: has no access list; set owner and rights`]);
    expect([host.fileTexts.get(path), host.files.rights.of(path)]).toEqual(['evil', descriptorOf(wanted)]);
  });
}

test('reads from the record of staged files which files are secret', async () => {
  const host = new ModelHost();
  const path = 'C:\\k\\some-token';
  await stageTexts(host, { [path]: 'token' }, { secrets: [path] });
  host.files.rights.set(path, descriptorOf('programs'));
  expect(await secure(host)).toHaveLength(1);
  expect(host.files.rights.of(path)).toEqual(descriptorOf('secret'));
});

test('does not touch files of users in C:\\Temp or volumes of pods', async () => {
  const host = new ModelHost();
  const others = ['C:\\Temp\\notes.txt', 'C:\\var\\lib\\kubelet\\pods\\1\\volumes\\x', 'C:\\var\\log\\pods\\a\\0.log'];
  for (const path of others) plant(host, path);
  expect(await secure(host)).toEqual([]);
  expect(host.fileTexts.keys()).toEqual(others);
});

test('checks all entries although one cannot be fixed, and then rejects', async () => {
  const host = new ModelHost();
  plant(host, 'C:\\k\\a.dll');
  plant(host, 'C:\\k\\b.dll');
  host.before = call => {
    if (call === 'move C:\\k\\a.dll') throw new Error('access denied');
  };
  await expect(secure(host)).rejects.toMatchObject({
    code: 'HOST_FILE_UNUSABLE',
    message: 'C:\\k\\a.dll: owner and rights cannot be checked or set: access denied',
  });
  expect(host.fileTexts.has('C:\\k\\b.dll')).toBe(false);
  await expectSecure(host);
});

test('changes no rights on a system without file owners, but creates folders', async () => {
  const host = new ModelHost();
  const inspect = host.files.inspect.bind(host.files);
  host.files.inspect = async path => {
    const entry = await inspect(path);
    return entry === undefined || entry.is === 'link' ? entry : { ...entry, access: 'unreadable' };
  };
  plant(host, 'C:\\k\\x.dll');
  expect(await secure(host)).toEqual([]);
  expect(host.files.directories.get(dir.incoming)).toBe('secret');
});

test('stops in a folder with too many files, and when it is aborted', async () => {
  const host = new ModelHost();
  host.files.list = async directory =>
    directory === dir.k ? Array.from({ length: 20_001 }, (_, number) => `${number}`) : [];
  expect(await secure(host)).toEqual(['C:\\k\\20000: not checked, because there are too many files']);
  await expect(secure(host, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
});

test('reports which folder of a user could not be moved, but not open files, which staging replaces', async () => {
  const host = new ModelHost();
  plant(host, `${dir.k}\\x`);
  host.files.rights.set(dir.k, ofUser);
  plant(host, `${dir.agentLog}\\agent.INFO`);
  host.files.busy.add(dir.k);
  host.files.busy.add(`${dir.agentLog}\\agent.INFO`);
  const { kept } = await secureFolders(host.files, new AbortController().signal);
  expect(kept).toEqual([dir.k]);
});

test('does not accept a folder that a user creates again while it is quarantined', async () => {
  const host = new ModelHost();
  plant(host, `${dir.k}\\x`);
  host.files.rights.set(dir.k, ofUser);
  const { files } = host;
  let races = 2;
  const move = files.move.bind(files);
  files.move = async (from, to) => {
    const isMoved = await move(from, to);
    if (from !== dir.k || races === 0) return isMoved;
    races -= 1;
    await files.makeDirectory(dir.k);
    files.rights.set(dir.k, ofUser);
    return isMoved;
  };
  await secure(host);
  expect(races).toBe(0);
  await expectSecure(host);
});

const keys: [about: string, path: string, rights: Descriptor, isReported: boolean][] = [
  [
    'the kubeconfig that the kubelet created with the rights of its folder',
    file.kubeconfig,
    descriptorOf('programs'),
    false,
  ],
  ['a kubeconfig of the kubelet that everyone can write', file.kubeconfig, everyone, true],
  ['another file with keys that everyone can read', file.agentKubeconfig, descriptorOf('programs'), true],
];
for (const [about, path, rights, isReported] of keys) {
  test(`${isReported ? 'reports' : 'protects without a report'} ${about}`, async () => {
    const host = new ModelHost();
    await secure(host);
    plant(host, path, rights);
    expect(await secure(host)).toHaveLength(isReported ? 1 : 0);
    expect(host.files.rights.of(path)).toEqual(descriptorOf('secret'));
  });
}
