import { type AppError, isAppError } from '#base/errors.ts';
import { type InstanceObject, windowsInstances } from '#cluster/windows-instance-resource.ts';
import type {
  InstancePhase,
  InstanceReboot,
  InstanceRecord,
  TimelineStep,
} from '#contract/windows-instance/resource.ts';
import type { Client } from '#kube/client.ts';
import type { Pass } from '#kube/controller/reconcile.ts';
import type { EventRecorder } from '#kube/events/events.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { ConfigureJourney, type JourneyMemory } from '#node/lifecycle/configure/journey.ts';
import { configure, reconnect } from '#node/lifecycle/configure/steps.ts';
import { failed, isNewJourney, type JourneyView, joined, onTheWay } from '#node/lifecycle/instance-status.ts';
import { Journal } from '#node/lifecycle/journal.ts';
import { StatusWriter } from '#node/lifecycle/status-writer.ts';
import { asAppError, type StepRun } from '#node/lifecycle/step.ts';
import type { LifecycleWorld } from '#node/lifecycle/world.ts';
import { mergeRecord } from '#node/record.ts';
import { refusalOf } from './decide.ts';
import {
  adoptedRemarks,
  failureRemarks,
  type InstanceRemark,
  mayStillCome,
  reconnectedRemarks,
  setupRemarks,
} from './remarks.ts';
import { longestRetryMs } from './retry.ts';

export interface JoinParts {
  world: LifecycleWorld;
  client: Client;
  recorder: Pick<EventRecorder, 'record'>;
  /** Tells when the instance is no longer the one that is worked on. */
  instances: Pick<Informer<InstanceObject>, 'addHandler'>;
  /** Of this operator. */
  version: string;
}

/** A list of steps with what is shown while it runs and recorded at its end. */
export interface JourneyKind {
  run: (journey: ConfigureJourney, run: StepRun) => Promise<void>;
  phase: InstancePhase;
  /** Logged at its end. */
  message: string;
  done: (instance: InstanceObject, journey: ConfigureJourney) => readonly InstanceRemark[];
}

export const configureKind: JourneyKind = {
  run: configure,
  phase: 'Configuring',
  message: 'Instance has been configured as a worker node',
  done: (instance, { isAdopted }) => (isAdopted ? adoptedRemarks(instance) : setupRemarks(instance)),
};

export const reconnectKind: JourneyKind = {
  run: reconnect,
  phase: 'Reconnecting',
  message: 'Reconnected agent',
  done: reconnectedRemarks,
};

/**
 * Runs the journey from where an earlier attempt has ended. Rejects when it fails, with the failure in the status. When the
 * instance is deleted or changed, the journey ends without a word: the next pass starts from what is there then.
 */
export async function runJourney(
  instance: InstanceObject,
  kind: JourneyKind,
  parts: JoinParts,
  pass: Pass,
): Promise<void> {
  const { client, instances, version } = parts;
  const world = { ...parts.world, log: pass.log };
  const { clock, log, metrics } = world;
  using change = followChange(instance, instances);
  const signal = AbortSignal.any([pass.signal, change.signal]);
  const told = () => ({ generation: instance.metadata.generation, nowMs: clock.now() });
  const state: State = stateOf(instance);
  let say = () => onTheWay(view(), told(), kind.phase);
  const writer = new StatusWriter(instance, { client, clock, log, change: () => say() });
  const journal = new Journal(state.timeline, clock, news => writer.tell(news === 'step' ? 'now' : 'soon'));
  const memory = memoryOf(state, () => writer.write());
  await using journey = new ConfigureJourney(instance, world, memory);
  const view = (): JourneyView => ({
    journal,
    reboot: state.reboot,
    // Only where the host with the pinned key has answered: a DNS record proves nothing.
    ipv4: journey.hostKey === undefined ? undefined : journey.ipv4,
    node: recordedNode(journey),
    record: state.changes,
  });
  const fail = async (why: AppError): Promise<never> => {
    const isPatient = mayStillCome(instance, why, clock.now());
    const nextAttemptMs = clock.now() + longestRetryMs(pass.attempt);
    say = () => failed(view(), why, isPatient, { ...told(), nextAttemptMs });
    if (!isPatient) record(parts, failureRemarks(instance, why));
    await writer.write().catch((error: unknown) => log.warn('Failure could not be written', { error }));
    throw why;
  };
  try {
    await kind
      .run(journey, { journal, signal, clock, log, metrics })
      .catch((thrown: unknown) => (isEndOfPass(signal) ? undefined : fail(asAppError(thrown))));
    const { node } = journey;
    if (isEndOfPass(signal) || node === undefined) return;
    log.info(kind.message, { Node: node.name, ...journey.host.usage() });
    say = () => joined(view(), node, version, told());
    record(parts, kind.done(instance, journey));
    await writer.write();
  } finally {
    await writer.end();
  }
}

/** A name that is only claimed may still turn out to be that of another Node. */
function recordedNode({ memory, node }: ConfigureJourney): string | undefined {
  return node?.name === memory.record.host?.name ? node?.name : undefined;
}

/** As the server has it: a reboot that was written down a moment ago must not be overlooked. Undefined when it is gone. */
export async function getFresh(
  { metadata }: InstanceObject,
  { client }: Pick<JoinParts, 'client'>,
  signal: AbortSignal,
): Promise<InstanceObject | undefined> {
  const { name = '', namespace = '', uid } = metadata;
  const now = await client.find(windowsInstances, name, { namespace, signal });
  return now?.metadata.uid === uid ? now : undefined;
}

/** A pass that took too long has failed; any other end was wanted. */
function isEndOfPass(signal: AbortSignal): boolean {
  return signal.aborted && !isAppError(signal.reason, 'PASS_TIMEOUT');
}

interface State {
  timeline: readonly TimelineStep[];
  reboot: InstanceReboot | undefined;
  /** What was recorded of the host before. */
  record: InstanceRecord;
  /** What this attempt has recorded on top of it. */
  changes: InstanceRecord;
}

function stateOf(instance: InstanceObject): State {
  const { status = {} } = instance;
  const record = { record: status, changes: {} };
  if (isNewJourney(instance)) return { timeline: [], reboot: undefined, ...record };
  return { timeline: status.timeline ?? [], reboot: status.reboot, ...record };
}

function memoryOf(state: State, write: () => Promise<void>): JourneyMemory {
  const step = (name: string) => state.timeline.find(one => one.name === name);
  return {
    get reboot() {
      return state.reboot;
    },
    async rememberReboot(reboot) {
      state.reboot = reboot;
      await write();
    },
    get record() {
      return { ...state.record, ...mergeRecord(state.record, state.changes) };
    },
    async remember(change) {
      state.changes = { ...state.changes, ...change };
      await write();
    },
    // A Node that did not come although it was waited for will not come later either.
    awaitsNode: step('bootstrap') !== undefined && step('find node')?.lastError === undefined,
    installsAgent: step('agent service') !== undefined,
  };
}

function record({ recorder }: JoinParts, remarks: readonly InstanceRemark[]): void {
  for (const { object, text } of remarks) recorder.record(object, text);
}

/** Aborted when somebody deletes the instance, changes what is wanted of it, or it turns out to be no host for us. */
function followChange(
  { metadata }: InstanceObject,
  instances: JoinParts['instances'],
): Disposable & { signal: AbortSignal } {
  const change = new AbortController();
  const isOurs = (other: InstanceObject) =>
    other.metadata.name === metadata.name && other.metadata.namespace === metadata.namespace;
  const look = (now: InstanceObject) => {
    if (!isOurs(now)) return;
    const { generation, deletionTimestamp } = now.metadata;
    // What the watch has may be older than what we have read.
    const isOver = (generation ?? 0) > (metadata.generation ?? 0) || deletionTimestamp !== undefined;
    if (isOver || refusalOf(now) !== undefined) change.abort(changed);
  };
  const end = instances.addHandler({
    added: look,
    updated: (_old, now) => look(now),
    deleted: gone => (isOurs(gone) ? change.abort(changed) : undefined),
  });
  return { signal: change.signal, [Symbol.dispose]: end };
}

const changed = new Error('the instance has changed');
