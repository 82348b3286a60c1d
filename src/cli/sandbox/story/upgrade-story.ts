import { watchCluster } from '../../status/cluster-reader.ts';
import { durationText } from '../../status/view/amounts.ts';
import { isUpgraded, laterVersion, showRollout, showSettings, showVersions } from './rollout-chapters.ts';
import { say, showJoin, storyError, type StoryDeps } from './telling.ts';
import { UpgradeLines } from './upgrade-lines.ts';

const hosts = ['win-1', 'win-2', 'win-3', 'win-4'];
const maxUnavailable = 2;

/** Shows a newcomer how a new version of the operator takes its hosts along. */
export async function playUpgradeStory(deps: StoryDeps): Promise<void> {
  const { terminal, client, sandbox, signal } = deps;
  const { clock } = terminal;
  const [from, to] = [terminal.version(), laterVersion(terminal.version(), 1)];
  const started = clock.monotonicMs();
  await using cluster = await watchCluster({ client, namespace: sandbox.namespace, clock }, signal);
  await showJoin(hosts, cluster, deps);
  await showSettings({ maxUnavailable: String(maxUnavailable), first: '1', soak: '10s' }, deps);
  say(deps, '   Two Nodes may be out of service at once. One host comes first and has to work for ten seconds (ten');
  say(deps, '   minutes unless you set it) before others follow.');
  say(deps, '', `3. The operator ${to} replaces ${from}; only a few of its programs differ`);
  const lines = new UpgradeLines();
  const isSo = (seen: readonly Parameters<typeof isUpgraded>[0][]) =>
    seen.length === hosts.length && seen.every(each => isUpgraded(each, to));
  await showRollout({ version: to, since: from }, { what: `all hosts to run ${to}`, isSo }, { cluster, lines }, deps);
  say(deps, '', '4. What is left');
  await showVersions(hosts, to, lines, deps);
  say(deps, `   At most ${lines.mostOut} of ${hosts.length} Nodes were out of service at once.`);
  if (lines.mostOut > maxUnavailable) throw storyError(`${lines.mostOut} Nodes were out of service at once`);
  const time = durationText(clock.monotonicMs() - started);
  say(deps, '', `That was all, in ${time}. On a cluster of yours: \`${terminal.command()} status\` shows a roll-out.`);
}
