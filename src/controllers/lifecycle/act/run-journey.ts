import { isAppError } from '#base/errors.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import type { InstancePhase } from '#contract/windows-instance/resource.ts';
import type { Client } from '#kube/client.ts';
import type { Pass } from '#kube/controller/reconcile.ts';
import type { EventRecorder } from '#kube/events/events.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { ConfigureJourney } from '#node/lifecycle/configure/journey.ts';
import { configure, reconnect } from '#node/lifecycle/configure/steps.ts';
import { JourneyRecord } from '#node/lifecycle/journey-record.ts';
import { asAppError, type StepRun } from '#node/lifecycle/step.ts';
import type { LifecycleDeps } from '#node/lifecycle/deps.ts';
import type { Acceptance } from './acceptance.ts';
import {
  adoptedEvents,
  failureEvents,
  type InstanceEvent,
  mayStillCome,
  reconnectedEvents,
  setupEvents,
} from '../events.ts';
import { longestRetryMs } from '../retry.ts';

export interface JoinParts {
  deps: LifecycleDeps;
  client: Client;
  recorder: Pick<EventRecorder, 'record'>;
  instances: Pick<Informer<WindowsInstance>, 'addHandler'>;
  acceptance: Pick<Acceptance, 'follow'>;
  /** Of this operator. */
  version: string;
}

/** A list of steps with what is shown while it runs and recorded at its end. */
export interface JourneyKind {
  run: (journey: ConfigureJourney, run: StepRun) => Promise<void>;
  phase: InstancePhase;
  /** Logged at its end. */
  message: string;
  done: (instance: WindowsInstance, journey: ConfigureJourney) => readonly InstanceEvent[];
}

export const configureKind: JourneyKind = {
  run: configure,
  phase: 'Configuring',
  message: 'Instance has been configured as a worker node',
  done: (instance, { isAdopted }) => (isAdopted ? adoptedEvents(instance) : setupEvents(instance)),
};

export const reconnectKind: JourneyKind = {
  run: reconnect,
  phase: 'Reconnecting',
  message: 'Reconnected agent',
  done: reconnectedEvents,
};

/**
 * Runs the journey from where an earlier attempt ended. Rejects when it fails, with the failure in the status. When the instance is
 * deleted or changed, the journey ends silently: the next pass starts from what is there then.
 */
export async function runJourney(
  instance: WindowsInstance,
  kind: JourneyKind,
  parts: JoinParts,
  pass: Pass,
): Promise<void> {
  const { client, instances, acceptance, version } = parts;
  const deps = { ...parts.deps, log: pass.log };
  const { clock, log, metrics, nodes } = deps;
  using change = followChange(instance, instances);
  const rejection = new AbortController();
  using _rejection = acceptance.follow(instance, () => rejection.abort(changed));
  const signal = AbortSignal.any([pass.signal, change.signal, rejection.signal]);
  await using record = new JourneyRecord(instance, { client, clock, log, nodes, phase: kind.phase });
  await using journey = new ConfigureJourney(instance, deps, record);
  try {
    await kind.run(journey, { journal: record.journal, signal, clock, log, metrics });
  } catch (thrown) {
    if (isEndOfPass(signal)) return;
    const error = asAppError(thrown);
    const isTransient = mayStillCome(instance, error, clock.now());
    if (!isTransient) recordEvents(parts, failureEvents(instance, error));
    await record.fail(error, { isTransient, nextAttemptMs: clock.now() + longestRetryMs(pass.attempt) });
    throw error;
  }
  const { node } = journey;
  if (isEndOfPass(signal) || node === undefined) return;
  log.info(kind.message, { Node: node.name, ...journey.host.usage() });
  recordEvents(parts, kind.done(instance, journey));
  await record.finish(node, version);
}

/** As the server has it: a reboot that was written down a moment ago must not be overlooked. Undefined when it is gone. */
export async function getFresh(
  { metadata }: WindowsInstance,
  { client }: Pick<JoinParts, 'client'>,
  signal: AbortSignal,
): Promise<WindowsInstance | undefined> {
  const { name = '', namespace = '', uid } = metadata;
  const now = await client.find(windowsInstances, name, { namespace, signal });
  return now?.metadata.uid === uid ? now : undefined;
}

/** A pass that took too long has failed; any other end was wanted. */
function isEndOfPass(signal: AbortSignal): boolean {
  return signal.aborted && !isAppError(signal.reason, 'PASS_TIMEOUT');
}

function recordEvents({ recorder }: JoinParts, events: readonly InstanceEvent[]): void {
  for (const { object, text } of events) recorder.record(object, text);
}

/** Aborted when the instance is deleted or its spec is changed. */
function followChange(
  { metadata }: WindowsInstance,
  instances: JoinParts['instances'],
): Disposable & { signal: AbortSignal } {
  const change = new AbortController();
  const isOurs = (other: WindowsInstance) =>
    other.metadata.name === metadata.name && other.metadata.namespace === metadata.namespace;
  const look = (now: WindowsInstance) => {
    if (!isOurs(now)) return;
    const { generation, deletionTimestamp } = now.metadata;
    // What the watch has may be older than what we have read.
    const isOver = (generation ?? 0) > (metadata.generation ?? 0) || deletionTimestamp !== undefined;
    if (isOver) change.abort(changed);
  };
  const end = instances.addHandler({
    added: look,
    updated: (_old, now) => look(now),
    deleted: gone => (isOurs(gone) ? change.abort(changed) : undefined),
  });
  return { signal: change.signal, [Symbol.dispose]: end };
}

const changed = new Error('the instance has changed');
