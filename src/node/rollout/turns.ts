import type { Clock } from '#base/clock.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { configMapName } from '#contract/names.ts';
import { isWindowsNode } from '#contract/node.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { KubeResource } from '#kube/resource.ts';
import type { ConfigMap, Node } from '#kube/resources.ts';
import { type GrantRequest, inOrder, nextRequests, whysOf } from './budget.ts';
import { nodeState } from './budget-facts.ts';
import type { BudgetGrants } from './budget-grants.ts';
import { hostUpgrade } from './version-rollout.ts';

export interface TurnSources {
  instances: Pick<Informer<WindowsInstance>, 'addHandler'>;
  nodes: Pick<Informer<Node>, 'addHandler'>;
  /** Of the operator's namespace. */
  configMaps: Pick<Informer<ConfigMap>, 'addHandler'>;
  clock: Clock;
}

/** While hosts wait, the first of them asks this often, so that waiting is measured and limits in time take effect. */
const askEveryMs = 30_000;

/**
 * Calls the listener with each request that would get a grant now, when a grant ends, a Node or the settings change. All others go on
 * waiting, and are called when what they wait for has changed. Ends when the returned function is called.
 */
export function followTurns(
  grants: BudgetGrants,
  { instances, nodes, configMaps, clock }: TurnSources,
  listener: (request: GrantRequest) => void,
): () => void {
  const stop = new AbortController();
  let isTimed = false;
  const ends = [
    grants.onRequest(refused => {
      wakeNext(refused);
      void keepAsking();
    }),
    instances.addHandler(
      handlerFor(instance => {
        const { metadata, spec, status } = instance;
        return [metadata.uid, spec.paused, status?.journey?.name, hostUpgrade(instance)];
      }),
    ),
    nodes.addHandler(handlerFor(node => (isWindows(node) ? nodeState(node) : undefined))),
    configMaps.addHandler(
      handlerFor(({ metadata, data }) => (metadata.name === configMapName.rollout ? data : undefined)),
    ),
  ];
  return () => {
    stop.abort();
    for (const end of ends) end();
  };

  function handlerFor<T extends KubeResource>(part: (object: T) => unknown) {
    const look = (object: T) => (part(object) === undefined ? undefined : wakeNext());
    return {
      added: look,
      deleted: look,
      updated: (old: T, now: T) => (JSON.stringify(part(old)) === JSON.stringify(part(now)) ? undefined : wakeNext()),
    };
  }

  /** A request that was refused just now is not woken at once. */
  function wakeNext(refused?: string, isFirstIncluded = false): void {
    if (grants.line.size === 0) return;
    const facts = grants.facts();
    const present = new Set(facts.hosts.flatMap(({ uid, isPaused }) => (isPaused ? [] : [uid])));
    grants.line.prune(uid => present.has(uid), clock.monotonicMs());
    const now = { ...facts, waiting: grants.line.list() };
    const first = isFirstIncluded ? inOrder(now).slice(0, 1) : [];
    for (const request of new Set([...nextRequests(now), ...first])) {
      if (request.uid === refused) continue;
      grants.line.woken(request.uid, clock.monotonicMs());
      listener(request);
    }
  }

  async function keepAsking(): Promise<void> {
    if (isTimed) return;
    isTimed = true;
    try {
      while (grants.line.size > 0) {
        await clock.sleep(askEveryMs, stop.signal);
        wakeNext(undefined, true);
        for (const request of misinformed(grants)) listener(request);
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      isTimed = false;
    }
  }
}

/**
 * Hosts that were told to wait for something else. They are told once for all changes of half a minute, or hundreds would write their
 * status at every step of a roll-out. What Machines wait for is an event, which is not repeated.
 */
function misinformed(grants: BudgetGrants): GrantRequest[] {
  const whys = whysOf({ ...grants.facts(), waiting: grants.line.list() });
  return grants.line.misinformed(whys).filter(({ journey }) => journey !== 'replace');
}

function isWindows({ metadata }: Node): boolean {
  return isWindowsNode({ labels: metadata.labels ?? {} });
}
