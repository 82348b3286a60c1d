import type { Clock } from '#base/clock.ts';
import { ownMember } from '#base/fields.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { SafeText } from '../safe-text.ts';
import type { WatchedCluster } from '../status/cluster-reader.ts';
import { follow } from '../status/screen/follow.ts';
import { hostViews } from '../status/view/cluster-hosts.ts';
import type { ClusterView } from '../status/view/host-view.ts';
import { RemovalLines } from './removal-lines.ts';
import { instanceNameOf, nodeNameOf, type Target } from './target.ts';

export type RemovalEnd = 'removed' | 'canceled' | 'timed out' | 'stopped';

export interface WatchRemovalDeps {
  cluster: Pick<WatchedCluster, 'view' | 'onChange'>;
  print: (line: SafeText) => void;
  stamp: (nowMs: number) => SafeText;
  clock: Clock;
  signal: AbortSignal;
  timeoutMs: number;
}

/** The operator creates a deleted instance again to remove its host; until then it looks removed. */
const settleMs = 3000;

/** Prints each step until Node, instance and entry are gone. */
export async function watchRemoval(target: Target, deps: WatchRemovalDeps): Promise<RemovalEnd> {
  const { cluster, print, clock, signal } = deps;
  const lines = new RemovalLines(deps.stamp);
  const startMs = clock.monotonicMs();
  let end: RemovalEnd = 'stopped';
  let goneSinceMs: number | undefined;
  let wasRequested = false;
  const state = (): RemovalEnd | undefined => {
    const view = cluster.view();
    const nowMs = clock.monotonicMs();
    const host = hostViews(view).find(({ instance }) => isNamed(instance, target));
    if (host !== undefined) lines.next(host, clock.now()).forEach(print);
    wasRequested ||= host?.instance !== undefined && hasRequest(host.instance);
    goneSinceMs = isGone(target, view) ? (goneSinceMs ?? nowMs) : undefined;
    if (goneSinceMs !== undefined && nowMs - goneSinceMs >= (target.is === 'instance' ? settleMs : 0)) return 'removed';
    const isKept = host?.instance !== undefined && wasRequested && !hasRequest(host.instance);
    if (isKept || isListed(target, view)) return 'canceled';
    return nowMs - startMs > deps.timeoutMs ? 'timed out' : undefined;
  };
  const refresh = () => {
    end = state() ?? 'stopped';
    return end === 'stopped' ? 'continue' : 'stop';
  };
  await follow(refresh, { onChange: cluster.onChange, clock, signal });
  return end;
}

/** Objects that cannot be read are no evidence; the instance is deleted last. */
export function isGone(target: Target, view: Pick<ClusterView, 'instances' | 'nodes' | 'entries'>): boolean {
  const node = nodeNameOf(target);
  const hasNode = node !== undefined && view.nodes.some(({ name }) => name === node);
  return !hasNode && !isListed(target, view) && !view.instances.some(instance => isNamed(instance, target));
}

function isListed(target: Target, { entries }: Pick<ClusterView, 'entries'>): boolean {
  return target.is === 'entry' && ownMember(entries, target.key) !== undefined;
}

type Named = ClusterView['instances'][number];

function isNamed(instance: Named | undefined, target: Target): boolean {
  const name = instanceNameOf(target);
  return name !== undefined && instance?.metadata.name === name;
}

function hasRequest({ metadata }: Named): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, instanceAnnotation.removal);
}
