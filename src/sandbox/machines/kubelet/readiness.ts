import { timestamp } from '#base/clock.ts';
import { type Condition, type NewCondition, setCondition } from '#base/condition.ts';
import type { KubeletFaults } from './kubelet-host.ts';

export interface Health {
  isRuntimeUp: boolean;
  hasNetwork: boolean;
}

const noPressure = [
  ['MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
] as const;

/** Conditions of a Node in the wording of the kubelet. */
export function conditionsOf(
  previous: readonly Condition[],
  health: Health,
  faults: Pick<KubeletFaults, 'neverReady'>,
  nowMs: number,
): readonly Condition[] {
  const lastHeartbeatTime = timestamp(nowMs);
  const problem = notReady(health, faults);
  const ready: Omit<NewCondition, 'type'> =
    problem === undefined
      ? { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { status: 'False', reason: 'KubeletNotReady', message: problem };
  const conditions: NewCondition[] = [
    ...noPressure.map(([type, reason, message]) => ({ type, status: 'False' as const, reason, message })),
    { type: 'Ready', ...ready },
  ];
  return conditions.reduce((all, each) => setCondition(all, { ...each, lastHeartbeatTime }, nowMs), previous);
}

function notReady(
  { isRuntimeUp, hasNetwork }: Health,
  { neverReady }: Pick<KubeletFaults, 'neverReady'>,
): string | undefined {
  if (neverReady) return 'container runtime status check may not have completed yet';
  if (!isRuntimeUp) return 'container runtime is down';
  if (hasNetwork) return undefined;
  return 'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized';
}
