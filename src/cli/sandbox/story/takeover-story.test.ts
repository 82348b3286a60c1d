import { afterEach, beforeEach, expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, nodeLabel, secretName } from '#contract/names.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { isAlreadyExists, unless } from '#kube/api-error.ts';
import { clusterRoles, configMaps, nodes, pods, secrets } from '#kube/resources.ts';
import { fastClock } from '../../../../test/kit/fast-clock.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { sandboxDouble } from '../../../../test/kit/sandbox-double.ts';
import { type StatusCluster, statusCluster } from '../../../../test/kit/status-cluster.ts';
import {
  at,
  instanceOf,
  type RecordedTerminal,
  recordedTerminal,
  statuses,
} from '../../../../test/kit/status-views.ts';
import { playTakeoverStory } from './takeover-story.ts';

/** The test is both operators. */
const names = ['win-1', 'win-2', 'win-3', 'win-4'];
const go = { version: '10.20.0-go', pod: 'go-operator' };
const role = secretName.agentToken;
/** The story waits for three seconds to show that nothing happens. */
const clock = fastClock(10);

let cluster: StatusCluster;
let terminal: RecordedTerminal;
let to: string;
/** What is seen of each host. */
let sessions: number;
let reboots: number;
let connectsEarly: boolean;

beforeEach(async () => {
  cluster = await statusCluster();
  terminal = recordedTerminal(undefined, {}, clock);
  to = terminal.version();
  [sessions, reboots, connectsEarly] = [3, 0, false];
  await cluster.lead(clock.now());
});
afterEach(() => cluster[Symbol.asyncDispose]());

function play(timeoutMs = 300_000): Promise<void> {
  const { client, namespace } = cluster;
  const sandbox = sandboxDouble(cluster, {
    hosts: () =>
      names.map(name => ({
        name,
        faults: [],
        sshSessions: sessions,
        uploadedBytes: 0,
        reboots,
        installed: { services: [], networks: [] },
      })),
    becomeGoCluster: async () => {
      const inNamespace = (name: string) => ({ metadata: { name, namespace } });
      const spec = { containers: [{ name: 'manager', image: 'go' }], terminationGracePeriodSeconds: 0 };
      await client.create(pods, { ...inNamespace(go.pod), spec });
      await client.create(secrets, inNamespace(secretName.agentToken));
      await client.create(configMaps, inNamespace(servicesConfigMapName(go.version)));
      await client.create(configMaps, inNamespace(configMapName.leaderLock)).catch(unless(isAlreadyExists));
      await client.create(clusterRoles, { metadata: { name: role }, rules: [wide] });
      return go;
    },
    replaceOperator: async () => {
      if (connectsEarly) sessions += 1;
    },
  });
  return playTakeoverStory({ terminal, sandbox, client, timeoutMs, signal: terminal.signal });
}

const wide = { apiGroups: [''], resources: ['nodes'], verbs: ['patch'] };

async function join(): Promise<void> {
  await cluster.list(Object.fromEntries(names.map(name => [name, 'username=a'])));
  for (const name of names) {
    await cluster.putNode(name);
    const status = { ...structuredClone(statuses.ready), node: name, version: go.version };
    await cluster.putInstance(instanceOf(name, status));
  }
}

async function write(name: string, status: WindowsInstanceStatus): Promise<void> {
  const { client, namespace } = cluster;
  await client.patch(windowsInstances, name, { type: 'merge', body: { status } }, { namespace, subresource: 'status' });
}

const prints = (text: string | RegExp) =>
  expect.poll(() => terminal.text(), { timeout: 20_000, interval: 20 }).toMatch(text);

async function takeOver(name: string): Promise<void> {
  const upgrade = { from: go.version, to, staged: at(1) };
  const cordon = (isOut: boolean) => {
    const labels = { [nodeLabel.upgrading]: isOut ? 'true' : null };
    return cluster.client.patch(nodes, name, {
      type: 'merge',
      body: { metadata: { labels }, spec: { unschedulable: isOut } },
    });
  };
  await write(name, { upgrade });
  await cordon(true);
  await prints(new RegExp(`${name} +is out of service`));
  await cordon(false);
  await write(name, { version: to, upgrade: { ...upgrade, activated: at(2), ready: at(3), soaked: at(4) } });
}

async function removeAll(): Promise<void> {
  const { client, namespace } = cluster;
  await client.delete(secrets, secretName.agentToken, { namespace });
  await client.delete(configMaps, servicesConfigMapName(go.version), { namespace });
  await client.delete(configMaps, configMapName.leaderLock, { namespace });
  await client.patch(clusterRoles, role, { type: 'merge', body: { rules: [] } });
}

test('the story of a take-over shows the wait, each host, and what is gone', async () => {
  const played = play();
  await join();
  await prints('4. The Go operator is deleted');
  for (const name of names) await takeOver(name);
  await removeAll();
  await played;
  const text = terminal.text();
  expect(text).toContain(`1. Four Windows hosts are nodes of the Go operator`);
  expect(text).toContain('For 3.0 s it has connected to no host');
  for (const name of names) {
    expect(text).toMatch(new RegExp(`${name} +is adopted with ${go.version}; its Node is still in service`));
    expect(text).toMatch(new RegExp(`${name} +is cleaned of ${go.version} and set up with ${to}`));
    expect(text).toMatch(new RegExp(`${name} was out of service for [0-9.]+ m?s; it was not rebooted`));
  }
  expect(text).toContain('At most 1 of 4 Nodes were out of service at once.');
  expect(text.match(/^ {3}gone: /gm)).toHaveLength(3);
  expect(await cluster.client.find(pods, go.pod, { namespace: cluster.namespace })).toBeUndefined();
}, 60_000);

test('the story of a take-over fails when the operator connects to a host while the Go operator runs', async () => {
  connectsEarly = true;
  const played = rejectionOf(play());
  await join();
  expect(await played).toMatchObject({
    code: 'SANDBOX_STORY_FAILED',
    message: expect.stringContaining('while the Go operator runs'),
  });
}, 60_000);

const failures: [what: string, spoil: () => Promise<void>, message: string][] = [
  [
    'a host is rebooted',
    async () => {
      reboots = 1;
      await removeAll();
    },
    'win-1 was rebooted',
  ],
  ['the shared token stays', async () => undefined, `Secret ${secretName.agentToken} still exists`],
];
test.each(failures)(
  'the story of a take-over fails when %s',
  async (_, spoil, message) => {
    const played = rejectionOf(play(30_000));
    await join();
    await prints('4. The Go operator is deleted');
    for (const name of names) await takeOver(name);
    await spoil();
    expect(await played).toMatchObject({ code: 'SANDBOX_STORY_FAILED', message });
  },
  60_000,
);
