import { normalHostName } from '#base/dns-name.ts';
import {
  boundNode,
  byNode,
  indexByNode,
  type WindowsInstance,
  windowsInstances,
} from '#cluster/windows-instance-resource.ts';
import { configMapName, prefix } from '#contract/names.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import type { Connect } from '#host/host.ts';
import type { Resolver } from '#host/resolver.ts';
import { Controller } from '#kube/controller/controller.ts';
import { changed, type Predicate } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { type Watch, watching } from '#kube/controller/watches.ts';
import { Drainer } from '#kube/drain/drain.ts';
import { type Key, keyOf } from '#kube/resource.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import { BundleHashCache } from '#node/bundle-hash-cache.ts';
import { createClusterNodes } from '#node/lifecycle/cluster-nodes.ts';
import { pausedStatus, readyStatus, type StatusChange, type StatusStamp } from '#node/lifecycle/instance-status.ts';
import { type MachineNames, NodeNames } from '#node/lifecycle/node-names.ts';
import { Slots } from '#base/waiting/slots.ts';
import { StatusWriter } from '#node/lifecycle/status-writer.ts';
import type { LifecycleDeps, HostInputSource } from '#node/lifecycle/deps.ts';
import type { PayloadSource } from '#node/payload-source.ts';
import { createHostKeyStore } from '#node/host-keys/host-key-store.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { patchCondition } from '#cluster/patch-instance.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { sourceOf, subjectOf } from '#cluster/instance-source.ts';
import { Acceptance, acceptedCondition, isRejected, rejectionEvent } from './act/acceptance.ts';
import { decide, type Decision, quietMs, type LifecycleFacts } from './decide.ts';
import { configureKind, type JoinParts, getFresh, reconnectKind, runJourney } from './act/run-journey.ts';
import { addressConflicts, setupEvents } from './events.ts';
import { retryTimes } from './retry.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances/status'], verbs: ['patch'] },
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: [...reading, 'patch'] },
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: ['get'] },
  { in: 'own namespace', group: '', resources: ['events'], verbs: ['create', 'patch'] },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: [...reading, 'patch'] },
  // Before a reboot that variables and certificates ask for.
  { in: 'cluster', group: '', resources: ['pods'], verbs: ['list'] },
  { in: 'cluster', group: '', resources: ['pods/eviction'], verbs: ['create'] },
  { in: 'cluster', group: 'policy', resources: ['poddisruptionbudgets'], verbs: ['list'] },
];

export interface LifecycleParts extends ControllerParts {
  connect: Connect;
  resolver: Pick<Resolver, 'addresses'>;
  inputs: HostInputSource;
  payload: PayloadSource;
  limits?: Partial<LifecycleLimits>;
  /** Further causes to look at instances again, such as a private key that has come. */
  watches?: readonly Watch[];
  /** Names that the cloud has given to a Machine. */
  machineNames?: MachineNames;
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

const defaultLimits: LifecycleLimits = { joins: 20, uploads: 5, hosts: 200 };

/** Every step has its own limit; this is for what nobody has thought of. */
const journeyMs = 6 * 3_600_000;

/** Brings each WindowsInstance to what it should be, many at a time and none because of another. */
export function lifecycleController(parts: LifecycleParts): Controller {
  const { informers, namespace, random, watches = [] } = parts;
  const limits = { ...defaultLimits, ...parts.limits };
  const instances = informers.get(windowsInstances, { namespace });
  const nodeSource = informers.get(nodes);
  const maps = informers.get(configMaps, { namespace, fieldSelector: `metadata.name=${configMapName.instances}` });
  const acceptance = new Acceptance({ ...parts, instances, maps });
  const deps = createDeps(parts, limits);
  const conflicts = new EventDeduper(parts);
  const isAcceptanceStale = (instance: WindowsInstance) =>
    isEntry(instance) && acceptedCondition(instance, acceptance.knownProblem(instance)) !== undefined;
  const keysOfNode = (node: Node): Key[] => instancesOf(node, instances.store.list()).map(keyOf);
  return new Controller({
    ...parts,
    name: 'lifecycle',
    concurrency: limits.hosts,
    passTimeoutMs: journeyMs,
    queue: { ...retryTimes, ...(random && { random }) },
    watches: [
      watching({
        source: instances,
        predicate: relevantChanges,
        keys: instance => [instance, ...acceptance.rivalsOf(instance)].map(keyOf),
      }),
      // Only where an edit changes the acceptance: an edit of one entry must not end the backoff of all others.
      watching({ source: maps, keys: () => instances.store.list().filter(isAcceptanceStale).map(keyOf) }),
      watching({ source: nodeSource, predicate: nodeChanges, keys: keysOfNode }),
      ...watches,
    ],
    reconcile: async (key, pass) => {
      const instance = instances.store.get(key);
      return instance === undefined
        ? done
        : reconcile(instance, { ...parts, deps, instances, acceptance, conflicts }, pass);
    },
  });
}

type Work = LifecycleParts & {
  deps: LifecycleDeps;
  instances: JoinParts['instances'];
  acceptance: Acceptance;
  /** Reports each address conflict once. */
  conflicts: EventDeduper;
};

async function reconcile(instance: WindowsInstance, work: Work, pass: Pass): Promise<Outcome> {
  if (instance.metadata.deletionTimestamp !== undefined) return done;
  const seen = await look(instance, work, pass);
  await reportAcceptance(seen, work, pass);
  const outcome = await act(seen, work, pass);
  return seen.problem === undefined ? outcome : after(recheckMs, seen.problem.message);
}

/** For what no watch reports: a Secret that was created, a name that resolves to another address. */
const recheckMs = 30_000;

async function look(instance: WindowsInstance, work: Work, { signal }: Pick<Pass, 'signal'>): Promise<LifecycleFacts> {
  const { deps, version, clock, acceptance } = work;
  const problem = acceptance.knownProblem(instance);
  const seen = { instance, node: nodeOf(instance, deps), version, nowMs: clock.now(), problem };
  // Secret and DNS cost requests, and a host that is left alone needs neither.
  const isChanged = instance.status?.observedGeneration !== instance.metadata.generation;
  const isAsked = isChanged || isRejected(instance) || isJourney(decide(seen));
  return problem === undefined && isAsked ? { ...seen, problem: await acceptance.problem(instance, signal) } : seen;
}

async function act(seen: LifecycleFacts, work: Work, pass: Pass): Promise<Outcome> {
  const { instance } = seen;
  const next = decide(seen);
  switch (next.do) {
    case 'leave':
      pass.log.info('Skipping host', { why: next.why });
      return done;
    case 'pause':
      return patchStatus(instance, pausedStatus, work, pass);
    case 'configure':
    case 'reconnect':
      return journey(instance, work, pass);
    case 'release':
    case 'report':
      return rest(instance, next, work, pass);
    default:
      return next satisfies never;
  }
}

/** The condition is the memory: an event is recorded only when it changes. */
async function reportAcceptance({ instance, problem }: LifecycleFacts, work: Work, pass: Pass): Promise<void> {
  const condition = acceptedCondition(instance, problem);
  if (condition === undefined) return;
  pass.log.info('Patching condition Accepted', { status: condition.status, reason: condition.reason });
  await patchCondition(instance, condition, { ...work, ...pass }, problem === undefined ? 'Pending' : 'Failed');
  if (problem !== undefined) work.recorder.record(subjectOf(instance), rejectionEvent(instance, problem));
}

function isJourney(next: Decision): next is Extract<Decision, { do: 'configure' | 'reconnect' }> {
  return next.do === 'configure' || next.do === 'reconnect';
}

/** Decided once more by what the server has: a reboot or a certificate that was recorded a moment ago must not be overlooked. */
async function journey(cached: WindowsInstance, work: Work, pass: Pass): Promise<Outcome> {
  const instance = await getFresh(cached, work, pass.signal);
  if (instance === undefined) return done;
  const { deps, version, clock, acceptance } = work;
  const problem = acceptance.knownProblem(instance);
  const next = decide({ instance, node: nodeOf(instance, deps), version, nowMs: clock.now(), problem });
  if (!isJourney(next)) return after(staleMs, 'the record has changed');
  if (next.do === 'reconnect') {
    pass.log.info('Reconnecting agent', { why: next.why });
    // Pods need not wait for a host that perhaps does not answer.
    if (next.held !== undefined) await work.deps.nodes.release(next.held.name, pass.signal);
  }
  await runJourney(instance, next.do === 'configure' ? configureKind : reconnectKind, work, pass);
  return after(staleMs, 'the credentials of the agent are looked at again');
}

const staleMs = 1000;

async function rest(
  instance: WindowsInstance,
  { do: what, node }: Extract<Decision, { node: NodeView }>,
  work: Work,
  pass: Pass,
): Promise<Outcome> {
  const { deps, version, recorder, clock } = work;
  if (what === 'release') await deps.nodes.release(node.name, pass.signal);
  if (await wasCutShort(instance, work, pass.signal)) {
    for (const { object, text } of setupEvents(instance)) recorder.record(object, text);
  }
  const conflicts = addressConflicts(instance, node.name, deps.nodes.list());
  work.conflicts.report(instance.metadata.uid ?? '', subjectOf(instance), conflicts);
  await patchStatus(instance, stamp => readyStatus(node, version, stamp), work, pass);
  const ms = quietMs({ instance, nowMs: clock.now() });
  return ms === undefined ? done : after(ms, 'then the certificate of the agent ends');
}

function nodeOf(instance: WindowsInstance, { nodes: cluster }: LifecycleDeps): NodeView | undefined {
  const name = boundNode(instance);
  return name === undefined ? undefined : cluster.get(name);
}

/** The host is configured but the final status write was lost. The cache may be older than that write. */
async function wasCutShort(instance: WindowsInstance, work: Work, signal: AbortSignal): Promise<boolean> {
  if (instance.status?.phase !== 'Configuring') return false;
  return (await getFresh(instance, work, signal))?.status?.phase === 'Configuring';
}

async function patchStatus(
  instance: WindowsInstance,
  statusAt: (stamp: StatusStamp) => StatusChange,
  work: Work,
  pass: Pass,
): Promise<Outcome> {
  const { client, clock } = work;
  const change = () => statusAt({ generation: instance.metadata.generation, nowMs: clock.now() });
  await new StatusWriter(instance, { client, clock, log: pass.log, change }).write();
  return done;
}

function createDeps(parts: LifecycleParts, { joins, uploads }: LifecycleLimits): LifecycleDeps {
  const { client, informers, namespace, connect, resolver, inputs, payload, machineNames, clock, log, metrics } = parts;
  const instances = informers.get(windowsInstances, { namespace });
  instances.addIndex(byNode, indexByNode);
  return {
    connect,
    resolver,
    inputs,
    payload,
    nodes: createClusterNodes({
      client,
      nodes: informers.get(nodes),
      configMaps: informers.get(configMaps, { namespace }),
      namespace,
      drainer: new Drainer({ client, clock, log }),
    }),
    hostKeys: createHostKeyStore(parts),
    slots: { joins: new Slots(joins), uploads: new Slots(uploads) },
    bundleHashes: new BundleHashCache(),
    names: new NodeNames({
      holders: name => instances.store.byIndex(byNode, name),
      instances: () => instances.store.list(),
      find: instance => instances.store.get(keyOf(instance)),
      ...(machineNames && { machines: machineNames }),
    }),
    clock,
    log,
    metrics,
  };
}

/** Everything else in the status is written by the lifecycle itself. */
const relevantChanges = changed(({ metadata, status }: WindowsInstance) => [
  metadata.generation,
  metadata.deletionTimestamp,
  status?.ipv4,
  status?.host !== undefined && status.hostKey !== undefined,
  isRejected({ metadata, status } as WindowsInstance),
]);

function isEntry(instance: WindowsInstance): boolean {
  return sourceOf(instance)?.kind === 'ConfigMap';
}

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

/** By name; by address only because a Node with the address of another one is reported. */
function instancesOf({ metadata, status }: Node, instances: readonly WindowsInstance[]): WindowsInstance[] {
  const addresses = new Set(status?.addresses?.map(({ address }) => normalHostName(address)));
  return instances.filter(
    instance =>
      boundNode(instance) === metadata.name ||
      [instance.spec.address, ...(instance.status?.host?.addresses ?? [])].some(each =>
        addresses.has(normalHostName(each)),
      ),
  );
}
