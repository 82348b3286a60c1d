import { findCondition, type NewCondition } from '#base/condition.ts';
import type { AppError } from '#base/errors.ts';
import { eventObjects, recordEvent } from '#cluster/instance-events.ts';
import { getFresh, removeAcceptance } from '#cluster/patch-instance.ts';
import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import type { NodeView } from '#contract/node.ts';
import { grantedJourneys } from '#contract/rollout-grants.ts';
import {
  instanceCondition,
  type JourneyName,
  type WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { kubeletCondition, type KubeletReach, probeKubelet } from '#node/lifecycle/configure/reach-kubelet.ts';
import {
  appliedSettingsCondition,
  conditionReason,
  readyStatus,
  type StatusChange,
  type StatusStamp,
  waitingStatus,
  withConditions,
} from '#node/lifecycle/instance-status.ts';
import { desiredSettings } from '#node/lifecycle/refresh/setting-record.ts';
import { rebootLimit } from '#node/lifecycle/reboot/due.ts';
import { rekeyDelayMs } from '#node/lifecycle/rekey/due.ts';
import { StatusWriter } from '#node/lifecycle/status-writer.ts';
import { credentialsMs, type Decision, type Wait } from '../decide.ts';
import { addressConflicts, setupEvent } from '../events.ts';
import { recheckMs } from '../retry.ts';
import { claimLimit } from '../version-claim.ts';
import { lookAtHealth, restConditions } from './health-report.ts';
import type { Work } from './work.ts';

/** A journey that has to wait. */
export async function reportWait(
  instance: WindowsInstance,
  { waits }: Extract<Decision, { do: 'wait' }>,
  work: Work,
  pass: Pass,
): Promise<Outcome> {
  const why = waits[0]?.why ?? '';
  await patchStatus(instance, stamp => waitingStatus(why, stamp), work, pass);
  return after(recheckMs, why);
}

/** A host at rest. */
export async function reportNode(
  instance: WindowsInstance,
  { do: what, node, waits }: Extract<Decision, { node: NodeView }>,
  work: Work,
  pass: Pass,
): Promise<Outcome> {
  const { deps, version, recorder, clock } = work;
  if (what === 'release') await deps.nodes.release(node.name, pass.signal);
  await endLeftGrant(instance, node, work, pass.signal);
  if (await wasInterrupted(instance, work, pass.signal)) recordEvent(recorder, instance, setupEvent(instance));
  reportConflicts(instance, work);
  const limits = limitsOf(instance, node, waits, work);
  work.conflicts.report(`${instance.metadata.uid} limits`, eventObjects(instance), limits.alarms);
  const reach = isKubeletUnreachable(instance) ? await probe(instance, node, work, pass) : undefined;
  const health = lookAtHealth(instance, node, work);
  if (health.isNewFailure === true) await removeAcceptance(instance, work.client, { signal: pass.signal });
  const further = [
    ...(reach === undefined ? [] : [kubeletCondition(reach)]),
    ...restConditions({ node, recorded: instance.status?.version }, health, waits),
    ...limits.conditions,
    ...settingsCondition(instance, waits, work),
  ];
  await patchStatus(
    instance,
    stamp => before => {
      const rest = withoutClaim(readyStatus(node, version, stamp)(before), before, version);
      const status = withConditions(
        health.change({ ...rest, ...awaited(instance, waits, work)(before) }, stamp),
        further,
        stamp,
      );
      return withConditions(status, rolledBackReady(status), stamp);
    },
    work,
    pass,
  );
  return nextLook(health.why ?? waits[0]?.why, [
    credentialsMs({ instance, nowMs: clock.now() }),
    reach?.ok === false ? probeMs : undefined,
    limits.againMs,
    health.againMs,
    // No watch tells that the first host with changed settings gave up before it began.
    waits.some(({ journey }) => journey === 'restart') ? recheckMs : undefined,
    // Nor that a host was given the current key, or that the key of a host of its own was changed.
    ...keyTimes(instance, waits, work),
  ]);
}

/** Also before changed settings are brought to a host: one that does not answer may keep its operator at that for days. */
export function reportConflicts(
  instance: WindowsInstance,
  { conflicts, deps }: Pick<Work, 'conflicts' | 'deps'>,
): void {
  const found = addressConflicts(instance, boundNode(instance) ?? '', deps.nodes);
  conflicts.report(instance.metadata.uid ?? '', eventObjects(instance), found);
}

interface Limits {
  alarms: EventText[];
  conditions: NewCondition[];
  /** No watch reports that a day is over. */
  againMs?: number;
}

/** What is done to a host only so often in a day, and is due once more. */
function limitsOf(instance: WindowsInstance, node: NodeView, waits: readonly Wait[], { version, clock }: Work): Limits {
  const isDue = (name: JourneyName) => waits.some(({ journey }) => journey === name);
  const nowMs = clock.now();
  const reboot = isDue('reboot') ? rebootLimit(instance, nowMs) : undefined;
  const claim = isDue('upgrade') ? claimLimit({ instance, node, version, nowMs }) : undefined;
  return {
    alarms: [
      ...(reboot ? [eventText.rebootLimitReached(reboot.problem)] : []),
      ...(claim ? [eventText.versionClaimed(node.name, claim)] : []),
    ],
    conditions: reboot ? [waitsForReboot(node, reboot.problem)] : [],
    ...((reboot ?? claim) && { againMs: recheckMs }),
  };
}

function nextLook(why: string | undefined, times: readonly (number | undefined)[]): Outcome {
  const ms = Math.min(...times.filter(each => each !== undefined));
  return ms === Infinity ? done : after(ms, why ?? 'check kubelet and credentials of the agent');
}

/** When the key of a host, or the mark of its Node, is due again. */
function keyTimes(
  instance: WindowsInstance,
  waits: readonly Wait[],
  { deps, marks, clock }: Work,
): (number | undefined)[] {
  const isWaiting = waits.some(({ journey }) => journey === 'rekey');
  return [
    rekeyDelayMs(instance, deps.inputs.currentKeyHash?.(instance) ?? '', clock.now()),
    isWaiting ? marks.delayMs(instance.metadata.uid ?? '', clock.monotonicMs()) : undefined,
    instance.spec.keySecret === undefined ? undefined : keySecretMs,
  ];
}

/** A host that waits for settings does not have them; its own failure is not hidden by its wait. */
function settingsCondition(instance: WindowsInstance, waits: readonly Wait[], work: Work): NewCondition[] {
  const { settingsApplied: type } = instanceCondition;
  const known = findCondition(instance.status?.conditions, type);
  const isFalse = known?.status === 'False';
  const wait = waits.find(isOfSettings);
  if (wait === undefined) return isFalse && hasSettings(instance, work) ? [appliedSettingsCondition] : [];
  if (isFalse && known.reason !== conditionReason.waits) return [];
  return [{ type, status: 'False', reason: conditionReason.waits, message: wait.why }];
}

function hasSettings(instance: WindowsInstance, { deps }: Work): boolean {
  const desired = deps.inputs.desiredSettings?.(instance);
  const { files, services } = instance.status?.settings ?? {};
  return desired !== undefined && files?.applied === desired.liveHash && services?.applied === desired.services;
}

function isOfSettings({ journey }: Wait): boolean {
  return journey === 'restart' || journey === 'refresh';
}

/** What a host that waits for changed settings should have. */
function awaited(
  instance: WindowsInstance,
  waits: readonly Wait[],
  { deps }: Work,
): (before: WindowsInstanceStatus) => Pick<WindowsInstanceStatus, 'settings'> {
  const settings = waits.some(isOfSettings) ? deps.inputs.desiredSettings?.(instance) : undefined;
  return before => (settings === undefined ? {} : desiredSettings(settings, before.settings));
}

/** A Node that claims this version, though no journey has brought it there, does not change the record. */
function withoutClaim(rest: WindowsInstanceStatus, before: WindowsInstanceStatus, own: string): WindowsInstanceStatus {
  const { version, upgrade, journey } = before;
  const isUpgraded = upgrade?.to === own && upgrade.ready !== undefined;
  const isClaim = version !== undefined && version !== own && !isUpgraded && journey === undefined;
  return isClaim ? { ...rest, version } : rest;
}

/** A journey that was given up may have had a grant. */
async function endLeftGrant(instance: WindowsInstance, node: NodeView, { deps }: Work, signal: AbortSignal) {
  const { phase, journey: last } = instance.status ?? {};
  const mayHaveGrant = phase === 'Removing' || (last !== undefined && grantedJourneys.has(last.name));
  if (mayHaveGrant && node.ready) await deps.grants.end(instance, signal);
}

function waitsForReboot({ name, ready }: NodeView, { code, message, remedy }: AppError): NewCondition {
  const text = `Node ${name} waits for a reboot: ${message}. ${remedy}`;
  return { type: instanceCondition.ready, status: ready ? 'True' : 'False', reason: code, message: text };
}

/** A node that went back says so as its reason, whatever else it waits for: an administrator has to decide. */
function rolledBackReady({ conditions }: WindowsInstanceStatus): NewCondition[] {
  const ready = findCondition(conditions, instanceCondition.ready);
  const isBack = findCondition(conditions, instanceCondition.rolledBack)?.status === 'True';
  if (!isBack || ready?.status !== 'True' || ready.message === undefined) return [];
  return [{ type: ready.type, status: 'True', reason: conditionReason.rolledBack, message: ready.message }];
}

const keySecretMs = 300_000;

/** No watch reports that a firewall was opened. */
const probeMs = 5 * 60_000;

function isKubeletUnreachable({ status }: WindowsInstance): boolean {
  return findCondition(status?.conditions, instanceCondition.kubeletReachable)?.status === 'False';
}

function probe(
  { status }: WindowsInstance,
  node: NodeView,
  { deps }: Work,
  { log, signal }: Pass,
): Promise<KubeletReach> {
  return probeKubelet(node.name, status?.host?.addresses ?? [], { ...deps, log }, signal);
}

/** The host is configured but the final status write was lost. The cache may be older than that write. */
async function wasInterrupted(instance: WindowsInstance, work: Work, signal: AbortSignal): Promise<boolean> {
  if (instance.status?.phase !== 'Configuring') return false;
  return (await getFresh(instance, work.client, { signal }))?.status?.phase === 'Configuring';
}

export async function patchStatus(
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
