import { findCondition } from '#base/condition.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { watchCluster } from '../../status/cluster-reader.ts';
import { durationText } from '../../status/view/amounts.ts';
import { isUpgraded, laterVersion, showRollout, showSettings, showVersions } from './rollout-chapters.ts';
import { say, showJoin, storyError, type StoryDeps } from './telling.ts';
import { UpgradeLines } from './upgrade-lines.ts';

const hosts = ['win-1', 'win-2', 'win-3'];

/** Shows a newcomer how a bad version comes back by itself, and how the roll-out goes on. */
export async function playRollbackStory(deps: StoryDeps): Promise<void> {
  const { terminal, client, sandbox, signal } = deps;
  const { clock } = terminal;
  const from = terminal.version();
  const [bad, good] = [laterVersion(from, 1), laterVersion(from, 2)];
  const started = clock.monotonicMs();
  await using cluster = await watchCluster({ client, namespace: sandbox.namespace, clock }, signal);
  await showJoin(hosts, cluster, deps);
  await showSettings({ first: '1', soak: '10s' }, deps);
  say(deps, '   One host comes first and has to work for ten seconds before others follow.');
  say(deps, '', `3. The operator ${bad} replaces ${from}; its kubelet is broken`);
  say(deps, '   A node that does not work for a minute is rolled back.');
  const lines = new UpgradeLines();
  const watched = { cluster, lines };
  const back = {
    what: `a host to roll back to ${from}`,
    isSo: (seen: readonly WindowsInstance[]) => seen.some(isBack),
  };
  await showRollout({ version: bad, since: from, kubelet: 'broken' }, back, watched, deps);
  showStop(cluster.view().instances, bad, deps);
  await showVersions(hosts, from, lines, deps);
  say(deps, '', `5. The operator ${good} with a kubelet that works replaces ${bad}`);
  const isSo = (seen: readonly WindowsInstance[]) =>
    seen.length === hosts.length && seen.every(each => isUpgraded(each, good));
  await showRollout({ version: good, since: from }, { what: `all hosts to run ${good}`, isSo }, watched, deps);
  await showVersions(hosts, good, lines, deps);
  if (lines.mostOut > 1) throw storyError(`${lines.mostOut} Nodes were out of service at once`);
  const time = durationText(clock.monotonicMs() - started);
  say(deps, '', `That was all, in ${time}. Nobody had to log in to a host.`);
}

function isBack({ status }: WindowsInstance): boolean {
  return status?.upgrade?.rolledBack !== undefined && status.phase === 'Ready';
}

function showStop(instances: readonly WindowsInstance[], bad: string, deps: StoryDeps): void {
  const touched = instances.filter(
    ({ status }) => status?.upgrade?.to === bad && status.upgrade.activated !== undefined,
  );
  const names = touched.map(({ metadata }) => metadata.name ?? '');
  const [first = ''] = names;
  if (names.length !== 1) throw storyError(`${names.join(', ')} got the broken kubelet; one host was allowed to`);
  say(deps, '', `4. The roll-out of ${bad} has stopped: no other Node was touched`);
  const { rolledBack } = instanceCondition;
  const { status, reason } = findCondition(touched[0]?.status?.conditions, rolledBack) ?? {};
  say(deps, `   WindowsInstance ${first}: condition ${rolledBack} is ${status}, reason ${reason}`);
  const wmco = deps.terminal.command();
  say(deps, '   What you could do now on a cluster of yours:');
  say(deps, `   ${wmco} rollout`, `   ${wmco} rollout retry ${first}`, `   ${wmco} rollout pin ${first}`);
  say(deps, `   ${wmco} rollout continue`);
}
