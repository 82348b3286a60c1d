import {
  boundNode,
  byNode,
  byReport,
  byRollout,
  rolloutKey,
  type WindowsInstance,
} from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';
import { grantedJourneys } from '#contract/rollout-grants.ts';
import { isHeldByPin } from '#contract/windows-instance/upgrade-state.ts';
import { type JourneyName, journeyNames, windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import type { DialTcp } from '#host/dial-tcp.ts';
import type { Connect } from '#host/host.ts';
import type { Resolver } from '#host/resolver.ts';
import { isAppError } from '#base/errors.ts';
import { Controller } from '#kube/controller/controller.ts';
import { after, afterInTurn, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { type Watch, watching } from '#kube/controller/watches.ts';
import { type Key, keyOf, keyText } from '#kube/resource.ts';
import type { ConfigMap, Node } from '#kube/resources.ts';
import type { HostJourney } from '#node/lifecycle/host-journey.ts';
import { pausedStatus } from '#node/lifecycle/instance-status.ts';
import type { MachineNames } from '#node/lifecycle/node-names.ts';
import type { LifecycleDeps, HostInputSource } from '#node/lifecycle/deps.ts';
import { rebootCause } from '#node/lifecycle/reboot/due.ts';
import type { PayloadSource } from '#node/payload-source.ts';
import type { Grants } from '#node/rollout/grants.ts';
import { grantsPermission, type Rollout } from '#node/rollout/rollout.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import type { Leader } from '#kube/leader/leader.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { getFresh, patchConditions } from '#cluster/patch-instance.ts';
import type { Installation } from '#cluster/installation.ts';
import { changedHosts, listedHosts } from '#cluster/instance-entries.ts';
import { bySource, sourceText } from '#cluster/instance-source.ts';
import { successorOf } from '#cluster/instance-removal.ts';
import { recordEvent } from '#cluster/instance-events.ts';
import { acceptedCondition, isRejected, readyConditions } from './condition.ts';
import { decide, type Decision, type Due, type LifecycleFacts } from './decide.ts';
import { cancelIfApplied, restoreRecord } from './act/deleted-instances.ts';
import { removalCause } from './act/removal-cluster.ts';
import {
  adoptKind,
  configureKind,
  type JourneyKind,
  rebootKind,
  reconnectKind,
  removeKind,
  runJourney,
} from './act/run-journey.ts';
import { refreshKind, restartKind } from './act/refresh-kinds.ts';
import { rekeyKind } from './act/rekey-kind.ts';
import { takeFirst } from './act/restart-gate.ts';
import { settingsFacts, watchingSettings } from './act/settings-facts.ts';
import { rollbackKind, upgradeKind } from './act/upgrade-kinds.ts';
import { decideWithinBudget, endUnusedGrant } from './act/within-budget.ts';
import { type ChangeFacts, changeGates, whyUpgrade } from './decide-upgrade.ts';
import { rejectionEvent } from './events.ts';
import { isWatched } from './health.ts';
import {
  hostChanges,
  instancesOf,
  isChanging,
  nodeChanges,
  reportChanges,
  rolloutChanges,
  settingsChanges,
  specChanges,
} from './observe.ts';
import { recheckMs, retryTimes } from './retry.ts';
import { patchStatus, reportConflicts, reportNode, reportWait } from './act/report.ts';
import { createWork, type Work } from './act/work.ts';

export const permissions: readonly Permission[] = [
  {
    in: 'own namespace',
    group: windowsInstanceGroup,
    resources: ['windowsinstances'],
    verbs: ['get', ...reading, 'create', 'patch', 'delete'],
  },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances/status'], verbs: ['patch'] },
  grantsPermission,
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: ['get'] },
  { in: 'own namespace', group: '', resources: ['events'], verbs: ['create', 'patch'] },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: ['get', ...reading, 'patch', 'delete'] },
  // To drain the Node before a reboot or a removal.
  { in: 'cluster', group: '', resources: ['pods'], verbs: ['list'] },
  { in: 'cluster', group: '', resources: ['pods/eviction'], verbs: ['create'] },
  { in: 'cluster', group: 'policy', resources: ['poddisruptionbudgets'], verbs: ['list'] },
];

/** What journeys need of the disruption budget. */
export type LifecycleRollout = Pick<Rollout, 'watchTurns'> & { grants: Grants };

export interface LifecycleParts extends ControllerParts {
  connect: Connect;
  dialTcp: DialTcp;
  resolver: Pick<Resolver, 'addresses'>;
  inputs: HostInputSource;
  payload: PayloadSource;
  limits?: Partial<LifecycleLimits>;
  /** Further triggers, such as a new private key. */
  watches?: readonly Watch[];
  /** Names that the cloud gave to Machines. */
  machineNames?: MachineNames;
  /** The disruption budget; default: one of its own. */
  rollout?: LifecycleRollout;
  installation?: Pick<Installation, 'problem' | 'recentProblem'>;
  /** Default: there is no election. */
  leader?: Leader;
  random?: () => number;
}

export interface LifecycleLimits {
  /** Hosts that are configured at once. */
  joins: number;
  /** Hosts to which files are uploaded at once. */
  uploads: number;
  /** Hosts with an open journey, including those that wait for a slot or for the cluster. */
  hosts: number;
}

const defaultLimits: LifecycleLimits = { joins: 20, uploads: 5, hosts: 200 };

/** Workers beside the journeys, which take hours: a rejected host must be reported at once. */
const shortPasses = 20;

/** Safety net: every step has its own limit. */
const journeyTimeoutMs = 6 * 3_600_000;

/** Configures the host of each WindowsInstance, many at a time and independently of each other. */
export function lifecycleController(parts: LifecycleParts): Controller {
  const { namespace, random, watches = [] } = parts;
  const limits = { ...defaultLimits, ...parts.limits };
  const { work, nodeSource, maps, allMaps, rollout, deleted } = createWork(parts, limits, key =>
    controller.enqueue(key),
  );
  const { instances, acceptance, places } = work;
  const isAcceptanceStale = (instance: WindowsInstance) =>
    acceptedCondition(instance, acceptance.knownProblem(instance)) !== undefined;
  const staleOf = (host: string): Key[] => {
    const entry = instances.store.byIndex(bySource, sourceText({ kind: 'ConfigMap', name: host }));
    return entry.filter(isAcceptanceStale).map(keyOf);
  };
  const changingHosts = (): Key[] =>
    instances.store
      .list()
      .filter(instance => isChanging(instance, parts.version))
      .map(keyOf);
  const watchedOf = ({ metadata }: ConfigMap): Key[] =>
    instances.store
      .byIndex(byReport, metadata.name ?? '')
      .filter(({ status }) => isWatched(status?.upgrade, parts.clock.now()))
      .map(keyOf);
  const keysOfNode = (node: Node): Key[] => instancesOf(node, instances.store).map(keyOf);
  const controller = new Controller({
    ...parts,
    name: 'lifecycle',
    concurrency: limits.hosts + shortPasses,
    passTimeoutMs: journeyTimeoutMs,
    queue: { ...retryTimes, ...(random && { random }) },
    watches: [
      watching({ source: instances, predicate: specChanges, resetsBackoff: true }),
      // Only where the acceptance changes: nothing else may end the backoff of a host.
      watching({
        source: instances,
        predicate: hostChanges,
        keys: instance => acceptance.rivalsOf(instance).filter(isAcceptanceStale).map(keyOf),
      }),
      watching({
        source: maps,
        keys: map => listedHosts(map).flatMap(staleOf),
        changedKeys: (old, map) => changedHosts(old, map).flatMap(staleOf),
      }),
      watching({ source: nodeSource, predicate: nodeChanges, keys: keysOfNode }),
      watching({ source: instances, predicate: rolloutChanges, keys: changingHosts }),
      watching({ source: allMaps, predicate: settingsChanges, keys: changingHosts }),
      watching({ source: allMaps, predicate: reportChanges, keys: watchedOf }),
      ...watchingSettings(parts.inputs, instances),
      rollout.watchTurns(({ instance, journey }) => (journey === 'replace' ? [] : [{ namespace, name: instance }])),
      ...watches,
    ],
    reconcile: async (key, pass) => {
      const instance = instances.store.get(key);
      let isWaiting = false;
      try {
        if (instance === undefined) work.broken.forget(keyText(key));
        const outcome =
          instance === undefined ? await deleted.recreate(key, pass) : await reconcile(instance, work, pass);
        isWaiting = 'keepsBackoff' in outcome;
        return outcome;
      } finally {
        if (!isWaiting) places.leave(key);
      }
    },
  });
  return controller;
}

async function reconcile(instance: WindowsInstance, work: Work, pass: Pass): Promise<Outcome> {
  if (instance.metadata.deletionTimestamp !== undefined) return done;
  const restored = (await cancelIfApplied(instance, work.client, pass)) ?? (await restoreRecord(instance, work, pass));
  if (restored !== undefined) return restored;
  const facts = await observe(instance, work, pass);
  if (facts.removal !== undefined) return act(facts, work, pass);
  await reportAcceptance(facts, work, pass);
  const outcome = await act(facts, work, pass);
  return facts.problem === undefined ? outcome : after(recheckMs, facts.problem.message);
}

/** From caches; reads Secret and DNS only if the host may be configured. */
async function observe(instance: WindowsInstance, work: Work, { signal }: Pass): Promise<LifecycleFacts> {
  await work.deps.inputs.lookAtKey?.(instance, signal);
  const facts = cachedFacts(instance, work);
  if (facts.removal !== undefined) {
    const uninstall = await work.installation.recentProblem(signal);
    return uninstall === undefined ? facts : { ...facts, uninstall };
  }
  const isChanged = instance.status?.observedGeneration !== instance.metadata.generation;
  const needsCheck = isChanged || isRejected(instance) || isJourney(decide(facts));
  if (facts.problem !== undefined || !needsCheck) return facts;
  return { ...facts, problem: await work.acceptance.problem(instance, signal) };
}

function cachedFacts(instance: WindowsInstance, work: Work): LifecycleFacts {
  const { deps, version, clock, acceptance, isLeaving, orphans } = work;
  const problem = acceptance.knownProblem(instance);
  const removal = removalCause(instance);
  const named = work.instances.store.byIndex(byNode, boundNode(instance) ?? '');
  const successor = isLeaving(instance) ? successorOf(instance, named, other => !isLeaving(other)) : undefined;
  const changing = { instance, node: nodeOf(instance, deps), version, nowMs: clock.now() };
  const { gates, ...settings } = settingsFacts(instance, work);
  return {
    ...changing,
    ...settings,
    gates: { ...gatesOf(changing, work), ...gates },
    problem,
    journeys: ownJourneys,
    hasOrphans: orphans.includesNodeOf(instance, deps.names.machineNames(instance)),
    ...(successor !== undefined && { successor: successor.metadata.name ?? '' }),
    ...(removal !== undefined && { removal }),
  };
}

/** Only for hosts with something due: the settings are parsed anew each time. */
function gatesOf(facts: ChangeFacts, { deps, instances, version }: Work): Partial<Record<JourneyName, string>> {
  const isDue = whyUpgrade(facts) !== undefined || rebootCause(facts.instance, facts.node) !== undefined;
  if (!isDue) return {};
  const stoppedBy = instances.store.byIndex(byRollout, rolloutKey.stopped(version)).map(instance => ({
    name: instance.metadata.name ?? '',
    from: instance.status?.upgrade?.from ?? '',
    isPinned: isHeldByPin(instance, version),
  }));
  return changeGates(facts, { settings: deps.grants.settings(), stoppedBy });
}

/** The journeys of this version. */
const kinds: Partial<Record<JourneyName, JourneyStart>> = {
  remove: startOf(removeKind),
  configure: startOf(configureKind),
  adopt: startOf(adoptKind),
  rollback: startOf(rollbackKind),
  upgrade: startOf(upgradeKind),
  reboot: startOf(rebootKind),
  reconnect: startOf(reconnectKind),
  rekey: startOf(rekeyKind),
  refresh: startOf(refreshKind),
  restart: startOf(restartKind),
};

const ownJourneys: ReadonlySet<JourneyName> = new Set(journeyNames.filter(name => kinds[name] !== undefined));

/** Returns what the journey waits for, if it ended before it took its node out of service. */
type JourneyStart = (instance: WindowsInstance, cause: string, work: Work, pass: Pass) => Promise<string | undefined>;

function startOf<J extends HostJourney>(kind: JourneyKind<J>): JourneyStart {
  return (instance, cause, work, pass) => runJourney(instance, { kind, cause }, work, pass);
}

async function act(facts: LifecycleFacts, work: Work, pass: Pass): Promise<Outcome> {
  const { instance } = facts;
  const next = decide(facts);
  if (isJourney(next)) return journey(instance, work, pass);
  switch (next.do) {
    case 'leave':
      // Rejected hosts are checked again every half minute.
      pass.log.debug('Skipping host', { why: next.why });
      return facts.removal === undefined ? done : after(recheckMs, next.why);
    case 'wait':
      return done;
    case 'pause':
      if (next.held !== undefined) await putBack(instance, next.held, work, pass);
      // Also after an attempt that ended between Node and grant.
      else if (facts.node?.unschedulable === false) await work.deps.grants.end(instance, pass.signal);
      return patchStatus(instance, stamp => pausedStatus(stamp, next.next), work, pass);
    case 'discard':
      await work.removal.deleteInstance(instance, pass.signal);
      return done;
    case 'release':
    case 'report':
      return reportNode(instance, next, work, pass);
    default:
      return next satisfies never;
  }
}

/** The drain of the Node was stopped; others need not wait for it. */
async function putBack(instance: WindowsInstance, { name }: NodeView, { deps }: Work, pass: Pass): Promise<void> {
  pass.log.info('Uncordoning Node of a paused host', { Node: name });
  await deps.nodes.release(name, pass.signal);
  await deps.grants.end(instance, pass.signal);
}

/** Records an event only when the condition changes. */
async function reportAcceptance({ instance, problem }: LifecycleFacts, work: Work, pass: Pass): Promise<void> {
  const condition = acceptedCondition(instance, problem);
  if (condition === undefined) return;
  pass.log.info('Patching condition Accepted', { status: condition.status, reason: condition.reason });
  const conditions = [condition, ...readyConditions(instance, problem)];
  await patchConditions(instance, conditions, { ...work, ...pass }, problem === undefined ? 'Pending' : 'Failed');
  if (problem !== undefined) recordEvent(work.recorder, instance, rejectionEvent(instance, problem));
}

function isJourney(next: Decision): next is Due {
  return 'cause' in next;
}

/** Decides again with a fresh read: a reboot or certificate that was just recorded must not be missed. */
async function journey(cached: WindowsInstance, work: Work, pass: Pass): Promise<Outcome> {
  const place = work.places.take(keyOf(cached), pass.attempt > 1 ? 'retry' : 'first');
  if (place === undefined) return afterInTurn(turnMs, 'as many hosts as allowed have a journey');
  using _place = place;
  const instance = await getFresh(cached, work.client, { signal: pass.signal });
  if (instance === undefined) return done;
  const facts = cachedFacts(instance, work);
  using _first = takeFirst(facts, work);
  const next = await decideWithinBudget(facts, work.deps.grants, pass.signal);
  if (!isJourney(next)) return reportHeld(instance, next, work, pass);
  work.broken.forget(keyText(keyOf(instance)));
  if (next.do === 'reconnect') {
    pass.log.info('Reconnecting agent', { why: next.cause });
    // Pods need not wait for a host that may not answer.
    if (next.held !== undefined) await work.deps.nodes.release(next.held.name, pass.signal);
  }
  const { cause } = next;
  if (next.do === 'remove') pass.log.info('Removing host', { why: cause });
  if (next.do === 'refresh' || next.do === 'restart') reportConflicts(instance, work);
  const wait = await start(next.do, instance, cause, work, pass);
  if (next.do === 'rekey') work.marks.ended(instance.metadata.uid ?? '', work.clock.monotonicMs());
  if (wait !== undefined) return after(turnMs, wait);
  if (next.do === 'remove') return after(recheckMs, 'the host was not removed');
  // A removal that was canceled may have had a grant.
  if (next.do === 'configure') await work.deps.grants.end(instance, pass.signal);
  return after(staleMs, 'check the credentials of the agent');
}

/** The budget does not allow the journey now, or the fresh record needs none. */
async function reportHeld(
  instance: WindowsInstance,
  next: Exclude<Decision, Due>,
  work: Work,
  pass: Pass,
): Promise<Outcome> {
  const [wait] = 'waits' in next ? next.waits : [];
  if (wait === undefined) return after(staleMs, 'the record has changed');
  if (next.do === 'wait') return reportWait(instance, next, work, pass);
  if (next.do === 'report' || next.do === 'release') await reportNode(instance, next, work, pass);
  return after(turnMs, wait.why);
}

async function start(
  name: JourneyName,
  ...[instance, cause, work, pass]: Parameters<JourneyStart>
): Promise<string | undefined> {
  const { client, deps } = work;
  try {
    return await kinds[name]?.(instance, cause, work, pass);
  } catch (error) {
    // If this fails, the grant stays and the next attempt has it.
    if (name === 'restart' && !isAppError(error, 'LEADER_STALE'))
      await deps.grants.end(instance, pass.signal).catch(() => undefined);
    else if (grantedJourneys.has(name) && !isAppError(error, 'LEADER_STALE'))
      await endUnusedGrant(instance, { client, grants: deps.grants }, pass.signal).catch(() => undefined);
    throw error;
  }
}

const staleMs = 1000;
/** A host is woken when it is its turn; this is only a safety net. */
const turnMs = 5 * 60_000;

function nodeOf(instance: WindowsInstance, { nodes: cluster }: LifecycleDeps): NodeView | undefined {
  const name = boundNode(instance);
  return name === undefined ? undefined : cluster.get(name);
}
