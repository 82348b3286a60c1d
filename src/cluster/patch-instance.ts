import type { Clock } from '#base/clock.ts';
import { type Condition, type NewCondition, setCondition } from '#base/condition.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { InstancePhase, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { isConflict, isNotFound, unless } from '#kube/api-error.ts';
import type { CallOptions, Client } from '#kube/client.ts';
import { changeObject } from '#kube/patch/patch-helper.ts';
import { keyOf } from '#kube/resource.ts';
import { type WindowsInstance, windowsInstances } from './windows-instance-resource.ts';

interface PatchDeps {
  client: Pick<Client, 'get' | 'patch'>;
  signal: AbortSignal;
}

/** The lifecycle writes the same status, and often. */
const attempts = 10;

/** Reads the instance past the cache; undefined when it is gone or was created again under its name. */
export async function getFresh(
  { metadata }: WindowsInstance,
  client: Pick<Client, 'find'>,
  options: CallOptions,
): Promise<WindowsInstance | undefined> {
  const { name = '', namespace = '', uid } = metadata;
  const found = await client.find(windowsInstances, name, { ...options, namespace });
  return found?.metadata.uid === uid ? found : undefined;
}

/**
 * Changes the status as the server has it; `change` returns undefined to leave it unchanged. Returns the instance afterwards,
 * undefined when it is gone or was created again under its name.
 */
export async function patchStatus(
  instance: WindowsInstance,
  change: (current: WindowsInstance) => WindowsInstanceStatus | undefined,
  { client, signal }: PatchDeps,
): Promise<WindowsInstance | undefined> {
  const isSame = (current: WindowsInstance) => current.metadata.uid === instance.metadata.uid;
  const task = {
    key: keyOf(instance),
    change: (current: WindowsInstance) => {
      const status = isSame(current) ? change(current) : undefined;
      return status === undefined ? current : { ...current, status };
    },
  };
  const written = await changeObject(client, windowsInstances, task, { attempts, signal }).catch(unless(isNotFound));
  return written !== undefined && isSame(written.after) ? written.after : undefined;
}

/** Before a failed upgrade is recorded: an administrator can only accept a failure that exists. */
export async function removeAcceptance(
  { metadata }: WindowsInstance,
  client: Pick<Client, 'patch'>,
  options: CallOptions = {},
): Promise<void> {
  const { name = '', namespace = '', uid } = metadata;
  // With its UID, so that an instance that was created again is not changed.
  const body = { metadata: { annotations: { [instanceAnnotation.acceptedRollback]: null }, ...(uid && { uid }) } };
  const isGone = (error: unknown) => isNotFound(error) || isConflict(error);
  await client.patch(windowsInstances, name, { type: 'merge', body }, { ...options, namespace }).catch(unless(isGone));
}

/** Sets conditions and keeps those of other writers. `firstPhase` is written where no phase is set yet. */
export async function patchConditions(
  instance: WindowsInstance,
  updates: readonly NewCondition[],
  deps: PatchDeps & { clock: Clock },
  firstPhase?: InstancePhase,
): Promise<void> {
  const { generation } = instance.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const change = ({ status }: WindowsInstance): WindowsInstanceStatus => {
    const conditions = updates.reduce<readonly Condition[]>(
      (all, update) => setCondition(all, { ...update, ...observed }, deps.clock.now()),
      status?.conditions ?? [],
    );
    return { ...(firstPhase && { phase: firstPhase }), ...status, conditions: [...conditions] };
  };
  await patchStatus(instance, change, deps);
}
