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
  let missing = Infinity;
  let made = 0;
  const running = (async () => {
    while (!ending.signal.aborted) {
      const { items } = await client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` });
      const present = new Set((await client.list(pods, { namespace })).items.map(({ spec }) => spec?.nodeName));
      const bare = items.filter(({ metadata }) => !present.has(metadata.name));
      missing = bare.length;
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
      for (missing = Infinity; missing > 0; ) await delay(everyMs);
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
  const stories: Record<string, NodeStory> = {};
  for (const { object } of nodeEvents) {
    const { name = '' } = object.metadata;
    const before = nodeEvents.findLast(each => isEarlier(each.object, object) && each.object.metadata.name === name);
    const story = (stories[name] ??= { cordons: 0, evictions: 0, strays: 0 });
    const isOut = object.spec?.unschedulable === true;
    if (isOut && before?.object.spec?.unschedulable !== true) story.cordons += 1;
  }
  for (const { object } of podEvents.filter(({ type }) => type === 'DELETED')) {
    const name = object.spec?.nodeName ?? '';
    const node = nodeEvents.findLast(each => isEarlier(each.object, object) && each.object.metadata.name === name);
    const story = (stories[name] ??= { cordons: 0, evictions: 0, strays: 0 });
    story.evictions += 1;
    const isUpgraded = node?.object.metadata.labels?.[nodeLabel.upgrading] === 'true';
    if (node?.object.spec?.unschedulable !== true || !isUpgraded) story.strays += 1;
  }
  return stories;
}

/** The sandbox counts all changes of all objects in one sequence. */
function isEarlier(one: { metadata: { resourceVersion?: string } }, other: typeof one): boolean {
  return Number(one.metadata.resourceVersion) < Number(other.metadata.resourceVersion);
}
