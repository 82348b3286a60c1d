import { type AppError, isAppError } from '#base/errors.ts';
import { type InstanceObject, windowsInstances } from '#cluster/windows-instances.ts';
import type { InstanceReboot, TimelineStep } from '#contract/windows-instance/resource.ts';
import { isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { Pass } from '#kube/controller/reconcile.ts';
import type { EventRecorder } from '#kube/events/events.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { ConfigureJourney, type JourneyMemory } from '#node/lifecycle/configure/journey.ts';
import { configure } from '#node/lifecycle/configure/steps.ts';
import { failed, isNewJourney, type JourneyView, joined, onTheWay } from '#node/lifecycle/instance-status.ts';
import { Journal } from '#node/lifecycle/journal.ts';
import { StatusWriter } from '#node/lifecycle/status-writer.ts';
import { asAppError } from '#node/lifecycle/step.ts';
import type { LifecycleWorld } from '#node/lifecycle/world.ts';
import { refusalOf } from './decide.ts';
import { failureRemarks, type InstanceRemark, mayStillCome, setupRemarks } from './remarks.ts';
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

/**
 * Makes a Node of the host, from where an earlier attempt has ended. Rejects when it fails, with everything told by then.
 * When the instance goes, or is changed, the journey ends without a word: the next pass looks anew.
 */
export async function join(seen: InstanceObject, parts: JoinParts, pass: Pass): Promise<void> {
  const instance = await readNow(seen, parts, pass.signal);
  if (instance !== undefined) await joinNow(instance, parts, pass);
}

async function joinNow(instance: InstanceObject, parts: JoinParts, pass: Pass): Promise<void> {
  const { client, instances, version } = parts;
  const world = { ...parts.world, log: pass.log };
  const { clock, log, metrics } = world;
  using change = followChange(instance, instances);
  const signal = AbortSignal.any([pass.signal, change.signal]);
  const told = () => ({ generation: instance.metadata.generation, nowMs: clock.now() });
  const state: State = stateOf(instance);
  let say = () => onTheWay(view(), told());
  const writer = new StatusWriter(instance, { client, clock, log, change: () => say() });
  const journal = new Journal(state.timeline, clock, news => writer.tell(news === 'step' ? 'now' : 'soon'));
  const memory = memoryOf(state, () => writer.write());
  await using journey = new ConfigureJourney(instance, world, memory);
  const view = (): JourneyView => ({ journal, reboot: state.reboot, ipv4: journey.ipv4, node: journey.node?.name });
  const fail = async (why: AppError): Promise<never> => {
    const isPatient = mayStillCome(instance, why, clock.now());
    const nextAttemptMs = clock.now() + longestRetryMs(pass.attempt);
    say = () => failed(view(), why, isPatient, { ...told(), nextAttemptMs });
    if (!isPatient) record(parts, failureRemarks(instance, why));
    await writer.write().catch((error: unknown) => log.warn('Failure could not be written', { error }));
    throw why;
  };
  try {
    await configure(journey, { journal, signal, clock, log, metrics }).catch((thrown: unknown) =>
      isEndOfPass(signal) ? undefined : fail(asAppError(thrown)),
    );
    const { node } = journey;
    if (isEndOfPass(signal) || node === undefined) return;
    log.info('Instance has been configured as a worker node', { Node: node.name, ...journey.host.usage() });
    say = () => joined(view(), node, version, told());
    record(parts, setupRemarks(instance));
    await writer.write();
  } finally {
    await writer.end();
  }
}

/** As the server has it: a reboot that was written down a moment ago must not be overlooked. Undefined when it is gone. */
export async function readNow(
  { metadata }: InstanceObject,
  { client }: Pick<JoinParts, 'client'>,
  signal: AbortSignal,
): Promise<InstanceObject | undefined> {
  const { name = '', namespace = '', uid } = metadata;
  try {
    const now = await client.get(windowsInstances, name, { namespace, signal });
    return now.metadata.uid === uid ? now : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** A pass that took too long has failed; any other end was wanted. */
function isEndOfPass(signal: AbortSignal): boolean {
  return signal.aborted && !isAppError(signal.reason, 'PASS_TIMEOUT');
}

interface State {
  timeline: readonly TimelineStep[];
  reboot: InstanceReboot | undefined;
}

function stateOf(instance: InstanceObject): State {
  if (isNewJourney(instance)) return { timeline: [], reboot: undefined };
  return { timeline: instance.status?.timeline ?? [], reboot: instance.status?.reboot };
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
    // A Node that did not come although it was waited for will not come later either.
    awaitsNode: step('bootstrap') !== undefined && step('find node')?.lastError === undefined,
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
