import { configMapName, secretName } from '#contract/names.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import { clusterRoles, configMaps, pods, secrets } from '#kube/resources.ts';
import { type WatchedCluster, watchCluster } from '../../status/cluster-reader.ts';
import { durationText } from '../../status/view/amounts.ts';
import { hostViews } from '../../status/view/cluster-hosts.ts';
import type { GoOperator } from '../running.ts';
import { isUpgraded, showSettings, showUpgrades } from './rollout-chapters.ts';
import { say, showUntil, storyError, type StoryDeps } from './telling.ts';
import { UpgradeLines } from './upgrade-lines.ts';

const hosts = ['win-1', 'win-2', 'win-3', 'win-4'];
const maxUnavailable = 2;
/** Shows that nothing happens: an operator that leads needs much less. */
const quietMs = 3000;

/** Shows a newcomer how this operator replaces the Go operator on nodes that work. */
export async function playTakeoverStory(deps: StoryDeps): Promise<void> {
  const { terminal, client, sandbox, signal } = deps;
  const { clock } = terminal;
  const version = terminal.version();
  const started = clock.monotonicMs();
  await using cluster = await watchCluster({ client, namespace: sandbox.namespace, clock }, signal);
  const go = await showGoCluster(cluster, deps);
  await showSettings({ maxUnavailable: String(maxUnavailable), first: '1', soak: '10s' }, deps);
  const reboots = rebootsOf(deps);
  await showWaiting(version, go, deps);
  await endGoOperator(go, deps);
  const lines = new UpgradeLines('set up again');
  const isSo = (seen: readonly Parameters<typeof isUpgraded>[0][]) =>
    seen.length === hosts.length && seen.every(each => isUpgraded(each, version));
  await showUpgrades({ what: `all hosts to run ${version}`, isSo }, { cluster, lines }, deps);
  say(deps, '', '5. What it took, and what is gone');
  showOutages(reboots, lines, deps);
  await showRemoved(go, deps);
  const time = durationText(clock.monotonicMs() - started);
  say(deps, '', `That was all, in ${time}. Before you do it on a cluster of yours, read docs/take-over.md.`);
}

/** The hosts join first, because nothing else in the sandbox could set them up. */
async function showGoCluster(cluster: WatchedCluster, deps: StoryDeps): Promise<GoOperator> {
  say(deps, '1. Four Windows hosts are nodes of the Go operator');
  say(deps, '   The sandbox sets them up and gives them its files, services and marks, which takes some seconds.');
  const isReady = () => {
    const seen = hostViews(cluster.view());
    return hosts.every(name => seen.some(host => host.name === name && host.phase === 'Ready'));
  };
  await showUntil('the hosts to be nodes', isReady, cluster, deps);
  const go = await deps.sandbox.becomeGoCluster();
  say(
    deps,
    `   ${hosts.join(', ')} run ${go.version}. Its agents share a token that never expires, and may write any Node.`,
  );
  return go;
}

async function showWaiting(version: string, { pod }: GoOperator, deps: StoryDeps): Promise<void> {
  const { sandbox, terminal, signal } = deps;
  say(
    deps,
    '',
    `3. The operator ${version} is installed, and waits: pod ${pod} has the lock ${configMapName.leaderLock}`,
  );
  const before = sessionsOf(deps);
  await sandbox.replaceOperator({ version });
  await terminal.clock.sleep(quietMs, signal);
  if (sessionsOf(deps) !== before) throw storyError('the operator has connected to a host while the Go operator runs');
  say(deps, `   For ${durationText(quietMs)} it has connected to no host and written nothing to a Node.`);
}

async function endGoOperator({ pod }: GoOperator, { client, sandbox, signal, ...deps }: StoryDeps): Promise<void> {
  const { namespace } = sandbox;
  say(deps, '', '4. The Go operator is deleted; each node is adopted as it is, then drained once, cleaned and set up');
  say(deps, `   kubectl delete pod ${pod} -n ${namespace}`);
  say(deps, `   On a cluster of yours it is the Deployment, or what OLM has of the operator.`);
  await client.delete(pods, pod, { namespace, gracePeriodSeconds: 0, signal });
}

function sessionsOf({ sandbox }: StoryDeps): number {
  return sandbox.hosts().reduce((sum, { sshSessions }) => sum + sshSessions, 0);
}

function rebootsOf({ sandbox }: StoryDeps): ReadonlyMap<string, number> {
  return new Map(sandbox.hosts().map(({ name, reboots }) => [name, reboots]));
}

function showOutages(before: ReadonlyMap<string, number>, lines: UpgradeLines, deps: StoryDeps): void {
  const after = rebootsOf(deps);
  for (const host of hosts) {
    const outMs = lines.outMs.get(host);
    if (outMs === undefined) throw storyError(`the Node of ${host} was never out of service`);
    if (after.get(host) !== before.get(host)) throw storyError(`${host} was rebooted`);
    say(deps, `   ${host} was out of service for ${durationText(outMs)}; it was not rebooted`);
  }
  say(deps, `   At most ${lines.mostOut} of ${hosts.length} Nodes were out of service at once.`);
  if (lines.mostOut > maxUnavailable) throw storyError(`${lines.mostOut} Nodes were out of service at once`);
}

/** Fails when something of the Go operator is left. */
async function showRemoved(go: GoOperator, deps: StoryDeps): Promise<void> {
  const { client, sandbox, signal } = deps;
  const place = { namespace: sandbox.namespace, signal };
  const gone = [
    [secrets, secretName.agentToken, 'the token that its agents shared'],
    [configMaps, servicesConfigMapName(go.version), 'the services of its version'],
    [configMaps, configMapName.leaderLock, 'its lock'],
  ] as const;
  for (const [resource, name, what] of gone) {
    const isGone = async () => (await client.find(resource, name, place)) === undefined;
    await untilSo(isGone, `${resource.kind} ${name} still exists`, deps);
    say(deps, `   gone: ${resource.kind} ${name}, ${what}`);
  }
  const isNarrow = async () => !(await mayWriteNodes(deps));
  await untilSo(isNarrow, `ClusterRole ${secretName.agentToken} still allows to write Nodes`, deps);
  say(
    deps,
    `   narrowed: ClusterRole ${secretName.agentToken}; each agent reads its own Node and writes its own report`,
  );
}

async function mayWriteNodes({ client, signal }: StoryDeps): Promise<boolean> {
  const { rules } = await client.get(clusterRoles, secretName.agentToken, { signal });
  return (rules ?? []).some(({ resources = [] }) => resources.includes('nodes'));
}

/** It is removed once the last host is recorded. */
async function untilSo(isSo: () => Promise<boolean>, problem: string, deps: StoryDeps): Promise<void> {
  const { terminal, signal, timeoutMs } = deps;
  const { clock } = terminal;
  for (const endMs = clock.monotonicMs() + timeoutMs; !(await isSo()); await clock.sleep(200, signal))
    if (clock.monotonicMs() > endMs) throw storyError(problem);
}
