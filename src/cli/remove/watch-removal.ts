import type { Clock } from '#base/clock.ts';
import { ownMember } from '#base/fields.ts';
import { boundNode } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { SafeText } from '../safe-text.ts';
import type { WatchedCluster } from '../status/cluster-reader.ts';
import { follow } from '../status/screen/follow.ts';
import { JourneyLines } from '../status/screen/journey-lines.ts';
import { hostViews } from '../status/view/cluster-hosts.ts';
import type { ClusterView } from '../status/view/host-view.ts';
import { instanceNameOf, nodeNameOf, type Target } from './target.ts';

/** `kept`: another instance has the host. */
export type RemovalEnd = 'removed' | 'kept' | 'canceled' | 'timed out' | 'stopped';

export interface WatchRemovalDeps {
  cluster: Pick<WatchedCluster, 'view' | 'onChange'>;
  print: (line: SafeText) => void;
  /** Default: the time of day. */
  stamp?: (nowMs: number) => SafeText;
  clock: Clock;
  signal: AbortSignal;
  timeoutMs: number;
}

/** The operator creates a deleted instance again to remove its host; until then it looks removed. */
const settleMs = 3000;

/** Prints each step until Node, instance and entry are gone. */
export async function watchRemoval(target: Target, deps: WatchRemovalDeps): Promise<RemovalEnd> {
  const { cluster, print, clock, signal, timeoutMs } = deps;
  const lines = new JourneyLines('remove', deps.stamp);
  const ending = new Ending(target);
  const startMs = clock.monotonicMs();
  let end: RemovalEnd = 'stopped';
  const refresh = () => {
    const view = cluster.view();
    const host = hostViews(view).find(({ instance }) => isNamed(instance, target));
    if (host !== undefined) lines.next(host, clock.now()).forEach(print);
    const nowMs = clock.monotonicMs();
    end = ending.next(view, nowMs) ?? (nowMs - startMs > timeoutMs ? 'timed out' : 'stopped');
    return end === 'stopped' ? 'continue' : 'stop';
  };
  await follow(refresh, { onChange: cluster.onChange, clock, signal });
  return end;
}

/** Recognizes the end of a removal by what the cluster has. */
class Ending {
  readonly #target: Target;
  #goneSinceMs: number | undefined;
  #wasRequested = false;

  constructor(target: Target) {
    this.#target = target;
  }

  next(view: ClusterView, nowMs: number): 'removed' | 'kept' | 'canceled' | undefined {
    const target = this.#target;
    if (isListed(target, view)) return 'canceled';
    this.#goneSinceMs = isGone(target, view) ? (this.#goneSinceMs ?? nowMs) : undefined;
    if (this.#goneSinceMs !== undefined) return nowMs - this.#goneSinceMs >= settleMsOf(target) ? 'removed' : undefined;
    if (hasOtherInstance(target, view)) return 'kept';
    const instance = view.instances.find(each => isNamed(each, target));
    if (instance === undefined) return undefined;
    if (this.#wasRequested && !hasRequest(instance)) return 'canceled';
    this.#wasRequested ||= hasRequest(instance);
    return undefined;
  }
}

function settleMsOf({ is }: Target): number {
  return is === 'instance' ? settleMs : 0;
}

/** Objects that cannot be read are no evidence; the instance is deleted last. */
function isGone(target: Target, view: Pick<ClusterView, 'instances' | 'nodes' | 'entries'>): boolean {
  const node = nodeNameOf(target);
  const hasNode = node !== undefined && view.nodes.some(({ name }) => name === node);
  return !hasNode && !isListed(target, view) && !view.instances.some(instance => isNamed(instance, target));
}

/** The instance is gone, and another one has recorded its Node. */
function hasOtherInstance(target: Target, { instances }: Pick<ClusterView, 'instances'>): boolean {
  const node = nodeNameOf(target);
  const isOwnGone = !instances.some(instance => isNamed(instance, target));
  return isOwnGone && node !== undefined && instances.some(instance => boundNode(instance) === node);
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
