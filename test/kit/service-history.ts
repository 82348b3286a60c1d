import { setTimeout as delay } from 'node:timers/promises';
import { nodeLabel } from '../../src/contract/names.ts';
import { isExpired } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource, Resource, WatchEvent } from '../../src/kube/resource.ts';
import { type Node, nodes, type Pod, pods } from '../../src/kube/resources.ts';
import { isOutOfService } from './node-history.ts';
import { isReadyPod } from './steady-workload.ts';

/** Every change of pods and Windows Nodes in the order of the server, also across its restarts. */
export interface ServiceHistory extends AsyncDisposable {
  /** After the first moment with so many ready pods. A pod counts while its Node is Ready. */
  figures(replicas: number): ServiceFigures;
}

export interface ServiceFigures {
  /** Changes that were looked at. */
  changes: number;
  fewestReady: number;
  /** Nodes that were cordoned or not Ready at once. */
  mostOut: number;
  /** How often each Node was taken out of service. */
  cordons: Record<string, number>;
}

interface Change {
  revision: number;
  node?: WatchEvent<Node>;
  pod?: WatchEvent<Pod>;
}

export async function recordService(client: Client, namespace: string): Promise<ServiceHistory> {
  const changes: Change[] = [];
  const ending = new AbortController();
  const windows = { labelSelector: `${nodeLabel.os}=windows` };
  const followers = [
    await follow(client, nodes, { scope: windows, signal: ending.signal }, node => add({ node })),
    await follow(client, pods, { scope: { namespace }, signal: ending.signal }, pod => add({ pod })),
  ];
  function add(change: Omit<Change, 'revision'>): void {
    const { object } = change.node ?? change.pod ?? {};
    changes.push({ revision: Number(object?.metadata.resourceVersion), ...change });
  }
  return {
    figures: replicas => figuresOf(changes, replicas),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(followers.map(({ ended }) => ended));
    },
  };
}

interface FollowOptions {
  scope: { namespace?: string; labelSelector?: string };
  signal: AbortSignal;
}

/** Continues where it was when the server comes back; a server that has forgotten that is listed again. */
async function follow<T extends KubeResource>(
  client: Client,
  resource: Resource<T>,
  { scope, signal }: FollowOptions,
  see: (event: WatchEvent<T>) => void,
): Promise<{ ended: Promise<void> }> {
  const list = async () => {
    const { items, metadata } = await client.list(resource, scope);
    for (const object of items) see({ type: 'ADDED', object });
    return metadata?.resourceVersion ?? '';
  };
  let resourceVersion = await list();
  const followOnce = async () => {
    if (resourceVersion === '') resourceVersion = await list();
    for await (const event of client.watch(resource, { ...scope, resourceVersion, timeoutSeconds: 1800, signal })) {
      resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
      see(event);
    }
  };
  const ended = (async () => {
    while (!signal.aborted) {
      await followOnce().catch((error: unknown) => {
        if (isExpired(error)) resourceVersion = '';
      });
      await delay(20, undefined, { signal }).catch(() => undefined);
    }
  })();
  return { ended };
}

function figuresOf(changes: readonly Change[], replicas: number): ServiceFigures {
  const [windows, all] = [new Map<string, Node>(), new Map<string, Pod>()];
  const figures: ServiceFigures = { changes: 0, fewestReady: replicas, mostOut: 0, cordons: {} };
  let wasComplete = false;
  for (const { node, pod } of changes.toSorted((one, other) => one.revision - other.revision)) {
    const before = node === undefined ? undefined : windows.get(nameOf(node));
    if (node !== undefined) keep(windows, node);
    if (pod !== undefined) keep(all, pod);
    const out = new Set([...windows.values()].filter(isOutOfService).map(({ metadata }) => metadata.name));
    const broken = new Set([...windows.values()].filter(isDown).map(({ metadata }) => metadata.name));
    const ready = [...all.values()].filter(each => isReadyPod(each) && !broken.has(each.spec?.nodeName)).length;
    wasComplete ||= ready >= replicas;
    if (!wasComplete) continue;
    figures.changes += 1;
    figures.fewestReady = Math.min(figures.fewestReady, ready);
    figures.mostOut = Math.max(figures.mostOut, out.size);
    if (node?.object.spec?.unschedulable === true && before?.spec?.unschedulable !== true)
      figures.cordons[nameOf(node)] = (figures.cordons[nameOf(node)] ?? 0) + 1;
  }
  return figures;
}

function isDown(node: Node): boolean {
  return isOutOfService({ ...node, spec: {} });
}

function keep<T extends KubeResource>(known: Map<string, T>, event: WatchEvent<T>): void {
  if (event.type === 'DELETED') known.delete(nameOf(event));
  else known.set(nameOf(event), event.object);
}

function nameOf({ object }: WatchEvent<KubeResource>): string {
  return object.metadata.name ?? '';
}
