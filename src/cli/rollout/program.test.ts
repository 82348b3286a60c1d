import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation } from '#contract/names.ts';
import { versionKey } from '#contract/operator-status.ts';
import type { InstanceUpgrade, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { type StatusCluster, statusCluster } from '../../../test/kit/status-cluster.ts';
import { at, instanceOf, recordedTerminal, statuses } from '../../../test/kit/status-views.ts';
import { main } from '../main.ts';
import { rolloutProgram } from './program.ts';

let folder: string;
let cluster: StatusCluster;
const { retry, pinnedVersion, acceptedRollback } = instanceAnnotation;
const [from, to] = ['11.0.0', '11.1.0'];
const failed = { code: 'UPGRADE_UNHEALTHY', message: 'not Ready for 60 s', at: at(40) };
const back: InstanceUpgrade = { from, to, activated: at(5), failed, rolledBack: at(60) };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-rollout-'));
  cluster = await statusCluster();
  writeFileSync(join(folder, 'kubeconfig'), cluster.sandbox.kubeconfig);
  await cluster.lead(systemClock.now());
  await cluster.putNode('win-1');
  await cluster.put(configMaps, {
    metadata: { name: configMapName.operatorStatus, namespace: cluster.namespace },
    data: { [versionKey]: to },
  });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  const { items } = await cluster.client.list(windowsInstances, inNamespace());
  for (const { metadata } of items) await cluster.client.delete(windowsInstances, metadata.name ?? '', inNamespace());
  await cluster.client.delete(configMaps, configMapName.rollout, inNamespace()).catch(unless(isNotFound));
});

const cordon = (unschedulable: boolean) =>
  cluster.client.patch(nodes, 'win-1', { type: 'merge', body: { spec: { unschedulable } } });
const inNamespace = () => ({ namespace: cluster.namespace });

/** `answer` is what the user types; without it there is no terminal. */
async function run(words: string[], answer?: string): Promise<{ code: number; text: string; errors: string }> {
  const recorded = recordedTerminal(undefined, { KUBECONFIG: join(folder, 'kubeconfig') }, systemClock);
  const ask = answer === undefined ? undefined : () => Promise.resolve(answer);
  const program = {
    name: 'rollout',
    summary: '',
    run: (rest: readonly string[]) => rolloutProgram(rest, { ...recorded, ask }),
  };
  const terminal = { ...recorded, stdin: () => Promise.resolve(''), runtime: '' };
  const code = await main(['rollout', ...words], terminal, [program]);
  return { code, text: recorded.text(), errors: recorded.errors() };
}

const put = (name: string, status: WindowsInstanceStatus = {}) =>
  cluster.putInstance(instanceOf(name, { ...structuredClone(statuses.ready), version: from, node: name, ...status }));
const annotationsOf = async (name: string) =>
  (await cluster.client.get(windowsInstances, name, inNamespace())).metadata.annotations ?? {};
const annotate = (name: string, annotations: Record<string, string>) =>
  cluster.client.patch(windowsInstances, name, { type: 'merge', body: { metadata: { annotations } } }, inNamespace());
const settings = async () => (await cluster.client.find(configMaps, configMapName.rollout, inNamespace()))?.data;
const set = (data: Record<string, string>) =>
  cluster.put(configMaps, { metadata: { name: configMapName.rollout, ...inNamespace() }, data });

test('prints the roll-out, and exits with 1 when it is stopped', async () => {
  await put('win-1');
  const going = await run([]);
  expect([going.code, going.text]).toEqual([
    0,
    'Roll-out of 11.1.0: 0 of 1 upgraded, 1 waiting\n  the others wait until 1 more host has soaked (first)\n',
  ]);
  await put('win-2', { upgrade: back });
  const stopped = await run(['show']);
  expect([stopped.code, stopped.text]).toEqual([1, expect.stringContaining('wmco rollout retry win-2\n') as string]);
});

test('prints the roll-out as data', async () => {
  await put('win-2', { upgrade: back });
  const { text } = await run(['-o', 'json']);
  expect(JSON.parse(text)).toMatchObject({
    rollout: { version: to, hosts: 1, isStopped: true, rollbacks: [{ host: 'win-2', from, code: failed.code }] },
  });
  expect((await run(['show', '-o', 'yaml'])).text).toMatch(/^rollout:\n {2}version: 11\.1\.0\n/);
});

test('pause creates the settings, keeps others, and resume ends it', async () => {
  await put('win-1');
  expect(await run(['pause'])).toMatchObject({
    code: 0,
    text: expect.stringMatching(/^The roll-out is paused\./) as string,
  });
  expect(await settings()).toEqual({ paused: 'true' });
  expect((await run(['pause'])).text).toMatch(/^The roll-out was paused already\./);
  await cluster.client.patch(
    configMaps,
    configMapName.rollout,
    { type: 'merge', body: { data: { soak: '3m' } } },
    inNamespace(),
  );
  expect(await run(['resume'])).toMatchObject({ code: 0, text: 'The roll-out goes on.\n' });
  expect(await settings()).toEqual({ paused: 'false', soak: '3m' });
  expect((await run(['resume'])).text).toBe('The roll-out was not paused.\n');
});

test('pause says which nodes are finished nevertheless, and resume that a rollback still stops it', async () => {
  const grant = { node: 'win-1', journey: 'upgrade', since: at(0) };
  const metadata = { name: configMapName.rolloutGrants, ...inNamespace() };
  await set({ paused: 'false' });
  await put('win-1', { upgrade: { from, to, activated: at(5) } });
  await put('win-2', { upgrade: back });
  const { metadata: own } = await cluster.client.get(windowsInstances, 'win-1', inNamespace());
  await cluster.put(configMaps, { metadata, data: { 'win-1': JSON.stringify({ ...grant, uid: own.uid }) } });
  expect((await run(['pause'])).text).not.toContain('Out of service');
  await cordon(true);
  expect((await run(['pause'])).text).toContain('Out of service, and finished nevertheless: 1 node (win-1).');
  expect((await run(['resume'])).text).toContain('is stopped by the rollback of win-2');
  await cordon(false);
  await cluster.client.delete(configMaps, configMapName.rolloutGrants, inNamespace());
});

test('continue lists the rolled-back hosts, asks, and accepts each', async () => {
  await put('win-1');
  for (const name of ['win-2', 'win-3']) await put(name, { upgrade: back });
  const refused = await run(['continue'], 'no');
  expect([refused.code, refused.text]).toEqual([
    1,
    expect.stringMatching(
      /^The upgrade to 11\.1\.0 failed on 2 hosts:\n- win-2, back at 11\.0\.0: UPGRADE_UNHEALTHY: not Ready for 60 s\n- win-3[^]*stays stopped\.\n$/,
    ) as string,
  ]);
  expect(await annotationsOf('win-2')).toEqual({});
  expect((await run(['continue'])).errors).toMatch(/^error: there is no terminal to confirm it\n {2}-> Pass --yes/);
  expect(await run(['continue'], 'yes')).toMatchObject({ code: 0 });
  for (const name of ['win-2', 'win-3']) expect(await annotationsOf(name)).toEqual({ [acceptedRollback]: to });
  expect(await annotationsOf('win-1')).toEqual({});
  const again = await run(['continue', '--yes']);
  expect(again).toMatchObject({
    code: 1,
    errors: expect.stringMatching(/REQUEST_REFUSED: no rollback stops/) as string,
  });
});

test('continue accepts a host whose rollback fails, and says that it has the bad version still', async () => {
  const journey = { name: 'rollback', cause: 'x', started: at(50) } as const;
  await put('win-2', { phase: 'Failed', journey, upgrade: { from, to, activated: at(5), failed } });
  const { code, text } = await run(['continue'], 'yes');
  expect([code, text]).toEqual([
    0,
    expect.stringMatching(
      /- win-2, still with 11\.1\.0, because its rollback to 11\.0\.0 failed, too: UPGRADE_UNHEALTHY[^]*still tried; `wmco status win-2`/,
    ) as string,
  ]);
  expect(await annotationsOf('win-2')).toEqual({ [acceptedRollback]: to });
});

test('retry sets a new value, and says what else it waits for', async () => {
  await put('win-2', { upgrade: back });
  await put('win-3', { upgrade: back });
  await set({ paused: 'true' });
  const { code, text } = await run(['retry', 'win-2']);
  expect([code, text]).toEqual([
    0,
    expect.stringMatching(/Host win-2 is tried again;[^]*is paused[^]*rollback of win-3/) as string,
  ]);
  expect(await annotationsOf('win-2')).toEqual({ [retry]: expect.stringMatching(/^\d{4}-.*Z$/) as string });
});

test('a host that is retried stops nothing, unless it is pinned', async () => {
  for (const name of ['win-2', 'win-3']) await put(name, { upgrade: back });
  await annotate('win-3', { [retry]: 'now' });
  expect((await run(['retry', 'win-2'])).text).not.toContain('stopped');
  expect(await run(['show'])).toMatchObject({ code: 0, text: expect.not.stringContaining('stopped') as string });
  expect((await run(['continue', '-y'])).errors).toMatch(/no rollback stops the roll-out/);
  await annotate('win-3', { [pinnedVersion]: from });
  expect(await run(['show'])).toMatchObject({ code: 1, text: expect.stringContaining('stopped: win-3') as string });
  expect((await run(['unpin', 'win-3'])).text).not.toContain('stopped');
});

test('retry of a pinned host says that the pin holds it', async () => {
  await put('win-2', { upgrade: back });
  await annotate('win-2', { [pinnedVersion]: from });
  const { code, text } = await run(['retry', 'win-2']);
  expect([code, text]).toEqual([
    0,
    expect.stringMatching(
      /Host win-2 is pinned to 11\.0\.0, and is tried again after `wmco rollout unpin win-2`/,
    ) as string,
  ]);
});

const held: [what: string, reason: string, annotations: Record<string, string>, want: RegExp][] = [
  ['is tried again', 'Waits', {}, /Host win-1 is tried again; `wmco status -w win-1` follows it\.\n$/],
  ['is held by its pin', 'Waits', { [pinnedVersion]: from }, /is pinned to 11\.0\.0, and is tried again after/],
  ['is refused when it does not wait', 'Joined', {}, /REQUEST_REFUSED: .*it is Ready/],
];
for (const [what, reason, annotations, want] of held) {
  test(`retry of a host whose Node claims another version again: ${what}`, async () => {
    const ready = {
      type: 'Ready',
      status: 'True',
      reason,
      message: 'its Node claims 9.9.9',
      lastTransitionTime: at(0),
    };
    const upgrade = { from: to, to, ready: at(1), soaked: at(2), repeated: at(1) };
    await put('win-1', { version: to, upgrade, conditions: [ready] });
    await annotate('win-1', annotations);
    const { text, errors } = await run(['retry', 'win-1']);
    expect(text + errors).toMatch(want);
    expect(Object.hasOwn(await annotationsOf('win-1'), retry)).toBe(reason === 'Waits');
  });
}

test('retry ends that the failure was accepted, so that a second one stops the roll-out', async () => {
  await put('win-2', { upgrade: back });
  await annotate('win-2', { [acceptedRollback]: to });
  await run(['retry', 'win-2']);
  expect(Object.keys(await annotationsOf('win-2'))).toEqual([retry]);
});

test('pin keeps the host at its version, and unpin ends it', async () => {
  await put('win-2', { upgrade: back });
  const { code, text } = await run(['pin', 'win-2']);
  expect([code, text]).toEqual([
    0,
    expect.stringMatching(
      /stays at 11\.0\.0, until `wmco rollout unpin win-2`\.\nThe roll-out is still stopped; .*`wmco rollout continue`/,
    ) as string,
  ]);
  expect(await annotationsOf('win-2')).toEqual({ [pinnedVersion]: from });
  expect((await run(['pin', 'win-2', '--version', from])).code).toBe(0);
  expect((await run(['unpin', 'win-2'])).text).toMatch(/was pinned to 11\.0\.0, and is upgraded with the others again/);
  expect(await annotationsOf('win-2')).toEqual({});
});

const refused: [what: string, words: string[], want: RegExp, status?: WindowsInstanceStatus][] = [
  ['an unknown host', ['retry', 'win-9'], /HOST_UNKNOWN: .*"win-9"\n {2}-> Use one of: win-1\./],
  ['a retry of a host that works', ['retry', 'win-1'], /"win-1" was not rolled back and has not failed: it is Ready/],
  [
    'a retry of a host on its way back',
    ['retry', 'win-1'],
    /"win-1" is still going back to 11\.0\.0/,
    { upgrade: { from, to, failed } },
  ],
  [
    'to continue while a host goes back',
    ['continue', '-y'],
    /"win-1" is still going back/,
    { upgrade: { from, to, failed } },
  ],
  [
    'another version',
    ['pin', 'win-1', '--version', '11.1.0'],
    /"win-1" runs 11\.0\.0, not "11\.1\.0"\n {2}-> A host can only be kept .*`wmco rollout pin win-1`/,
  ],
  [
    'to pin in the middle of an upgrade',
    ['pin', 'win-1'],
    /"win-1" is upgrading: from 11\.0\.0 to 11\.1\.0/,
    { upgrade: { from, to, activated: at(1) } },
  ],
  ['to unpin what is not pinned', ['unpin', 'win-1'], /"win-1" is not pinned/],
];
for (const [what, words, want, status] of refused) {
  test(`refuses ${what}`, async () => {
    await put('win-1', status);
    const { code, errors } = await run(words);
    expect([code, errors]).toEqual([1, expect.stringMatching(want) as string]);
    expect(await annotationsOf('win-1')).toEqual({});
  });
}

test('refuses a host that is being removed, one that joins, and one without an instance', async () => {
  await put('win-1');
  await annotate('win-1', { [instanceAnnotation.removal]: at(0) });
  await cluster.putInstance(instanceOf('win-2', structuredClone(statuses.configuring)));
  await cluster.putNode('win-3');
  expect((await run(['pin', 'win-1'])).errors).toMatch(/"win-1" is being removed/);
  expect((await run(['pin', 'win-2'])).errors).toMatch(/"win-2" runs no version yet: it is Configuring/);
  expect((await run(['pin', 'win-3'])).errors).toMatch(/"win-3" has no WindowsInstance/);
});

const usage: [words: string[], code: number, want: RegExp][] = [
  [['retry'], 2, /missing the host/],
  [['puase'], 2, /unknown command "puase"\n {2}-> Did you mean `pause`\?/],
  [['--help'], 0, /^Show and control[^]*continue[^]*Without a command it prints the roll-out/],
  [['help', 'pin'], 0, /^Keep a host at the version that it runs\./],
  [['pin', '--help'], 0, /--version <version>/],
];
for (const [words, code, want] of usage) {
  test(`wmco rollout ${words.join(' ')} exits with ${code}`, async () => {
    const result = await run(words);
    expect([result.code, result.text + result.errors]).toEqual([code, expect.stringMatching(want) as string]);
  });
}
