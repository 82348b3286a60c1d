import { timestamp } from '#base/clock.ts';
import type { NewCondition } from '#base/condition.ts';
import { type AppError, isAppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { recordEvent } from '#cluster/instance-events.ts';
import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { instanceAnnotation } from '#contract/names.ts';
import { instanceCondition, type InstancePhase, type JourneyName } from '#contract/windows-instance/resource.ts';
import type { Client } from '#kube/client.ts';
import type { Pass } from '#kube/controller/reconcile.ts';
import type { EventRecorder } from '#kube/events/events.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { keyOf } from '#kube/resource.ts';
import { ConfigureJourney } from '#node/lifecycle/configure/journey.ts';
import { kubeletCondition } from '#node/lifecycle/configure/reach-kubelet.ts';
import { adopt, configure, reconnect } from '#node/lifecycle/configure/steps.ts';
import type { HostJourney } from '#node/lifecycle/host-journey.ts';
import { conditionReason } from '#node/lifecycle/instance-status.ts';
import { JourneyRecord } from '#node/lifecycle/journey-record.ts';
import { hasLostLead } from '#node/lifecycle/lost-lead.ts';
import { withForceRemedy } from '#node/lifecycle/remove/cluster-steps.ts';
import { type RemovalCluster, RemoveJourney } from '#node/lifecycle/remove/journey.ts';
import { remove } from '#node/lifecycle/remove/steps.ts';
import { appliedSettings, type GivenSettings } from '#node/lifecycle/refresh/setting-record.ts';
import { RebootJourney } from '#node/lifecycle/reboot/journey.ts';
import { reboot } from '#node/lifecycle/reboot/steps.ts';
import { asAppError, type StepRun } from '#node/lifecycle/step.ts';
import type { LifecycleDeps } from '#node/lifecycle/deps.ts';
import type { Acceptance } from './acceptance.ts';
import {
  adoptionEvent,
  failureEvents,
  type InstanceEvent,
  isTransientFailure,
  rebootFailureEvents,
  removalFailureEvents,
  setupEvent,
} from '../events.ts';
import { isUnfinished } from '../decide-upgrade.ts';
import { longestRetryMs } from '../retry.ts';

export interface JourneyParts {
  deps: LifecycleDeps;
  client: Client;
  recorder: Pick<EventRecorder, 'record'>;
  instances: Pick<Informer<WindowsInstance>, 'store' | 'follow'>;
  acceptance: Pick<Acceptance, 'follow'>;
  removal: RemovalCluster;
  /** Of this operator. */
  version: string;
}

/** A list of steps, with the phase while it runs and what is reported at its end. */
export interface JourneyKind<J extends HostJourney> {
  name: JourneyName;
  phase: InstancePhase;
  create: (instance: WindowsInstance, deps: LifecycleDeps, record: JourneyRecord, parts: JourneyParts) => J;
  run: (journey: J, run: StepRun) => Promise<void>;
  /** Whether it ends when the instance is rejected. */
  needsAcceptance: boolean;
  /** The failure as it is reported. */
  failure: (error: AppError, journey: J) => AppError;
  failureEvents: (instance: WindowsInstance, error: AppError) => InstanceEvent[];
  finish: (journey: J, parts: JourneyParts, log: Log) => Promise<void>;
  /** What the journey waits for, if it ended before it took its node out of service. */
  waitsFor?: (journey: J) => string | undefined;
}

interface JoinKind extends JourneyKind<ConfigureJourney> {
  message: string;
  event: (instance: WindowsInstance, journey: ConfigureJourney) => EventText;
}

export const configureKind = joinKind({
  name: 'configure',
  run: configure,
  phase: 'Configuring',
  message: 'Instance has been configured as a worker node',
  event: setupEvent,
});

export const adoptKind = joinKind({
  name: 'adopt',
  run: adopt,
  phase: 'Adopting',
  message: 'Adopted node',
  event: adoptionEvent,
});

export const reconnectKind = joinKind({
  name: 'reconnect',
  run: reconnect,
  phase: 'Reconnecting',
  message: 'Reconnected agent',
  event: ({ spec }) => eventText.agentReconnected(spec.address),
});

export const removeKind: JourneyKind<RemoveJourney> = {
  name: 'remove',
  run: remove,
  phase: 'Removing',
  create: (instance, deps, record, { removal }) => new RemoveJourney(instance, deps, record, removal),
  needsAcceptance: false,
  failure: withForceRemedy,
  failureEvents: removalFailureEvents,
  finish: async ({ refusal, address }, _parts, log) => {
    if (refusal !== undefined) log.info('Not removing host', { address, why: refusal });
  },
};

export const rebootKind: JourneyKind<RebootJourney> = {
  name: 'reboot',
  run: reboot,
  phase: 'Rebooting',
  create: (instance, deps, record) => new RebootJourney(instance, deps, record),
  needsAcceptance: true,
  failure: error => error,
  failureEvents: rebootFailureEvents,
  waitsFor: ({ refusal }) => refusal,
  finish: async (journey, { recorder, version }, log) => {
    const { node, refusal, instance, record, address } = journey;
    if (node === undefined) return;
    if (refusal !== undefined) {
      log.info('Not rebooting host', { address, why: refusal });
      return record.finish(node, version, [waitsForReboot(node.name, refusal)]);
    }
    log.info('Rebooted host', { Node: node.name, ...journey.host.usage() });
    const wasOrdered = journey.hasRebooted || record.reboot !== undefined;
    if (wasOrdered) recordEvent(recorder, instance, eventText.instanceRebooted(address, node.name));
    return record.finish(node, version);
  },
};

/** The Node is in service until then. */
function waitsForReboot(node: string, why: string): NewCondition {
  const { ready: type } = instanceCondition;
  const message = `Node ${node} is in service; its reboot waits: ${why}`;
  return { type, status: 'True', reason: conditionReason.waitsForBudget, message };
}

/** `message` is logged at the end. */
function joinKind(own: Pick<JoinKind, 'name' | 'run' | 'phase' | 'event' | 'message'>): JoinKind {
  return {
    ...own,
    create: (instance, deps, record) => new ConfigureJourney(instance, deps, record),
    needsAcceptance: true,
    failure: error => error,
    failureEvents,
    finish: async (journey, { recorder, version }, log) => {
      const { node, kubelet, prePullProblem, instance, record } = journey;
      if (node === undefined) return;
      const { message, event } = kindAtEnd(own, journey);
      const given = settingsAtEnd(own.name, journey);
      if (given !== undefined)
        record.remember(appliedSettings(given, timestamp(journey.deps.clock.now()), record.known.settings));
      log.info(message, { Node: node.name, ...journey.host.usage() });
      recordEvent(recorder, instance, event(instance, journey));
      if (kubelet?.ok === false) recordEvent(recorder, instance, eventText.kubeletUnreachable(kubelet.problem));
      if (prePullProblem !== undefined) recordEvent(recorder, instance, eventText.prePullTimeout(prePullProblem));
      await record.finish(node, version, kubelet === undefined ? [] : [kubeletCondition(kubelet)]);
    },
  };
}

/** What the host was given. A node in service is not given what needs a restart of its services. */
function settingsAtEnd(name: JourneyName, journey: ConfigureJourney): Partial<GivenSettings> | undefined {
  const { adoption, isPrepared } = journey;
  if (adoption !== undefined || !isPrepared) return undefined;
  const { settings } = journey.prepared.inputs;
  if (name !== 'reconnect') return settings;
  const { services: _services, hasProxy: _proxy, ...live } = settings;
  return journey.isOfOtherVersion ? undefined : live;
}

/** Each of `configure` and `adopt` may turn out to be the other. */
function kindAtEnd(
  own: Pick<JoinKind, 'name' | 'message' | 'event'>,
  { adoption }: ConfigureJourney,
): Pick<JoinKind, 'message' | 'event'> {
  if (adoption !== undefined) return adoptKind;
  return own.name === 'adopt' ? configureKind : own;
}

/**
 * Runs the journey from where an earlier attempt ended. Rejects when it fails, with the failure in the status. When the instance is
 * deleted or changed, it returns, and the next pass starts with the new state. Returns what it waits for, if it has to.
 */
export async function runJourney<J extends HostJourney>(
  instance: WindowsInstance,
  { kind, cause }: { kind: JourneyKind<J>; cause: string },
  parts: JourneyParts,
  pass: Pass,
): Promise<string | undefined> {
  const { client, instances, acceptance, recorder } = parts;
  const deps = { ...parts.deps, log: pass.log };
  const { clock, log, metrics, nodes } = deps;
  using change = followChange(instance, instances);
  const rejection = new AbortController();
  const isFinishing = isUnfinished({ instance, node: nodes.get(boundNode(instance) ?? '') }, kind.name);
  const reject = ({ code }: AppError) => {
    // A node that is out of service comes back, unless another instance has the host.
    if (!isFinishing || code === 'INSTANCE_DUPLICATE') rejection.abort(changed);
  };
  using _rejection = kind.needsAcceptance ? acceptance.follow(instance, reject) : undefined;
  const signal = AbortSignal.any([pass.signal, change.signal, rejection.signal]);
  const { name, phase } = kind;
  const record = new JourneyRecord(instance, { client, clock, log, nodes, phase, journey: { name, cause } });
  await using journey = kind.create(instance, deps, record, parts);
  // Ends before the journey closes its connection: the next leader may write the status by then.
  await using _record = record;
  try {
    await kind.run(journey, { journal: record.journal, signal, clock, log, metrics });
  } catch (thrown) {
    if (isEndOfPass(signal)) return undefined;
    // What a host says must not hide a failure from the status of a leader.
    if (await hasLostLead(thrown, deps, signal)) throw thrown;
    const error = kind.failure(asAppError(thrown), journey);
    const isTransient = isTransientFailure(instance, error, clock.now());
    const events = isTransient ? [] : kind.failureEvents(instance, error);
    for (const { object, text } of events) recorder.record(object, text);
    await record.fail(error, { isTransient, nextAttemptMs: clock.now() + longestRetryMs(pass.attempt) });
    throw error;
  }
  if (isEndOfPass(signal)) return undefined;
  await kind.finish(journey, parts, log);
  return kind.waitsFor?.(journey);
}

/** A timeout of the pass is a failure; any other abort is intended. */
function isEndOfPass(signal: AbortSignal): boolean {
  return signal.aborted && !isAppError(signal.reason, 'PASS_TIMEOUT');
}

/** Aborted when the instance is deleted, its spec is changed, or its removal is requested, canceled or forced. */
function followChange(
  instance: WindowsInstance,
  instances: JourneyParts['instances'],
): Disposable & { signal: AbortSignal } {
  const change = new AbortController();
  const key = keyOf(instance);
  const requests = requestsOf(instance);
  const look = (now: WindowsInstance) => {
    const { generation = 0, deletionTimestamp } = now.metadata;
    // The cache may be older than the instance that was read.
    const isOver = generation > (instance.metadata.generation ?? 0) || deletionTimestamp !== undefined;
    if (isOver || requestsOf(now) !== requests) change.abort(changed);
  };
  const end = instances.follow(key, {
    added: look,
    updated: (_old, now) => look(now),
    deleted: () => change.abort(changed),
  });
  const cached = instances.store.get(key);
  if (cached !== undefined) look(cached);
  return { signal: change.signal, [Symbol.dispose]: end };
}

/** Of administrators and sources, about the removal. */
function requestsOf({ metadata: { annotations = {} } }: WindowsInstance): string {
  const { removal, forceRemoval } = instanceAnnotation;
  return [removal, forceRemoval].map(name => String(Object.hasOwn(annotations, name))).join();
}

const changed = new Error('the instance has changed');
