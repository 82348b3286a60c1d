import { isAppError } from '#base/errors.ts';
import { recordEvent } from '#cluster/instance-events.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import type { InstancePhase, JourneyName } from '#contract/windows-instance/resource.ts';
import type { Client } from '#kube/client.ts';
import type { Pass } from '#kube/controller/reconcile.ts';
import type { EventRecorder } from '#kube/events/events.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { keyOf } from '#kube/resource.ts';
import { ConfigureJourney } from '#node/lifecycle/configure/journey.ts';
import { kubeletCondition } from '#node/lifecycle/configure/reach-kubelet.ts';
import { adopt, configure, reconnect } from '#node/lifecycle/configure/steps.ts';
import { JourneyRecord } from '#node/lifecycle/journey-record.ts';
import { asAppError, type StepRun } from '#node/lifecycle/step.ts';
import type { LifecycleDeps } from '#node/lifecycle/deps.ts';
import type { Acceptance } from './acceptance.ts';
import { adoptionEvent, failureEvents, isTransientFailure, setupEvent } from '../events.ts';
import { longestRetryMs } from '../retry.ts';

export interface JourneyParts {
  deps: LifecycleDeps;
  client: Client;
  recorder: Pick<EventRecorder, 'record'>;
  instances: Pick<Informer<WindowsInstance>, 'store' | 'follow'>;
  acceptance: Pick<Acceptance, 'follow'>;
  /** Of this operator. */
  version: string;
}

/** A list of steps, with the phase while it runs and the event at its end. */
export interface JourneyKind {
  name: JourneyName;
  run: (journey: ConfigureJourney, run: StepRun) => Promise<void>;
  phase: InstancePhase;
  /** Logged at its end. */
  message: string;
  event: (instance: WindowsInstance, journey: ConfigureJourney) => EventText;
}

export const configureKind: JourneyKind = {
  name: 'configure',
  run: configure,
  phase: 'Configuring',
  message: 'Instance has been configured as a worker node',
  event: setupEvent,
};

export const adoptKind: JourneyKind = {
  name: 'adopt',
  run: adopt,
  phase: 'Adopting',
  message: 'Adopted node',
  event: adoptionEvent,
};

export const reconnectKind: JourneyKind = {
  name: 'reconnect',
  run: reconnect,
  phase: 'Reconnecting',
  message: 'Reconnected agent',
  event: ({ spec }) => eventText.agentReconnected(spec.address),
};

/** Each of `configure` and `adopt` may turn out to be the other. */
function kindAtEnd(kind: JourneyKind, { adoption }: ConfigureJourney): JourneyKind {
  if (adoption !== undefined) return adoptKind;
  return kind === adoptKind ? configureKind : kind;
}

/**
 * Runs the journey from where an earlier attempt ended. Rejects when it fails, with the failure in the status. When the instance is
 * deleted or changed, it returns, and the next pass starts with the new state.
 */
export async function runJourney(
  instance: WindowsInstance,
  { kind, cause }: { kind: JourneyKind; cause: string },
  parts: JourneyParts,
  pass: Pass,
): Promise<void> {
  const { client, instances, acceptance, version, recorder } = parts;
  const deps = { ...parts.deps, log: pass.log };
  const { clock, log, metrics, nodes } = deps;
  using change = followChange(instance, instances);
  const rejection = new AbortController();
  using _rejection = acceptance.follow(instance, () => rejection.abort(changed));
  const signal = AbortSignal.any([pass.signal, change.signal, rejection.signal]);
  const record = new JourneyRecord(instance, {
    client,
    clock,
    log,
    nodes,
    phase: kind.phase,
    journey: { name: kind.name, cause },
  });
  await using journey = new ConfigureJourney(instance, deps, record);
  // Ends before the journey closes its connection: the next leader may write the status by then.
  await using _record = record;
  try {
    await kind.run(journey, { journal: record.journal, signal, clock, log, metrics });
  } catch (thrown) {
    if (isEndOfPass(signal)) return;
    const error = asAppError(thrown);
    const isTransient = isTransientFailure(instance, error, clock.now());
    const events = isTransient ? [] : failureEvents(instance, error);
    for (const { object, text } of events) recorder.record(object, text);
    await record.fail(error, { isTransient, nextAttemptMs: clock.now() + longestRetryMs(pass.attempt) });
    throw error;
  }
  const { node, kubelet } = journey;
  if (isEndOfPass(signal) || node === undefined) return;
  const { message, event } = kindAtEnd(kind, journey);
  log.info(message, { Node: node.name, ...journey.host.usage() });
  recordEvent(recorder, instance, event(instance, journey));
  if (kubelet?.ok === false) recordEvent(recorder, instance, eventText.kubeletUnreachable(kubelet.problem));
  await record.finish(node, version, kubelet === undefined ? [] : [kubeletCondition(kubelet)]);
}

/** A timeout of the pass is a failure; any other abort is intended. */
function isEndOfPass(signal: AbortSignal): boolean {
  return signal.aborted && !isAppError(signal.reason, 'PASS_TIMEOUT');
}

/** Aborted when the instance is deleted or its spec is changed. */
function followChange(
  instance: WindowsInstance,
  instances: JourneyParts['instances'],
): Disposable & { signal: AbortSignal } {
  const change = new AbortController();
  const key = keyOf(instance);
  const look = ({ metadata: { generation = 0, deletionTimestamp } }: WindowsInstance) => {
    // The cache may be older than the instance that was read.
    const isOver = generation > (instance.metadata.generation ?? 0) || deletionTimestamp !== undefined;
    if (isOver) change.abort(changed);
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

const changed = new Error('the instance has changed');
