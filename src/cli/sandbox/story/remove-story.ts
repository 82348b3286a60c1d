import { configMapName } from '#contract/names.ts';
import { events, nodes } from '#kube/resources.ts';
import { deleteEntry } from '../../remove/request.ts';
import { findTarget } from '../../remove/target.ts';
import { watchRemoval } from '../../remove/watch-removal.ts';
import { type SafeText, safe } from '../../safe-text.ts';
import { type WatchedCluster, watchCluster } from '../../status/cluster-reader.ts';
import { durationText } from '../../status/view/amounts.ts';
import { hostViews } from '../../status/view/cluster-hosts.ts';
import { lateError, say, showJoin, storyError, type StoryDeps } from './telling.ts';

/** Hosts of the story: the first stays, the second is removed. */
const [kept, removed] = ['win-1', 'win-2'] as const;

/** Shows a newcomer how a host is removed. Ends by itself; fails if something does not happen in time. */
export async function playRemoveStory(deps: StoryDeps): Promise<void> {
  const { terminal, client, sandbox, signal } = deps;
  const { namespace } = sandbox;
  const started = terminal.clock.monotonicMs();
  await using cluster = await watchCluster({ client, namespace, clock: terminal.clock }, signal);
  await showJoin([kept, removed], cluster, deps);
  await showRequest(cluster, deps);
  await showResult(deps);
  const time = durationText(terminal.clock.monotonicMs() - started);
  say(deps, '', `That was all, in ${time}. On a cluster of yours: \`${terminal.command()} remove HOST\`.`);
}

async function showRequest(cluster: WatchedCluster, deps: StoryDeps): Promise<void> {
  const { terminal, client, sandbox, signal, timeoutMs } = deps;
  const { clock } = terminal;
  const { namespace } = sandbox;
  const view = cluster.view();
  const target = findTarget(hostViews(view), removed, view);
  say(deps, '', `2. The entry ${removed} is deleted, which requests the removal of its host`);
  const patch = JSON.stringify([{ op: 'remove', path: `/data/${removed}` }]);
  say(deps, `   kubectl patch configmap ${configMapName.instances} -n ${namespace} --type=json -p '${patch}'`);
  await deleteEntry(removed, view.entries[removed] ?? '', { client, namespace, clock, signal });
  say(deps, '', `3. The operator removes ${removed}, step by step`);
  const print = (line: SafeText) => terminal.out(safe`${line}\n`);
  const end = await watchRemoval(target, { cluster, print, stamp: () => safe` `, clock, signal, timeoutMs });
  signal.throwIfAborted();
  if (end !== 'removed') throw lateError(`the removal of ${removed}, which has ${end}`, cluster, deps);
}

async function showResult(deps: StoryDeps): Promise<void> {
  const { client, sandbox, signal } = deps;
  say(deps, '', '4. What is left');
  const { items } = await client.listAll(nodes, { labelSelector: 'kubernetes.io/os=windows', signal });
  say(deps, `   Windows Nodes: ${items.map(({ metadata }) => metadata.name).join(', ')}`);
  const { services = [], networks = [] } = sandbox.hosts().find(({ name }) => name === removed)?.installed ?? {};
  say(deps, `   Services of the operator on ${removed}: ${listText(services)}; networks: ${listText(networks)}`);
  if (services.length + networks.length > 0)
    throw storyError(`the removal left services or networks of the operator on ${removed}`);
  say(deps, `   Event InstanceTeardown: ${await teardownMessage(deps)}`);
  say(deps, `   The host itself still runs, with its SSH server. Add its entry again, and it joins again.`);
}

function listText(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

/** Events are written after the fact. */
async function teardownMessage({ client, sandbox, terminal, signal, timeoutMs }: StoryDeps): Promise<string> {
  const { clock } = terminal;
  const fieldSelector = 'reason=InstanceTeardown';
  for (const endMs = clock.monotonicMs() + timeoutMs; clock.monotonicMs() < endMs; await clock.sleep(500, signal)) {
    const { items } = await client.listAll(events, { namespace: sandbox.namespace, fieldSelector, signal });
    const [event] = items.filter(({ reason }) => reason === 'InstanceTeardown');
    if (event !== undefined) return event.message ?? '';
  }
  throw storyError(`event InstanceTeardown was not recorded within ${durationText(timeoutMs)}`);
}
