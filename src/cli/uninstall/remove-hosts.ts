import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Client } from '#kube/client.ts';
import { requestRemoval } from '../remove/request.ts';
import { findTarget, type Target } from '../remove/target.ts';
import { type RemovalEnd, watchRemoval } from '../remove/watch-removal.ts';
import { oneLine, type SafeText, safe } from '../safe-text.ts';
import { watchCluster } from '../status/cluster-reader.ts';
import { countText, durationText } from '../status/view/amounts.ts';
import { hostViews } from '../status/view/cluster-hosts.ts';
import type { ClusterView, HostView } from '../status/view/host-view.ts';
import { configuredNodes, machineCommands, windowsMachines } from './plan-lines.ts';

const orphanProblems: readonly string[] = ['NodeUnmanaged', 'NodeRemovedByForce'];

/** Without the CRD no operator removes the hosts of Nodes, so what belongs to them must stay. */
export function checkNoNodes(view: ClusterView): void {
  const nodes = configuredNodes(view);
  if (nodes.length === 0) return;
  throw refused(
    `${countText(nodes.length, 'Windows node')} ${nodes.length === 1 ? 'is' : 'are'} configured, but the CustomResourceDefinition is missing: ${nodes.join(', ')}`,
    'Run `wmco install --apply`, which takes the nodes over, and run the command again.',
  );
}

/** All hosts that the operator must remove. Fails if there are some that it cannot remove. */
export function removalTargets(view: ClusterView): Target[] {
  const [unread] = (['entries', 'nodes', 'machines', 'lease'] as const).filter(list => view.unread.includes(list));
  if (unread !== undefined) {
    throw refused(
      `the ${unread} of the cluster cannot be read`,
      'Request permission to read them, and run the command again.',
    );
  }
  const machines = windowsMachines(view);
  if (machines.length > 0) {
    throw refused(
      `${countText(machines.length, 'Windows Machine')} must be deleted first: ${machines.join(', ')}`,
      `Run ${machineCommands(view)
        .map(each => `\`${each}\``)
        .join(' and ')}, wait until they are gone, and run the command again.`,
    );
  }
  const hosts = hostViews(view);
  const [orphan] = hosts.filter(isOrphan);
  if (orphan !== undefined) {
    throw refused(
      `Node ${orphan.name} has no WindowsInstance, so its user is not known`,
      `Run \`wmco remove ${orphan.name} --username NAME\` with its Windows user, and run the command again.`,
    );
  }
  // Nodes of other operators are not ours.
  const targets = hosts.filter(({ source }) => source.kind !== 'Node').map(({ name }) => findTarget(hosts, name, view));
  if (targets.length > 0 && !view.isOperatorRunning) {
    throw refused(
      `no operator is running that could remove ${countText(targets.length, 'host')}`,
      'Run `wmco install --apply` with your --image, and run the command again; or remove hosts that do not exist any more with `wmco remove HOST --force`.',
    );
  }
  return targets;
}

function isOrphan({ source, problem }: HostView): boolean {
  return source.kind === 'Node' && orphanProblems.includes(problem?.code ?? '');
}

export interface RemoveDeps {
  client: Client;
  namespace: string;
  clock: Clock;
  signal: AbortSignal;
  timeoutMs: number;
  print: (line: SafeText) => void;
}

const silenceMs = 10_000;

/** Requests all removals and prints their steps until all hosts are gone. Fails if one is not. */
export async function removeHosts(targets: readonly Target[], deps: RemoveDeps): Promise<void> {
  const { client, namespace, clock, signal, timeoutMs, print } = deps;
  const cluster = await watchCluster({ client, namespace, clock }, signal);
  const done = new Set<string>();
  const ended = new AbortController();
  try {
    for (const target of targets) {
      const request = { target, isForced: false, username: '', isOperatorRunning: true };
      const lines = await requestRemoval(request, deps);
      for (const line of lines) print(oneLine(line));
    }
    const watching = targets.map(async target => {
      const { name } = target.host;
      const own = (line: SafeText) => print(safe`${oneLine(name)}: ${line}`);
      const end = await watchRemoval(target, { cluster, print: own, clock, signal, timeoutMs });
      if (end === 'removed') {
        done.add(name);
        print(safe`Host ${oneLine(name)} is removed, ${done.size} of ${targets.length}.`);
      }
      return [name, end] as const;
    });
    const ticking = tick(ended.signal);
    const ends = await Promise.all(watching).finally(() => ended.abort());
    await ticking;
    signal.throwIfAborted();
    checkEnds(ends, cluster.view(), deps);
  } finally {
    await cluster[Symbol.asyncDispose]();
  }

  /** Says what is waited for, also while no step ends. */
  async function tick(end: AbortSignal): Promise<void> {
    const stop = AbortSignal.any([end, signal]);
    while (!stop.aborted) {
      await clock.sleep(silenceMs, stop).catch(() => undefined);
      if (stop.aborted) return;
      const waiting = targets.map(({ host }) => host.name).filter(name => !done.has(name));
      print(oneLine(`${done.size} of ${countText(targets.length, 'host')} removed; waiting for ${waiting.join(', ')}`));
    }
  }
}

const reasons: Readonly<Record<Exclude<RemovalEnd, 'removed'>, string>> = {
  kept: 'another entry or WindowsInstance is the same host',
  canceled: 'its removal was canceled',
  'timed out': 'it is not removed in time',
  stopped: 'the command was stopped',
};

function checkEnds(
  ends: readonly (readonly [name: string, end: RemovalEnd])[],
  view: ClusterView,
  { timeoutMs }: RemoveDeps,
): void {
  const left = ends.filter(([, end]) => end !== 'removed' && end !== 'kept');
  const [first] = left;
  if (first === undefined) return;
  const hosts = hostViews(view);
  const texts = left.map(([name, end]) => {
    const { problem } = hosts.find(host => host.name === name) ?? {};
    const why = end === 'removed' ? '' : reasons[end];
    return `${name}: ${why}${problem === undefined ? '' : ` (${problem.code}: ${problem.message})`}`;
  });
  throw new AppError(
    'UNINSTALL_UNFINISHED',
    `${countText(left.length, 'host')} not removed after ${durationText(timeoutMs)}, so the operator stays installed: ${texts.join('; ')}`,
    {
      remedy: `Run \`wmco status ${first[0]}\` and fix what it shows, or give the host up with \`wmco remove ${first[0]} --force\`. Then run the command again; what was requested goes on.`,
    },
  );
}

export function refused(message: string, remedy: string): AppError {
  return new AppError('UNINSTALL_REFUSED', message, { remedy });
}
