import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { LeaseLeadership } from '../../src/kube/leader/lease.ts';
import { afterLegacyLock, LegacyLock } from '../../src/kube/leader/legacy-lock.ts';
import { runManager } from '../../src/kube/controller/manager.ts';
import { configMaps, leases, pods } from '../../src/kube/resources.ts';
import { makeNamespace, makePod } from '../kit/cluster-pods.ts';
import { sharedKubeconfig } from '../kit/cluster/shared-cluster.ts';
import type { CandidateConfig, CandidateMessage } from '../kit/leader-process.ts';

const times = { leaseDurationMs: 4000, renewDeadlineMs: 3000, retryPeriodMs: 500 };
const takeOverMs = times.leaseDurationMs + 5000;
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

interface Candidate {
  identity: string;
  process: ChildProcess;
  messages: CandidateMessage[];
}

let client: Client;
const candidates = new Set<Candidate>();

beforeAll(() => {
  client = createClient(loadKubeconfig(sharedKubeconfig()));
});

afterAll(async () => {
  for (const { process: child } of candidates) child.kill('SIGKILL');
  await client.close();
});

async function arena(namespace: string): Promise<{ enter: (identity: string) => Promise<Candidate> }> {
  await makeNamespace(client, namespace);
  await client.create(configMaps, { metadata: { name: 'counter', namespace }, data: { count: '0' } });
  const enter = async (identity: string) => {
    const child = fork(join(import.meta.dirname, '../kit/leader-process.ts'), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const candidate: Candidate = { identity, process: child, messages: [] };
    candidates.add(candidate);
    child.on('message', message => candidate.messages.push(message as CandidateMessage));
    child.send({ kubeconfig: sharedKubeconfig(), namespace, identity, ...times } satisfies CandidateConfig);
    await until(() => candidate.messages.length > 0, 20_000, `${identity} has started`);
    return candidate;
  };
  return { enter };
}

async function until(isSo: () => boolean, ms: number, what: string): Promise<void> {
  const endMs = nowMs() + ms;
  while (!isSo()) {
    if (nowMs() > endMs) throw new Error(`after ${ms} ms it is not so that ${what}`);
    await delay(10);
  }
}

const messagesOf = <K extends CandidateMessage['is']>({ messages }: Candidate, is: K) =>
  messages.filter((each): each is Extract<CandidateMessage, { is: K }> => each.is === is);
const leads = (candidate: Candidate) => messagesOf(candidate, 'leader').length > 0;

async function kill({ process: child }: Candidate, signal: NodeJS.Signals): Promise<void> {
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

/** The term of each leader: from its first to its last write. */
function reigns(all: readonly Candidate[]) {
  return all
    .map(each => ({ identity: each.identity, writes: messagesOf(each, 'wrote') }))
    .filter(({ writes }) => writes.length > 0)
    .map(({ identity, writes }) => ({ identity, fromMs: writes[0]?.atMs ?? 0, toMs: writes.at(-1)?.atMs ?? 0, writes }))
    .toSorted((one, other) => one.fromMs - other.fromMs);
}

/** Terms never overlap, and no number is used twice. */
function checkReigns(all: readonly Candidate[]): void {
  const inOrder = reigns(all);
  for (const [index, reign] of inOrder.entries()) {
    const next = inOrder[index + 1];
    if (next !== undefined) expect(next.fromMs, `${next.identity} after ${reign.identity}`).toBeGreaterThan(reign.toMs);
  }
  const counts = inOrder.flatMap(({ writes }) => writes.map(write => write.count));
  expect(counts).toEqual(counts.toSorted((one, other) => one - other));
  expect(new Set(counts).size).toBe(counts.length);
}

test('the follower takes over in time after 20 kills of the leader, and there are never two leaders', async () => {
  const waits = (await Promise.all([0, 1, 2, 3].map(killFiveLeaders))).flat();
  expect(waits).toHaveLength(20);
  expect(Math.max(...waits)).toBeLessThan(takeOverMs);
  expect(Math.min(...waits)).toBeGreaterThan(0);
  console.log(`take-over after ${Math.round(Math.min(...waits))} to ${Math.round(Math.max(...waits))} ms`);
}, 240_000);

/** Returns the time of each takeover. */
async function killFiveLeaders(arenaIndex: number): Promise<number[]> {
  const { enter } = await arena(`leader-kill-${arenaIndex}`);
  const all: Candidate[] = [await enter('p0')];
  const waits: number[] = [];
  let leader = all[0] as Candidate;
  await until(() => leads(leader), takeOverMs, 'the first one leads');
  for (let round = 1; round <= 5; round += 1) {
    const follower = await enter(`p${round}`);
    all.push(follower);
    await until(() => messagesOf(leader, 'wrote').length > 5, takeOverMs, `${leader.identity} writes`);
    // The follower has seen the lease, at a different point of its renewal each time.
    await delay(600 + 37 * (5 * arenaIndex + round));
    const killedMs = nowMs();
    await kill(leader, 'SIGKILL');
    await until(() => leads(follower), takeOverMs, `${follower.identity} leads`);
    waits.push((messagesOf(follower, 'leader')[0]?.atMs ?? 0) - killedMs);
    leader = follower;
  }
  await until(() => messagesOf(leader, 'wrote').length > 5, takeOverMs, 'the last one writes');
  await kill(leader, 'SIGKILL');
  checkReigns(all);
  expect(all.flatMap(each => [...messagesOf(each, 'refused'), ...messagesOf(each, 'lost')])).toEqual([]);
  const transitions = all.flatMap(each => messagesOf(each, 'leader').map(message => message.transitions));
  expect(transitions).toEqual(all.map((_, index) => index));
  return waits;
}

test('a frozen leader writes nothing after another has taken over', async () => {
  const { enter } = await arena('leader-stall');
  const all: Candidate[] = [];
  for (let round = 0; round < 3; round += 1) {
    const [sleeper, follower] = [await enter(`sleeper-${round}`), await enter(`follower-${round}`)];
    all.push(sleeper, follower);
    await until(() => leads(sleeper) || leads(follower), 2 * takeOverMs, 'one of them leads');
    const [leader, other] = leads(sleeper) ? [sleeper, follower] : [follower, sleeper];
    await until(() => messagesOf(leader, 'wrote').length > 5, 5000, 'the leader writes');
    leader.process.kill('SIGSTOP');
    await until(() => messagesOf(other, 'wrote').length > 5, takeOverMs, 'the other one writes');
    leader.process.kill('SIGCONT');
    await until(
      () => messagesOf(leader, 'lost').length > 0 || leader.process.exitCode !== null,
      5000,
      'the first notices',
    );
    await kill(other, 'SIGKILL');
    leader.process.kill('SIGKILL');
  }
  checkReigns(all);
}, 120_000);

test('the follower takes over at once when the leader stops cleanly', async () => {
  const namespace = 'leader-clean';
  await makeNamespace(client, namespace);
  const make = (identity: string) => new LeaseLeadership({ client, namespace, name: 'leader', identity });
  const [stop, story] = [new AbortController(), [] as string[]];
  const work = (name: string) => ({
    name,
    run: async (signal: AbortSignal, ready: () => void) => {
      story.push(`${name} works`);
      ready();
      await once(signal, 'abort');
      story.push(`${name} ends`);
    },
  });
  const first = runManager({ leadership: make('first'), leaderOnly: [work('first')] }, stop.signal);
  await until(() => story.length === 1, 5000, 'the first one works');
  const last = new AbortController();
  const second = runManager({ leadership: make('second'), leaderOnly: [work('second')] }, last.signal);
  await delay(500);
  stop.abort();
  await first;
  await until(() => story.length === 3, 4000, 'the second one works');
  last.abort();
  await second;
  expect(story).toEqual(['first works', 'first ends', 'second works', 'second ends']);
  const lease = await client.get(leases, 'leader', { namespace });
  expect(lease.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 1 });
});

test('waits for the pod that holds the lock of the Go operator, and then takes the lock', async () => {
  const namespace = 'leader-legacy';
  await makeNamespace(client, namespace);
  const [old, own] = [
    await makePod(client, { name: 'old', namespace }),
    await makePod(client, { name: 'own', namespace }),
  ];
  const reference = { apiVersion: 'v1', kind: 'Pod', name: 'old', uid: old.metadata.uid ?? '' };
  await client.create(configMaps, { metadata: { name: 'lock', namespace, ownerReferences: [reference] } });
  const lock = new LegacyLock({
    client,
    namespace,
    name: 'lock',
    mark: 'example.com/lease',
    pod: { name: 'own', uid: own.metadata.uid ?? '' },
  });
  const lease = new LeaseLeadership({ client, namespace, name: 'leader', identity: 'own' });
  const both = afterLegacyLock(lease, lock);
  let isLeader = false;
  const acquired = both.acquire(() => undefined, new AbortController().signal).then(() => (isLeader = true));
  await delay(2500);
  expect(isLeader).toBe(false);
  await client.delete(pods, 'old', { namespace, gracePeriodSeconds: 0 });
  await acquired;
  const held = await client.get(configMaps, 'lock', { namespace });
  expect(held.metadata.ownerReferences).toMatchObject([{ kind: 'Pod', name: 'own', uid: own.metadata.uid }]);
  await both.release('free', new AbortController().signal);
  await expect(client.get(configMaps, 'lock', { namespace })).rejects.toMatchObject({ code: 404 });
});
