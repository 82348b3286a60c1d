import { setTimeout as delay } from 'node:timers/promises';
import { hasConditionStatus } from '../../src/base/condition.ts';
import { nodeLabel } from '../../src/contract/names.ts';
import { isAlreadyExists, unless } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import type { WatchEvent } from '../../src/kube/resource.ts';
import { type Node, nodes, type Pod, pods } from '../../src/kube/resources.ts';
import { recordNodes } from './node-history.ts';
import { recordObjects } from './object-history.ts';

/** How often a Node was taken out of service, and its pods evicted, and whether the latter only while it was. */
export interface NodeStory {
  cordons: number;
  evictions: number;
  /** Evictions of pods while the Node was not cordoned, or not marked as being upgraded. */
  strays: number;
}

/** One pod on every Windows Node that is in service; an evicted one comes back when the Node does. */
export interface NodeWorkload extends AsyncDisposable {
  readonly nodeEvents: readonly WatchEvent<Node>[];
  /** Waits until every Node has its pod. */
  complete(): Promise<void>;
  stories(): Record<string, NodeStory>;
}

const namespace = 'default';
const everyMs = 50;

export async function startNodeWorkload(client: Client): Promise<NodeWorkload> {
  const nodeHistory = await recordNodes(client);
  const podHistory = await recordObjects(client, pods, { namespace });
  const ending = new AbortController();
  let made = 0;
  /** Nodes without a pod, in each look. */
  const looks: number[] = [];
  const running = (async () => {
    while (!ending.signal.aborted) {
      const { items } = await client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` });
      const present = new Set((await client.list(pods, { namespace })).items.map(({ spec }) => spec?.nodeName));
      const bare = items.filter(({ metadata }) => !present.has(metadata.name));
      looks.push(bare.length);
      for (const node of bare.filter(isInService)) {
        made += 1;
        await client.create(pods, podOn(node.metadata.name ?? '', made)).catch(unless(isAlreadyExists));
      }
      await delay(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    nodeEvents: nodeHistory.events,
    async complete() {
      const from = looks.length;
      while (!looks.slice(from).includes(0)) await delay(everyMs);
    },
    stories: () => storiesOf(nodeHistory.events, podHistory.events),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
      await nodeHistory[Symbol.asyncDispose]();
      await podHistory[Symbol.asyncDispose]();
    },
  };
}

function isInService({ spec, status }: Node): boolean {
  return spec?.unschedulable !== true && hasConditionStatus(status?.conditions, 'Ready', 'True');
}

function podOn(nodeName: string, number: number): Pod {
  const spec = { nodeName, containers: [{ name: 'app', image: 'app' }], terminationGracePeriodSeconds: 0 };
  return { metadata: { name: `app-${number}`, namespace }, spec };
}

function storiesOf(
  nodeEvents: readonly WatchEvent<Node>[],
  podEvents: readonly WatchEvent<Pod>[],
): Record<string, NodeStory> {
  const names = new Set(nodeEvents.map(({ object }) => object.metadata.name ?? ''));
  const isGone = ({ type }: WatchEvent<Pod>) => type === 'DELETED';
  return Object.fromEntries(
    [...names].map(name => {
      const states = nodeEvents.flatMap(({ object }) => (object.metadata.name === name ? [object] : []));
      const gone = podEvents.filter(isGone).flatMap(({ object }) => (object.spec?.nodeName === name ? [object] : []));
      const story: NodeStory = {
        cordons: states.filter((state, at) => isOut(state) && !isOut(states[at - 1])).length,
        evictions: gone.length,
        strays: gone.filter(pod => !isUpgraded(states.findLast(state => isEarlier(state, pod)))).length,
      };
      return [name, story];
    }),
  );
}

function isOut(node: Node | undefined): boolean {
  return node?.spec?.unschedulable === true;
}

function isUpgraded(node: Node | undefined): boolean {
  return isOut(node) && node?.metadata.labels?.[nodeLabel.upgrading] === 'true';
}

/** The sandbox counts all changes of all objects in one sequence. */
function isEarlier(one: { metadata: { resourceVersion?: string } }, other: typeof one): boolean {
  return Number(one.metadata.resourceVersion) < Number(other.metadata.resourceVersion);
}
