import { expect, test } from 'vitest';
import { timestamp } from '#base/clock.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, nodeAnnotation } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { type Grant, parseGrants } from '#contract/rollout-grants.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { printPublicKey } from '#host/keys/public-key.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { budgetHosts, nodeStates } from '#node/rollout/budget-facts.ts';
import { runningGrants } from '#node/rollout/running-grants.ts';
import { readRecord } from '../../../src/agent/stage/record.ts';
import { fastDates } from '../../../test/kit/fast-clock.ts';
import { type JoinLab, namespace, startJoinLab, version } from '../../../test/kit/lifecycle/join-lab.ts';
import type { LabHost } from '../../../test/kit/lifecycle/lab-host.ts';
import { newer, untilInService, upgradeLab } from '../../../test/kit/lifecycle/upgrade-lab.ts';
import { until } from '../../../test/kit/until.ts';

interface Joined {
  lab: JoinLab;
  host: LabHost;
  before: WindowsInstanceStatus;
}

async function joinedLab(): Promise<Joined> {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.start();
  await lab.add();
  const before = await lab.statusWhen(({ phase, agent }) => phase === 'Ready' && agent?.certificateEnds !== undefined);
  return { lab, host, before };
}

/** What the agent on the host prints about its keys. */
function setIdentities(host: LabHost, identities: object | undefined): void {
  host.faults.answer = (verb, data) => (verb === 'inventory' ? { ...data, identities } : data);
}

async function recreate(lab: JoinLab): Promise<void> {
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await lab.add();
}

test('a recreated instance adopts its Node: the record is written again, the host stays unchanged', async () => {
  const { lab, host, before } = await joinedLab();
  const { agent: { keyHash, certificateEnds } = { keyHash: '' } } = before;
  setIdentities(host, { agent: { keyHash, certificateEnds } });
  const [node, verbs, sent, tokens] = [await lab.node(), host.verbs().length, host.uploads.length, lab.tokens];
  await recreate(lab);
  const status = await lab.ready();
  expect(status).toMatchObject({
    node: 'win-5',
    nodeUID: node?.metadata.uid,
    version,
    hostKey: printPublicKey(host.hostKey),
    host: before.host,
    agent: { keyHash, certificateEnds },
  });
  expect([status.tokens, status.journey]).toEqual([undefined, undefined]);
  expect([host.verbs().slice(verbs), host.uploads.length - sent, lab.tokens - tokens]).toEqual([['inventory'], 0, 0]);
  expect(await lab.node()).toEqual(node);
});

const unusable: [string, identities: (keyHash: string) => object | undefined][] = [
  ['whose agent does not report its key', () => undefined],
  [
    'whose agent has an expired certificate',
    keyHash => ({ agent: { keyHash, certificateEnds: timestamp(Date.now() - 3_600_000) } }),
  ],
];
for (const [about, identities] of unusable) {
  test(`a host ${about} is adopted and then reconnected`, async () => {
    const { lab, host, before } = await joinedLab();
    const keyHash = before.agent?.keyHash ?? '';
    setIdentities(host, identities(keyHash));
    const verbs = host.verbs().length;
    const { metadata, spec } = (await lab.node()) ?? { metadata: {} };
    await recreate(lab);
    const after = await lab.statusWhen(
      ({ phase, agent, tokens }) => phase === 'Ready' && agent !== undefined && tokens !== undefined,
    );
    expect(after.agent?.keyHash).not.toBe(keyHash);
    expect(host.verbs().slice(verbs)).toEqual(['inventory', 'inventory', 'secure', 'stage', 'install']);
    expect([host.boots, (await lab.node())?.metadata.uid]).toEqual([1, metadata.uid]);
    expect((await lab.node())?.spec).toEqual(spec);
  });
}

test('needs no files of the cluster to adopt', async () => {
  const { lab, host, before } = await joinedLab();
  const { agent: { keyHash, certificateEnds } = { keyHash: '' } } = before;
  setIdentities(host, { agent: { keyHash, certificateEnds } });
  const { inputs } = lab;
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  lab.inputs = defaults => ({
    ...inputs(defaults),
    get files(): never {
      throw new Error('files were requested');
    },
  });
  await lab.add();
  expect(await lab.ready()).toMatchObject({ node: 'win-5', agent: { keyHash } });
});

test('a Node that is not finished is configured', async () => {
  const { lab, host } = await joinedLab();
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await lab.patchNode({ metadata: { annotations: { [nodeAnnotation.version]: null } } });
  const verbs = host.verbs().length;
  await lab.add();
  const { timeline } = await lab.ready();
  expect(timeline?.map(({ name }) => name)).toContain('agent service');
  expect(host.verbs().slice(verbs)).toContain('install');
});

test('a host without a Node is configured although there are orphan Nodes, and keeps one timeline', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const annotations = { [nodeAnnotation.version]: 'v1' };
  const labels = { 'kubernetes.io/os': 'windows' };
  await lab.client.create(nodes, { metadata: { name: 'orphan', labels, annotations } });
  const operator = lab.start();
  host.faults.exec = async command => {
    if (command.includes(' bootstrap ')) await operator.kill();
    return undefined;
  };
  await lab.add();
  const middle = await lab.statusWhen(({ step }) => step === 'bootstrap');
  expect([middle.phase, middle.journey]).toMatchObject(['Configuring', { name: 'configure' }]);
  host.faults.exec = () => undefined;
  lab.start();
  const status = await lab.ready();
  const names = status.timeline?.map(({ name }) => name) ?? [];
  expect(names.slice(0, 3)).toEqual(['connect', 'queued', 'prepare agent']);
  expect(names).toContain('prepare files');
  expect([status.node, status.journey]).toEqual(['win-5', undefined]);
});

const moments: [when: string, isMoment: (command: string) => boolean][] = [
  ['is staged', command => command.includes(' stage ')],
  ['is ordered to swap its files', command => command.includes(' activate ')],
  ['swaps its files', command => command.includes(' activation ')],
];
for (const [when, isMoment] of moments) {
  test(`an instance that is created again while its host ${when} ends upgraded, with one whole set and no grant`, async () => {
    const { lab, host, start } = await upgradeLab();
    const { metadata: before } = await lab.instance();
    let isRecreated = false;
    host.faults.exec = async command => {
      if (isRecreated || !isMoment(command)) return undefined;
      isRecreated = true;
      await recreate(lab);
      return undefined;
    };
    start({ clock: fastDates(100) });
    const { version: runs, upgrade } = await lab.statusWhen(
      ({ phase, version: now, upgrade: last }) =>
        phase === 'Ready' && now === newer && (last === undefined || last.soaked !== undefined),
    );
    expect([isRecreated, runs, upgrade?.failed]).toEqual([true, newer, undefined]);
    expect((await lab.instance()).metadata.uid).not.toBe(before.uid);
    await untilInService(lab, newer);
    expect(await wrongFiles(host)).toEqual([]);
    await until(async () => (await heldGrants(lab)).length === 0, 'its grant has ended');
  });
}

/** Files in place that do not belong to the set of the newer version. */
async function wrongFiles({ model: { files } }: LabHost): Promise<string[]> {
  const { version: runs, agent, files: all } = await readRecord(files);
  expect([runs, all.length > 5]).toEqual([newer, true]);
  const wanted = [{ path: file.agent, sha256: agent }, ...all];
  const hashes = await Promise.all(wanted.map(({ path }) => files.sha256(path)));
  return wanted.flatMap(({ path, sha256 }, index) => (hashes[index] === sha256 ? [] : [path]));
}

/** Those that keep others waiting: one that has ended stays in the ConfigMap until the next request. */
async function heldGrants(lab: JoinLab): Promise<Grant[]> {
  const map = await lab.client.find(configMaps, configMapName.rolloutGrants, { namespace });
  const node = await lab.node();
  const [hosts, states] = [budgetHosts([await lab.instance()]), nodeStates(node === undefined ? [] : [node])];
  return runningGrants({ ...parseGrants(map?.data), hosts, nodes: states, nowMs: Date.now() });
}
