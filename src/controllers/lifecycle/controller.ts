import { type InstanceObject, windowsInstances } from '#cluster/windows-instances.ts';
import { prefix } from '#contract/names.ts';
import { isWindowsNode } from '#contract/node.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import type { Connect } from '#host/host.ts';
import type { Resolver } from '#host/resolver.ts';
import { Controller } from '#kube/controller/controller.ts';
import type { Predicate } from '#kube/controller/predicate.ts';
import { done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { type Watch, watching } from '#kube/controller/watches.ts';
import { Drainer } from '#kube/drain/drain.ts';
import { type Key, keyOf } from '#kube/resource.ts';
import { events, type Node, nodes } from '#kube/resources.ts';
import { BundleSeals } from '#node/bundle-seals.ts';
import { agentEvents, createClusterNodes } from '#node/lifecycle/cluster-nodes.ts';
import { atRest, paused, type StatusChange } from '#node/lifecycle/instance-status.ts';
import { addressesOf, findInstanceNode } from '#node/lifecycle/node-watch.ts';
import type { HearName } from '#node/lifecycle/heard-names.ts';
import { Slots } from '#node/lifecycle/slots.ts';
import { StatusWriter } from '#node/lifecycle/status-writer.ts';
import type { LifecycleWorld, MaterialSource } from '#node/lifecycle/world.ts';
import type { PayloadSource } from '#node/payload-source.ts';
import { createHostKeyStore } from '../host-keys/store.ts';
import type { ControllerParts } from '../parts.ts';
import { type Permission, reading } from '../permissions.ts';
import { decide, refusalOf } from './decide.ts';
import { join, readNow } from './join.ts';
import { setupRemarks } from './remarks.ts';
import { retryTimes } from './retry.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances/status'], verbs: ['patch'] },
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: ['get', 'create', 'patch'] },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: [...reading, 'patch'] },
  { in: { namespace: agentEvents.namespace }, group: '', resources: ['events'], verbs: reading },
  // Before a reboot that variables and certificates ask for.
  { in: 'cluster', group: '', resources: ['pods'], verbs: ['list'] },
  { in: 'cluster', group: '', resources: ['pods/eviction'], verbs: ['create'] },
  { in: 'cluster', group: 'policy', resources: ['poddisruptionbudgets'], verbs: ['list'] },
];

export interface LifecycleParts extends ControllerParts {
  connect: Connect;
  resolver: Pick<Resolver, 'addresses'>;
  material: MaterialSource;
  payload: PayloadSource;
  limits?: Partial<LifecycleLimits>;
  /** Further causes to look at instances again, such as a private key that has come. */
  watches?: readonly Watch[];
  onHostName?: HearName;
  random?: () => number;
}

export interface LifecycleLimits {
  /** Hosts that are set up at once. */
  joins: number;
  /** Hosts to which files are uploaded at once. */
  uploads: number;
  /** Hosts that are connected to at all, those that wait for their turn or for the cluster included. */
  hosts: number;
}

const usualLimits: LifecycleLimits = { joins: 20, uploads: 5, hosts: 200 };

/** Every step has its own limit; this is for what nobody has thought of. */
const journeyMs = 6 * 3_600_000;

/** Brings each WindowsInstance to what it should be, many at a time and none because of another. */
export function lifecycleController(parts: LifecycleParts): Controller {
  const { informers, namespace, random, watches = [] } = parts;
  const limits = { ...usualLimits, ...parts.limits };
  const instances = informers.get(windowsInstances, { namespace });
  const nodeSource = informers.get(nodes);
  const world = worldOf(parts, limits);
  const keysOfNode = (node: Node): Key[] => instancesOf(node, instances.store.list()).map(keyOf);
  return new Controller({
    ...parts,
    name: 'lifecycle',
    concurrency: limits.hosts,
    passTimeoutMs: journeyMs,
    queue: { ...retryTimes, ...(random && { random }) },
    watches: [
      watching({ source: instances, predicate: wantedChanges }),
      watching({ source: nodeSource, predicate: nodeChanges, keys: keysOfNode }),
      ...watches,
    ],
    reconcile: async (key, pass) => {
      const instance = instances.store.get(key);
      return instance === undefined ? done : reconcile(instance, { ...parts, world, instances }, pass);
    },
  });
}

type Work = LifecycleParts & { world: LifecycleWorld; instances: Parameters<typeof join>[1]['instances'] };

async function reconcile(instance: InstanceObject, work: Work, pass: Pass): Promise<Outcome> {
  const { world, version, recorder, clock } = work;
  const node = findInstanceNode(addressesOf(instance), world.nodes.list());
  const next = decide({ instance, node, version, nowMs: clock.now() });
  const told = () => ({ generation: instance.metadata.generation, nowMs: clock.now() });
  switch (next.do) {
    case 'leave':
      pass.log.info('Nothing is done to the host', { why: next.why });
      return done;
    case 'pause':
      return say(instance, () => paused(told()), work, pass);
    case 'configure':
      await join(instance, work, pass);
      return done;
    case 'release':
    case 'report':
      if (next.do === 'release') await world.nodes.release(next.node.name, pass.signal);
      if (await wasCutShort(instance, work, pass.signal)) {
        for (const { object, text } of setupRemarks(instance)) recorder.record(object, text);
      }
      return say(instance, () => atRest(next.node, version, told()), work, pass);
    default:
      return next satisfies never;
  }
}

/** The journey had done all but to tell of it. What the watch has may be of a moment before it told. */
async function wasCutShort(instance: InstanceObject, work: Work, signal: AbortSignal): Promise<boolean> {
  if (instance.status?.phase !== 'Configuring') return false;
  return (await readNow(instance, work, signal))?.status?.phase === 'Configuring';
}

async function say(instance: InstanceObject, change: () => StatusChange, work: Work, pass: Pass): Promise<Outcome> {
  const { client, clock } = work;
  await new StatusWriter(instance, { client, clock, log: pass.log, change }).write();
  return done;
}

function worldOf(parts: LifecycleParts, { joins, uploads }: LifecycleLimits): LifecycleWorld {
  const { client, informers, connect, resolver, material, payload, onHostName, clock, log, metrics } = parts;
  return {
    connect,
    resolver,
    material,
    payload,
    nodes: createClusterNodes({
      client,
      nodes: informers.get(nodes),
      remarks: informers.get(events, agentEvents),
      drainer: new Drainer({ client, clock, log }),
    }),
    hostKeys: createHostKeyStore(parts),
    slots: { joins: new Slots(joins), uploads: new Slots(uploads) },
    seals: new BundleSeals(),
    ...(onHostName && { onHostName }),
    clock,
    log,
    metrics,
  };
}

/** What is wanted changes with the generation, or with its acceptance; everything else we have written ourselves. */
const wantedChanges: Predicate<InstanceObject> = {
  updated: (old, now) =>
    now.metadata.generation !== old.metadata.generation ||
    now.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    refusalOf(now)?.code !== refusalOf(old)?.code,
};

/** Heartbeats and images of Nodes are nothing to us. */
const nodeChanges: Predicate<Node> = {
  added: isWindows,
  deleted: isWindows,
  updated: (old, now) => isWindows(now) && JSON.stringify(relevantOf(old)) !== JSON.stringify(relevantOf(now)),
};

function isWindows({ metadata }: Node): boolean {
  return isWindowsNode({ labels: metadata.labels ?? {} });
}

function relevantOf({ metadata, spec, status }: Node): unknown {
  const ours = Object.entries(metadata.annotations ?? {}).filter(([name]) => name.startsWith(`${prefix}/`));
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return [metadata.labels?.['kubernetes.io/os'], ours, spec?.unschedulable, ready, status?.addresses];
}

function instancesOf({ metadata, status }: Node, instances: readonly InstanceObject[]): InstanceObject[] {
  const addresses = new Set(status?.addresses?.map(({ address }) => address.toLowerCase()));
  return instances.filter(
    instance =>
      instance.status?.node === metadata.name ||
      addressesOf(instance).some(address => addresses.has(address.toLowerCase())),
  );
}
