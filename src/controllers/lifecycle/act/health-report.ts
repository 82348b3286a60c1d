import { timestamp } from '#base/clock.ts';
import type { NewCondition } from '#base/condition.ts';
import { byRollout, rolloutKey, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { soakTimeMs } from '#contract/rollout.ts';
import { upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import { instanceCondition, type WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { keyOf, keyText } from '#kube/resource.ts';
import { conditionReason, type StatusStamp, versionOfNode } from '#node/lifecycle/instance-status.ts';
import type { Wait } from '../decide.ts';
import { decideHealth, isWatched, troubleOf } from '../health.ts';
import type { Work } from './work.ts';

/** What the health of an upgraded node changes. */
export interface HealthReport {
  change: (status: WindowsInstanceStatus, stamp: StatusStamp) => WindowsInstanceStatus;
  /** The upgrade has failed, and nothing is known of it yet. */
  isNewFailure?: boolean;
  /** When to look again, and why. */
  againMs?: number;
  why?: string;
  /** End of the soak. */
  soaksUntilMs?: number;
}

const unchanged: HealthReport = { change: status => status };
/** The cache gets to know the failure. */
const lagMs = 1000;

/** Whether the node has proved its new version, or has to go back. Nodes that were not upgraded lately are not looked at. */
export function lookAtHealth(instance: WindowsInstance, node: NodeView, work: Work): HealthReport {
  const { clock, broken, deps } = work;
  const { upgrade } = instance.status ?? {};
  const [key, nowMs] = [keyText(keyOf(instance)), clock.now()];
  if (upgrade === undefined || !isWatched(upgrade, nowMs)) {
    broken.forget(key);
    return unchanged;
  }
  const trouble = troubleOf(node, deps.nodes.agentFailure(node));
  const brokenTime = broken.note(key, trouble, clock.monotonicMs());
  const soakMs = soakTimeMs(deps.grants.settings(), othersSoaked(instance, upgrade.to, work));
  const next = decideHealth({ upgrade, broken: brokenTime, soakMs, nowMs });
  const retry = instance.metadata.annotations?.[instanceAnnotation.retry];
  const soaking = upgradeState(upgrade) === 'soaking' ? { soaksUntilMs: Date.parse(upgrade.ready ?? '') + soakMs } : {};
  switch (next.do) {
    case 'nothing':
      return unchanged;
    case 'wait':
      return { ...unchanged, ...soaking, againMs: next.ms, why: trouble?.text ?? 'the node soaks' };
    case 'end soak':
      return { change: ofSame(upgrade, ({ nowMs: atMs }) => ({ soaked: timestamp(atMs) })) };
    case 'fail': {
      const failed = (stamp: StatusStamp) => ({
        failed: { code: 'UPGRADE_UNHEALTHY', message: trouble?.text ?? '', at: timestamp(stamp.nowMs) },
        ...(retry !== undefined && { retry }),
      });
      return { change: ofSame(upgrade, failed), isNewFailure: true, againMs: lagMs, why: 'the upgrade is rolled back' };
    }
    default:
      return next satisfies never;
  }
}

type Upgrade = NonNullable<WindowsInstanceStatus['upgrade']>;

/** Changes the upgrade unless another one has begun meanwhile. */
function ofSame(seen: Upgrade, change: (stamp: StatusStamp) => Partial<Upgrade>): HealthReport['change'] {
  return (status, stamp) => {
    const { upgrade } = status;
    const isSame = upgrade?.to === seen.to && upgrade.ready === seen.ready && upgrade.failed === undefined;
    return isSame ? { ...status, upgrade: { ...upgrade, ...change(stamp) } } : status;
  };
}

function othersSoaked({ metadata }: WindowsInstance, version: string, { instances }: Work): number {
  const soaked = instances.store.byIndex(byRollout, rolloutKey.soaked(version));
  return soaked.filter(other => other.metadata.uid !== metadata.uid).length;
}

/** Says that the node soaks, or what an upgrade waits for; a node that is not ready says that, and what its rollback waits for. */
export function restConditions(
  { node, recorded }: { node: NodeView; recorded: string | undefined },
  { soaksUntilMs }: HealthReport,
  waits: readonly Wait[],
): NewCondition[] {
  if (!node.ready) return waits.flatMap(wait => (wait.journey === 'rollback' ? [notReadyYet(node, wait)] : []));
  const runs = versionOfNode(node, recorded);
  const ready = { type: instanceCondition.ready, status: 'True' } as const;
  if (soaksUntilMs !== undefined && !Number.isNaN(soaksUntilMs)) {
    return [
      { ...ready, reason: conditionReason.soaking, message: `${runs}; it soaks until ${timestamp(soaksUntilMs)}` },
    ];
  }
  // The condition KeyCurrent tells what a key waits for.
  const wait = waits.find(({ journey }) => journey !== 'rekey');
  if (wait === undefined) return [];
  const { journey, cause, why, isForBudget = false } = wait;
  // As the journey says it when it begins to wait.
  const waiting = isForBudget && journey === 'upgrade' ? 'is staged and waits' : 'waits';
  const reason = isForBudget ? conditionReason.waitsForBudget : conditionReason.waits;
  const what = journey === 'restart' ? 'the restart of its services with new settings' : cause;
  return [{ ...ready, reason, message: `${runs}; ${what} ${waiting}: ${why}` }];
}

function notReadyYet({ name }: NodeView, { cause, why }: Wait): NewCondition {
  const message = `Node ${name} is not ready; ${cause} waits: ${why}`;
  return { type: instanceCondition.ready, status: 'False', reason: conditionReason.nodeNotReady, message };
}
