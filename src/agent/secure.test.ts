import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { activationFile, agentProgram, dir, file, folderRecordFile } from '#contract/paths.ts';
import { runIn, worldOf } from '../../test/kit/agent-bench.ts';
import { stageTexts } from '../../test/kit/bundles.ts';
import { ModelHost } from '../../test/kit/model-host.ts';
import { recordedLog } from '../../test/kit/recorded-log.ts';
import { SwapLab } from '../../test/kit/swap-lab.ts';
import { right, sid } from './access/descriptor.ts';
import { descriptorOf } from './access/plan.ts';
import { readRecord, writeSet } from './stage/record.ts';
import { readState, stateFile } from './state.ts';

const content = 'MZ agent '.repeat(50);
const hash = sha256(content);
const program = agentProgram(hash);
const user = 'S-1-5-21-1-2-3-1001';
const windows = 'C:\\Windows';
const usersMayWrite = {
  owner: sid.trustedInstaller,
  entries: [{ allows: true, sid: sid.users, mask: right.create, inheritOnly: false }],
};

/** A host to which the agent was uploaded. */
function uploaded(): ModelHost {
  const host = new ModelHost();
  host.fileTexts.set(program, content);
  host.files.rights.set(windows, { ...descriptorOf('programs'), owner: sid.trustedInstaller });
  return host;
}
interface Answer {
  placed: boolean;
  pruned: number;
  events: string[];
  inventory: { files: Record<string, string>; hostName: string };
  error?: { code: string; message: string };
}
async function secure(host: ModelHost, from = program): Promise<Answer> {
  const { out } = await runIn(worldOf(host, recordedLog(), { program: from }), 'secure -o json');
  return JSON.parse(out) as Answer;
}

test('secures the folders, puts the agent where services run it, and reports the host in the same answer', async () => {
  const host = uploaded();
  const { inventory, ...outcome } = await secure(host);
  expect(outcome).toEqual({ placed: true, pruned: 0, events: [] });
  expect(inventory.files).toEqual({ [program]: hash, [file.agent]: hash });
  expect(inventory.hostName).toBe('win-1');
  expect(host.files.directories.get(dir.incoming)).toBe('secret');
});

test('writes nothing the second time', async () => {
  const host = uploaded();
  await secure(host);
  const before = host.log.length;
  expect(await secure(host)).toMatchObject({ placed: false, pruned: 0, events: [] });
  expect(host.log.slice(before)).toEqual([expect.stringMatching(/^write .*\\holder\.json$/)]);
});

const owned = [{ name: 'HTTP_PROXY', value: 'ours' }];
const hosts: [name: string, prepare: (host: ModelHost) => void, recorded: unknown][] = [
  ['a new host', () => undefined, []],
  ['a new host whose first run was interrupted', host => host.fileTexts.set(folderRecordFile, '{"existing":[]}'), []],
  ['a host of the Go operator', host => host.fileTexts.set(file.agent, 'of Go'), undefined],
  ['a host with a record', host => host.fileTexts.set(stateFile, JSON.stringify({ environment: owned })), owned],
];
test.each(hosts)('on %s, variables belong to the agent as recorded', async (_, prepare, recorded) => {
  const host = uploaded();
  prepare(host);
  await secure(host);
  expect((await readState(host.files)).environment).toEqual(recorded);
});

test('secures C:\\k before the first byte is written there', async () => {
  const host = uploaded();
  host.files.rights.plantLink(dir.k);
  const { events } = await secure(host);
  expect(events).toEqual(['C:\\k: is a link; removed']);
  expect(host.fileTexts.get(file.agent)).toBe(content);
});

test('replaces a program of a user in place of the agent, even with the right hash', async () => {
  for (const evil of ['evil', content]) {
    const host = uploaded();
    host.fileTexts.set(file.agent, evil);
    host.files.rights.set(file.agent, { ...descriptorOf('programs'), owner: user });
    expect(await secure(host)).toMatchObject({
      placed: true,
      events: [expect.stringContaining(`belongs to ${user}`)],
    });
    expect([host.fileTexts.get(file.agent), host.files.rights.of(file.agent)]).toEqual([
      content,
      descriptorOf('programs'),
    ]);
  }
});

test('replaces an agent of another version, and removes it from the staged record', async () => {
  const host = uploaded();
  await stageTexts(host, { [file.agent]: 'older', [file.kubelet]: 'MZ' });
  expect(await secure(host)).toMatchObject({ placed: true });
  expect(host.fileTexts.get(file.agent)).toBe(content);
  expect((await readRecord(host.files)).files.map(({ path }) => path)).toEqual([file.kubelet]);
});

test('removes former programs but not itself, nor anything else', async () => {
  const host = uploaded();
  const kept = `${dir.quarantine}\\1-x`;
  for (const path of [agentProgram('a'.repeat(64)), agentProgram('b'.repeat(64)), kept]) host.fileTexts.set(path, 'x');
  host.before = call => {
    if (call === `remove ${dir.agentPrograms}\\${'b'.repeat(64)}`) throw new Error('it runs');
  };
  expect(await secure(host)).toMatchObject({ pruned: 1, events: [expect.stringContaining('not removed (it runs)')] });
  const left = host.fileTexts.keys().filter(path => path.startsWith(dir.agentPrograms));
  expect(left).toEqual([agentProgram('b'.repeat(64)), program, kept, folderRecordFile].toSorted());
});

test('does nothing when its hash is not the name of its folder', async () => {
  const host = uploaded();
  host.fileTexts.set(program, 'damaged');
  expect((await secure(host)).error).toMatchObject({
    code: 'AGENT_PROGRAM_DAMAGED',
    message: `${program} has the hash ${sha256('damaged')}`,
  });
  expect(host.fileTexts.has(file.agent)).toBe(false);
});

test.each([file.agent, 'C:\\Users\\eve\\agent.exe', `${dir.agentPrograms}\\x\\agent.exe`])(
  'does nothing when it runs from %s',
  async from => {
    const host = uploaded();
    host.fileTexts.set(from, content);
    expect((await secure(host, from)).error).toMatchObject({ code: 'USAGE' });
    expect(host.files.directories.size).toBe(0);
  },
);

const unsafe: [string, (host: ModelHost) => void, string][] = [
  ['Windows itself is writable for users', host => host.files.rights.set(windows, usersMayWrite), windows],
  [
    'Windows itself belongs to a user',
    host => host.files.rights.set(windows, { ...descriptorOf('programs'), owner: user }),
    windows,
  ],
  ['the folder of programs is a link', host => host.files.rights.plantLink(dir.agentPrograms), dir.agentPrograms],
  ['the folder of the hash is a link', host => host.files.rights.plantLink(`${dir.agentPrograms}\\${hash}`), hash],
];
for (const [name, change, path] of unsafe) {
  test(`does nothing when ${name}`, async () => {
    const host = uploaded();
    change(host);
    const { error } = await secure(host);
    expect(error).toMatchObject({ code: 'HOST_FOLDER_UNSAFE', message: expect.stringContaining(path) });
    expect(host.fileTexts.has(file.agent)).toBe(false);
  });
}

test('fixes the rights of its folder when an administrator created it for themselves', async () => {
  const host = uploaded();
  host.files.rights.set(dir.agentPrograms, { ...descriptorOf('programs'), owner: user });
  expect((await secure(host)).events).toEqual([`${dir.agentPrograms}: belongs to ${user}; set owner and rights`]);
  expect(host.files.rights.of(dir.agentPrograms)).toEqual(descriptorOf('programs'));
});

test('changes nothing without administrator rights, and shows that in the inventory', async () => {
  const host = uploaded();
  host.isAdministrator = false;
  expect(await secure(host)).toMatchObject({ placed: false, inventory: { isAdministrator: false } });
  expect([host.files.directories.size, host.log]).toEqual([0, []]);
});

test('prints fixed entries as text', async () => {
  const host = uploaded();
  host.files.rights.plantLink(dir.k);
  const { out } = await runIn(worldOf(host, recordedLog(), { program }), 'secure');
  expect(out).toMatch(/^Placed the agent\.\nC:\\k: is a link; removed\n\nHost: /);
});

test('rejects a folder that a user has made and keeps open, until the host was rebooted', async () => {
  const host = uploaded();
  host.files.rights.set(dir.k, { ...descriptorOf('programs'), owner: user });
  host.fileTexts.set(`${dir.k}\\x`, 'x');
  host.files.busy.add(dir.k);
  const refusal = {
    error: { code: 'HOST_FOLDER_UNSAFE', message: expect.stringContaining('C:\\k was created by a user') },
  };
  expect(await secure(host)).toMatchObject(refusal);
  expect(host.fileTexts.has(file.agent)).toBe(false);
  // By now its rights are good, but whoever has opened it before may still change it.
  host.files.busy.clear();
  expect(await secure(host)).toMatchObject(refusal);
  await host.reboot();
  expect(await secure(host)).toMatchObject({ placed: true });
  expect(await secure(host)).toMatchObject({ placed: false });
});

test('keeps the programs of all sets, and records itself as that of the current one', async () => {
  const host = uploaded();
  await stageTexts(host, { [file.kubelet]: 'MZ' }, { version: 'v1', agent: 'c'.repeat(64) });
  const [next, previous] = ['a', 'b'].map(letter => letter.repeat(64)) as [string, string];
  await writeSet(file.nextSet, { version: 'v2', bundle: '', agent: next, files: [] }, host.files);
  await writeSet(file.previousSet, { version: 'v0', bundle: '', agent: previous, files: [] }, host.files);
  for (const each of [next, previous, 'd'.repeat(64)]) host.fileTexts.set(agentProgram(each), 'x');
  expect(await secure(host)).toMatchObject({ placed: true, pruned: 1 });
  expect((await readRecord(host.files)).agent).toBe(hash);
  expect([next, previous, 'd'.repeat(64)].map(each => host.fileTexts.has(agentProgram(each)))).toEqual([
    true,
    true,
    false,
  ]);
});

test('waits for a swap of files that is under way, and ends one that has failed', async () => {
  const lab = await new SwapLab().prepare();
  await lab.order();
  lab.host.fileTexts.set(program, content);
  expect((await secure(lab.host)).error).toMatchObject({ code: 'HOST_BUSY' });
  expect(lab.host.fileTexts.get(file.agent)).not.toBe(content);
  lab.host.fileTexts.set(activationFile, 'damaged');
  expect(await secure(lab.host)).toMatchObject({ placed: true });
  expect(lab.host.fileTexts.has(activationFile)).toBe(false);
});
