import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, nodeLabel } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { sandboxDouble } from '../../../../test/kit/sandbox-double.ts';
import { type StatusCluster, statusCluster } from '../../../../test/kit/status-cluster.ts';
import {
  at,
  condition,
  instanceOf,
  type RecordedTerminal,
  recordedTerminal,
  statuses,
} from '../../../../test/kit/status-views.ts';
import type { SandboxRelease } from '../running.ts';
import { playRollbackStory } from './rollback-story.ts';
import { laterVersion } from './rollout-chapters.ts';
import { playUpgradeStory } from './upgrade-story.ts';
import type { StoryDeps } from './telling.ts';

/** The test is the operator. */
let cluster: StatusCluster;
let terminal: RecordedTerminal;
let releases: SandboxRelease[];
/** Versions of the files in place, and of those kept. */
let disks: Map<string, { runs: string; keeps?: string }>;
let from: string;

beforeEach(async () => {
  cluster = await statusCluster();
  terminal = recordedTerminal(undefined, {}, systemClock);
  from = terminal.version();
  releases = [];
  disks = new Map();
  await cluster.lead(systemClock.now());
});
afterEach(() => cluster[Symbol.asyncDispose]());

function play(story: (deps: StoryDeps) => Promise<void>, timeoutMs = 60_000): Promise<void> {
  const { client } = cluster;
  const sandbox = sandboxDouble(cluster, {
    replaceOperator: async release => void releases.push(release),
    readFile: async (host, path) => {
      const { runs, keeps } = disks.get(host) ?? {};
      const version = path === file.stagedRecord ? runs : keeps;
      return version === undefined ? undefined : JSON.stringify({ version });
    },
  });
  return story({ terminal, sandbox, client, timeoutMs, signal: terminal.signal });
}

async function join(count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `win-${index + 1}`);
  await cluster.list(Object.fromEntries(names.map(name => [name, 'username=a'])));
  for (const name of names) {
    await cluster.putNode(name);
    await cluster.putInstance(instanceOf(name, { ...structuredClone(statuses.ready), node: name, version: from }));
    disks.set(name, { runs: from });
  }
  return names;
}

async function write(name: string, status: WindowsInstanceStatus): Promise<void> {
  const { client, namespace } = cluster;
  await client.patch(windowsInstances, name, { type: 'merge', body: { status } }, { namespace, subresource: 'status' });
}

async function cordon(name: string, isOut: boolean): Promise<void> {
  const body = {
    metadata: { labels: { [nodeLabel.upgrading]: isOut ? 'true' : null } },
    spec: { unschedulable: isOut },
  };
  await cluster.client.patch(nodes, name, { type: 'merge', body });
}

const prints = (text: string | RegExp) => expect.poll(() => terminal.text(), { interval: 20 }).toMatch(text);
const released = (version: string) => expect.poll(() => releases.map(each => each.version)).toContain(version);

/** `runs` is what the disk has in the end. */
async function upgrade(name: string, to: string, runs = to): Promise<void> {
  await write(name, { upgrade: { from, to, staged: at(1) } });
  await cordon(name, true);
  await prints(new RegExp(`${name} +is out of service: cordoned, label \\S+/upgrading=true`));
  await write(name, { upgrade: { from, to, staged: at(1), activated: at(2) } });
  await cordon(name, false);
  disks.set(name, { runs, keeps: from });
  await write(name, {
    version: to,
    upgrade: { from, to, staged: at(1), activated: at(2), ready: at(3), soaked: at(4) },
  });
}

test('the story of an upgrade shows settings, hosts and what is left', async () => {
  const played = play(playUpgradeStory);
  const names = await join(4);
  const to = laterVersion(from, 1);
  await released(to);
  const { data } = await cluster.client.get(configMaps, configMapName.rollout, { namespace: cluster.namespace });
  expect([data, releases]).toEqual([{ maxUnavailable: '2', first: '1', soak: '10s' }, [{ version: to, since: from }]]);
  for (const name of names) await upgrade(name, to);
  await played;
  const text = terminal.text();
  expect(text).toContain(`1. Four Windows hosts join the cluster`);
  expect(text).toMatch(/kubectl create configmap windows-rollout -n \S+ --from-literal=maxUnavailable=2 /);
  expect(text).toContain(`3. The operator ${to} replaces ${from}`);
  expect(text).toMatch(/win-3 +is in service again after/);
  for (const name of names)
    expect(text).toMatch(
      new RegExp(`${name} +runs ${to}, keeps ${from} to go back; its Node was out of service for [0-9.]+ m?s\n`),
    );
  expect(text).toContain('At most 1 of 4 Nodes were out of service at once.');
});

test('the story of an upgrade fails when files of the former version are in place', async () => {
  const played = rejectionOf(play(playUpgradeStory));
  const names = await join(4);
  const to = laterVersion(from, 1);
  await released(to);
  for (const name of names) await upgrade(name, to, name === 'win-3' ? from : to);
  expect(await played).toMatchObject({ code: 'SANDBOX_STORY_FAILED' });
});

test('the story of an upgrade fails when it does not come to its end in time', async () => {
  await join(4);
  const error = await rejectionOf(play(playUpgradeStory, 1500));
  expect(error?.message).toMatch(/^waited 1\.5 s for all hosts to run .*; now: win-1 Ready, /);
});

async function rollBack(name: string, to: string): Promise<void> {
  const failed = { code: 'UPGRADE_UNHEALTHY', message: 'the kubelet crashes', at: at(3) };
  const attempt = { from, to, staged: at(1), activated: at(2), failed };
  await cordon(name, true);
  await prints(`${name}  is out of service`);
  await write(name, { upgrade: attempt });
  await cordon(name, false);
  const conditions = [condition('RolledBack', 'True', failed.code, `went back to ${from}`)];
  await write(name, { conditions, upgrade: { ...attempt, rolledBack: at(4) } });
}

test('the story of a roll-back shows the failure, the stop and the way on', async () => {
  const played = play(playRollbackStory);
  const names = await join(3);
  const [bad, good] = [laterVersion(from, 1), laterVersion(from, 2)];
  await released(bad);
  await rollBack('win-1', bad);
  await released(good);
  expect(releases).toEqual([
    { version: bad, since: from, kubelet: 'broken' },
    { version: good, since: from },
  ]);
  await write('win-1', { upgrade: { failed: null, rolledBack: null } as never });
  for (const name of names) await upgrade(name, good);
  await played;
  const text = terminal.text();
  expect(text).toContain('win-1  failed: UPGRADE_UNHEALTHY: the kubelet crashes');
  expect(text).toMatch(
    new RegExp(
      `4\\. The roll-out of ${bad} has stopped[^]*win-1: condition RolledBack is True, reason UPGRADE_UNHEALTHY`,
    ),
  );
  for (const words of ['retry win-1', 'pin win-1', 'continue']) expect(text).toContain(`rollout ${words}`);
  expect(text).toMatch(new RegExp(`5\\. The operator ${good}[^]*win-3 +runs ${good}, keeps ${from}`));
});

test('the story of a roll-back fails when a second host was touched', async () => {
  const played = rejectionOf(play(playRollbackStory));
  await join(3);
  const bad = laterVersion(from, 1);
  await released(bad);
  await write('win-2', { upgrade: { from, to: bad, activated: at(2) } });
  await rollBack('win-1', bad);
  expect((await played)?.message).toBe('win-1, win-2 got the broken kubelet; one host was allowed to');
});

test.each([
  ['11.0.0', 1, '11.0.1'],
  ['11.0.9-abc123-dirty', 2, '11.0.11-abc123-dirty'],
  ['source', 1, 'source.1'],
])('%s plus %i is %s', (version, by, later) => expect(laterVersion(version, by)).toBe(later));
