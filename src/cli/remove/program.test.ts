import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { configMaps, nodes, pods } from '#kube/resources.ts';
import { type StatusCluster, statusCluster } from '../../../test/kit/status-cluster.ts';
import { failure, instanceOf, recordedTerminal, statuses, step } from '../../../test/kit/status-views.ts';
import { main } from '../main.ts';
import { removeProgram } from './program.ts';

let folder: string;
let cluster: StatusCluster;
const { removal, forceRemoval } = instanceAnnotation;
const entries = { 'win-1': 'username=a', 'win-2': 'username=b', bad_name: 'username=c' };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-remove-'));
  cluster = await statusCluster();
  writeFileSync(join(folder, 'kubeconfig'), cluster.sandbox.kubeconfig);
  await cluster.list(entries);
  await cluster.putInstance(instanceOf('win-1', structuredClone(statuses.ready)));
  await cluster.putNode('win-1');
});
afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

interface Run {
  code: Promise<number>;
  text: () => string;
  errors: () => string;
  stop: () => void;
  prints: (text: string | RegExp) => Promise<void>;
}

/** `answer` is what the user types; without it there is no terminal. */
function run(words: string[], answer?: string): Run {
  const recorded = recordedTerminal(undefined, { KUBECONFIG: join(folder, 'kubeconfig') }, systemClock);
  const ask = answer === undefined ? undefined : () => Promise.resolve(answer);
  const program = {
    name: 'remove',
    summary: '',
    run: (rest: readonly string[]) => removeProgram(rest, { ...recorded, ask }),
  };
  const code = main(['remove', ...words], { ...recorded, stdin: () => Promise.resolve(''), runtime: '' }, [program]);
  const { text, errors, stop } = recorded;
  return { code, text, errors, stop, prints: want => expect.poll(text, { interval: 20 }).toMatch(want) };
}

const inNamespace = () => ({ namespace: cluster.namespace });
const listed = async () =>
  Object.keys((await cluster.client.get(configMaps, configMapName.instances, inNamespace())).data ?? {}).sort();
const instance = (name: string) => cluster.client.find(windowsInstances, name, inNamespace());
const annotationsOf = async (name: string) => (await instance(name))?.metadata.annotations ?? {};
const runOperator = () => cluster.lead(systemClock.now());

async function write(
  name: string,
  status: WindowsInstanceStatus,
  annotations: Record<string, string> = {},
): Promise<void> {
  const [body, options] = [{ metadata: { annotations } }, inNamespace()];
  await cluster.client.patch(windowsInstances, name, { type: 'merge', body }, options);
  const patch = { type: 'merge', body: { status } } as const;
  await cluster.client.patch(windowsInstances, name, patch, { ...options, subresource: 'status' });
}

const journey = { name: 'remove', cause: 'its entry was deleted', started: '2026-07-01T12:00:00Z' } as const;
const requested = { [removal]: '2026-07-01T12:00:00Z' };

/** What the operator does at the end of a removal. */
async function finish(name: string): Promise<void> {
  await cluster.client.delete(nodes, 'win-1');
  await cluster.client.delete(windowsInstances, name, inNamespace());
}

test('deletes the entry, prints each step and ends when the Node is gone', async () => {
  await runOperator();
  const labels = { app: 'web' };
  await cluster.put(pods, {
    metadata: { name: 'web', namespace: 'default', labels },
    spec: { nodeName: 'win-1', containers: [{ name: 'a', image: 'b' }] },
  });
  const removing = run(['win-1'], 'win-1');
  await expect.poll(listed).toEqual(['bad_name', 'win-2']);
  await write(
    'win-1',
    { phase: 'Removing', step: 'drain', journey, timeline: [step('connect', 0, 1), step('drain', 1)] },
    requested,
  );
  await removing.prints(/^\d\d:\d\d:\d\d {2}connect\n\d\d:\d\d:\d\d {2}drain$/m);
  await finish('win-1');
  expect(await removing.code).toBe(0);
  expect(removing.text()).toMatch(
    /evicts 1 pod; [^]*Deleted entry win-1 from ConfigMap windows-instances\.[^]*Host win-1 is removed; Node win-1 is gone\.\n$/,
  );
});

test('prints a failure with the way to force it, and the cancellation', async () => {
  await runOperator();
  const removing = run(['win-1', '--yes']);
  await removing.prints('Deleted entry');
  const failed = { ...step('connect', 0), lastError: failure };
  await write('win-1', { phase: 'Failed', step: 'connect', journey, timeline: [failed] }, requested);
  await removing.prints(
    /failed, is retried: HOST_REFUSED_KEY: .*\n {2}-> Put the key there\. .*`wmco remove win-1 --force`\.$/m,
  );
  const patch = { type: 'merge', body: { data: { 'win-1': 'username=a' } } } as const;
  await cluster.client.patch(configMaps, configMapName.instances, patch, inNamespace());
  expect(await removing.code).toBe(1);
  expect(removing.text()).toContain('The removal was canceled: the host is kept.\n');
});

test('--force sets its annotation before the entry is deleted', async () => {
  await runOperator();
  const removing = run(['win-1', '--yes', '--force', '--no-wait']);
  expect(await removing.code).toBe(0);
  expect(await annotationsOf('win-1')).toMatchObject({ [forceRemoval]: 'true' });
  expect(await listed()).toEqual(['bad_name', 'win-2']);
  expect(removing.text()).toMatch(/Set .*force-removal on WindowsInstance win-1\.\nDeleted entry win-1/);
});

test('an invalid entry is deleted and nothing is waited for', async () => {
  await runOperator();
  expect(await run(['bad_name', '--yes']).code).toBe(0);
  expect(await listed()).toEqual(['win-1', 'win-2']);
});

test('Ctrl-C leaves the removal running and says so', async () => {
  await runOperator();
  const removing = run(['win-1', '--yes']);
  await removing.prints('Deleted entry');
  await write('win-1', { phase: 'Removing', step: 'drain', journey, timeline: [step('drain', 1)] }, requested);
  await removing.prints(/drain$/m);
  removing.stop();
  expect(await removing.code).toBe(1);
  expect(removing.text()).toMatch(
    /The removal goes on; `\/opt\/wmco status -w win-1` follows it\. To cancel it, add the entry/,
  );
});

test('--timeout ends the waiting with an error', async () => {
  await runOperator();
  const removing = run(['win-1', '--yes', '--timeout', '1s']);
  expect(await removing.code).toBe(1);
  expect(removing.errors()).toMatch(/^error: REMOVAL_UNFINISHED: host win-1 is not removed after 1\.0 s\n/);
});

const unconfirmed: [what: string, answer: string | undefined, code: number, text: RegExp][] = [
  ['another name', 'win-2', 1, /The host is not removed\.\n$/],
  ['no terminal', undefined, 2, /^error: there is no terminal to confirm the removal\n {2}-> Pass --yes/],
];
for (const [what, answer, code, text] of unconfirmed) {
  test(`changes nothing with ${what}`, async () => {
    await runOperator();
    const removing = run(['win-1'], answer);
    expect(await removing.code).toBe(code);
    expect(`${removing.errors()}${answer === undefined ? '' : removing.text()}`).toMatch(text);
    expect(await listed()).toEqual(['bad_name', 'win-1', 'win-2']);
  });
}

test('a WindowsInstance of an administrator is deleted, and followed until the operator has removed its Node', async () => {
  await runOperator();
  const direct = instanceOf(
    'direct',
    { ...structuredClone(statuses.ready), node: 'win-1' },
    { source: { kind: 'Direct' } },
  );
  await cluster.client.delete(windowsInstances, 'win-1', inNamespace());
  await cluster.putInstance(direct);
  const removing = run(['direct', '--yes']);
  await removing.prints('Deleted WindowsInstance direct.');
  await cluster.putInstance({ ...direct, metadata: { ...direct.metadata, annotations: requested } });
  await write('direct', { phase: 'Removing', step: 'drain', journey, timeline: [step('drain', 1)] }, requested);
  await removing.prints(/drain$/m);
  await finish('direct');
  expect(await removing.code).toBe(0);
});

for (const words of [[], ['--force']]) {
  test(`a WindowsInstance of an administrator is annotated ${words.length === 0 ? 'without an operator' : 'by force'}`, async () => {
    if (words.length > 0) await runOperator();
    await cluster.putInstance(instanceOf('direct', structuredClone(statuses.ready), { source: { kind: 'Direct' } }));
    const removing = run(['direct', '--yes', '--no-wait', ...words]);
    expect(await removing.code).toBe(0);
    expect(Object.keys(await annotationsOf('direct')).sort()).toEqual(
      words.length === 0 ? [removal] : [forceRemoval, removal],
    );
  });
}

test('without an operator it says that the removal has not started', async () => {
  const removing = run(['win-1', '--yes']);
  expect(await removing.code).toBe(1);
  expect(removing.text()).toMatch(/Note: No operator is running[^]*The removal starts when the operator runs\.\n$/);
});

const annotations = { [nodeAnnotation.version]: 'v2' };
const orphan = () =>
  cluster.putNode('orphan', {
    metadata: { name: 'orphan', labels: { 'kubernetes.io/os': 'windows' }, annotations },
    status: { addresses: [{ type: 'InternalIP', address: '10.0.0.9' }] },
  });

test('an orphan Node gets a WindowsInstance that requests its removal', async () => {
  await runOperator();
  await orphan();
  expect(await run(['orphan', '--yes', '--no-wait', '--username', 'Administrator']).code).toBe(0);
  expect(await instance('orphan')).toMatchObject({
    metadata: { annotations: { [removal]: expect.stringMatching(/^\d{4}-.*Z$/) as string } },
    spec: { address: '10.0.0.9', username: 'Administrator', source: { kind: 'Direct' } },
  });
});

const usageErrors: [what: string, words: string[], want: RegExp][] = [
  [
    'an orphan Node without --username',
    ['orphan', '--yes'],
    /its user is not known\n {2}-> Pass --username NAME: .*only encrypted\./,
  ],
  [
    '--username for a host with an instance',
    ['win-1', '--yes', '--username', 'x'],
    /--username is only for Nodes without/,
  ],
];
for (const [what, words, want] of usageErrors) {
  test(`rejects ${what}`, async () => {
    await runOperator();
    await orphan();
    const removing = run(words);
    expect([await removing.code, removing.errors()]).toEqual([2, expect.stringMatching(want) as string]);
  });
}

test('--forget deletes the note about one host', async () => {
  await runOperator();
  const note = JSON.stringify({ removed: '2026-07-01T12:00:00Z', address: '10.0.0.5', instance: 'win-5' });
  const metadata = { name: configMapName.removedHosts, namespace: cluster.namespace };
  await cluster.put(configMaps, { metadata, data: { 'win-5': note, 'win-6': note } });
  expect(await run(['--forget', 'win-5']).code).toBe(0);
  expect((await cluster.client.get(configMaps, configMapName.removedHosts, inNamespace())).data).toEqual({
    'win-6': note,
  });
  const unknown = run(['--forget', 'win-5']);
  expect(await unknown.code).toBe(1);
  expect(unknown.errors()).toMatch(/^error: HOST_UNKNOWN: .* has no note about "win-5"\n {2}-> Use one of: win-6\.\n/);
});
