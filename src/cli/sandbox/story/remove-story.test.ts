import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { eventText } from '#contract/events.ts';
import { configMapName } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { configMaps, events, nodes } from '#kube/resources.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { sandboxDouble } from '../../../../test/kit/sandbox-double.ts';
import { type StatusCluster, statusCluster } from '../../../../test/kit/status-cluster.ts';
import {
  instanceOf,
  type RecordedTerminal,
  recordedTerminal,
  statuses,
  step,
} from '../../../../test/kit/status-views.ts';
import { playRemoveStory } from './remove-story.ts';

/** The test is the operator. */
let cluster: StatusCluster;
let terminal: RecordedTerminal;

beforeEach(async () => {
  cluster = await statusCluster();
  terminal = recordedTerminal(undefined, {}, systemClock);
  await cluster.lead(systemClock.now());
  await cluster.list({ 'win-1': 'username=a', 'win-2': 'username=a' });
});
afterEach(() => cluster[Symbol.asyncDispose]());

const ready = (name: string): WindowsInstanceStatus => ({ ...structuredClone(statuses.ready), node: name });

async function join(...names: string[]): Promise<void> {
  for (const name of names) {
    await cluster.putNode(name);
    await cluster.putInstance(instanceOf(name, ready(name)));
  }
}

function play(services: string[] = [], timeoutMs = 60_000): Promise<void> {
  const { client } = cluster;
  const installed = { services, networks: [] };
  const machine = { name: 'win-2', faults: [], sshSessions: 0, uploadedBytes: 0, reboots: 0, installed };
  const sandbox = sandboxDouble(cluster, { hosts: () => [machine] });
  return playRemoveStory({ terminal, sandbox, client, timeoutMs, signal: terminal.signal });
}

const inNamespace = () => ({ namespace: cluster.namespace });
const prints = (text: string | RegExp) => expect.poll(() => terminal.text(), { interval: 20 }).toMatch(text);
const listed = async () =>
  Object.keys((await cluster.client.get(configMaps, configMapName.instances, inNamespace())).data ?? {});

async function removeHost(): Promise<void> {
  await expect.poll(listed).toEqual(['win-1']);
  const journey = { name: 'remove', cause: 'its entry was deleted', started: '2026-07-01T12:00:00Z' } as const;
  const status: WindowsInstanceStatus = { phase: 'Removing', step: 'drain', journey, timeline: [step('drain', 1)] };
  const patch = { type: 'merge', body: { status } } as const;
  await cluster.client.patch(windowsInstances, 'win-2', patch, { ...inNamespace(), subresource: 'status' });
  await prints(/drain$/m);
  const { namespace } = cluster;
  await cluster.put(events, {
    metadata: { name: 'e1', namespace },
    involvedObject: { kind: 'ConfigMap', name: configMapName.instances, namespace },
    ...eventText.instanceTeardown(['10.0.0.2']),
  });
  await cluster.client.delete(nodes, 'win-2');
  await cluster.client.delete(windowsInstances, 'win-2', inNamespace());
}

test('tells how two hosts join and one is removed, and ends', async () => {
  const played = play();
  await join('win-1', 'win-2');
  await removeHost();
  await played;
  const chapters = [
    /^1\. Two Windows hosts join the cluster\n {3}ConfigMap windows-instances in namespace \S+ lists win-1 and win-2\./,
    /win-2 +Ready as Node win-2/,
    /\n2\. The entry win-2 is deleted.*\n {3}kubectl patch configmap windows-instances .*\/data\/win-2/,
    /\n3\. The operator removes win-2, step by step\n[^]*drain\n/,
    /\n4\. What is left\n {3}Windows Nodes: win-1\n {3}Services of the operator on win-2: none; networks: none\n/,
    /Event InstanceTeardown: Deconfigured node with addresses \[10\.0\.0\.2\]\n/,
    /That was all, in .*`\/opt\/wmco remove HOST`\.\n$/,
  ];
  for (const chapter of chapters) expect(terminal.text()).toMatch(chapter);
});

test('fails when the host is not clean', async () => {
  const played = rejectionOf(play(['kubelet']));
  await join('win-1', 'win-2');
  await removeHost();
  expect(await played).toMatchObject({
    code: 'SANDBOX_STORY_FAILED',
    message: expect.stringContaining('on win-2') as string,
  });
});

test('fails with the state of the hosts when they do not become Ready in time', async () => {
  await join('win-1');
  const error = await rejectionOf(play([], 1000));
  expect(error?.message).toBe('waited 1.0 s for win-1 and win-2 to become Ready; now: win-1 Ready, win-2 Pending');
});

test('fails when the removal does not end in time', async () => {
  await join('win-1', 'win-2');
  const error = await rejectionOf(play([], 1500));
  expect(error?.message).toMatch(/^waited 1\.5 s for the removal of win-2, .*now: win-1 Ready, win-2 /);
});

test('stops when the user stops it', async () => {
  const played = play();
  await prints('1. Two Windows hosts');
  terminal.stop();
  await expect(played).rejects.toThrow('SIGINT');
});
