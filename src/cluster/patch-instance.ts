import type { Clock } from '#base/clock.ts';
import { type WindowsInstance, windowsInstances } from './windows-instance-resource.ts';
import type { InstanceCondition, InstancePhase } from '#contract/windows-instance/resource.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { setCondition } from '#kube/conditions.ts';
import { changeObject } from '#kube/patch/patch-helper.ts';
import { keyOf } from '#kube/resource.ts';

export type ConditionUpdate = Omit<InstanceCondition, 'lastTransitionTime' | 'observedGeneration'>;

interface Means {
  client: Pick<Client, 'get' | 'patch'>;
  clock: Clock;
  signal: AbortSignal;
}

/** The lifecycle writes the status of an instance too, and often. */
const attempts = 10;

/**
 * Sets one condition of an instance and leaves all that others say. Where nobody has told a phase yet, that can go with it. An instance
 * that is gone is fine.
 */
export async function patchCondition(
  instance: WindowsInstance,
  news: ConditionUpdate,
  means: Means,
  firstPhase?: InstancePhase,
): Promise<void> {
  const { client, clock, signal } = means;
  const { uid, generation } = instance.metadata;
  const told = { ...news, ...(generation !== undefined && { observedGeneration: generation }) };
  const change = (current: WindowsInstance): WindowsInstance => {
    // One of the same name that was made anew is another one.
    if (current.metadata.uid !== uid) return current;
    const conditions = [...setCondition(current.status?.conditions, told, clock.now())];
    return { ...current, status: { ...(firstPhase && { phase: firstPhase }), ...current.status, conditions } };
  };
  const task = { key: keyOf(instance), change };
  await changeObject(client, windowsInstances, task, { attempts, signal }).catch(unless(isNotFound));
}
