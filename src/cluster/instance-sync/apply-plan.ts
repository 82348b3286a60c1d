import type { Log } from '#base/log.ts';
import { type WindowsInstance, windowsInstances } from '../windows-instance-resource.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { after, done, type Outcome } from '#kube/controller/reconcile.ts';
import { patchObject } from '#kube/patch/patch-helper.ts';
import type { Permission } from '#kube/permissions.ts';
import type { Plan } from './plan.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';

/** What whoever makes instances needs. */
export const instancesPermission: Permission = {
  in: 'own namespace',
  group: windowsInstanceGroup,
  resources: ['windowsinstances'],
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
};

interface Means {
  client: Pick<Client, 'create' | 'patch' | 'delete'>;
  log: Log;
  signal: AbortSignal;
}

/** Somebody was faster, or the watch has yet to tell of what we did ourselves. */
const lagMs = 1000;

export async function applyPlan(plan: Plan, { client, log, signal }: Means): Promise<Outcome> {
  try {
    switch (plan.do) {
      case 'create':
        log.info('Creating WindowsInstance', { WindowsInstance: plan.instance.metadata.name });
        await client.create(windowsInstances, plan.instance, { signal });
        return done;
      case 'update':
        log.info('Updating WindowsInstance', { WindowsInstance: plan.before.metadata.name });
        await patchObject(client, windowsInstances, plan, { signal });
        return done;
      case 'wait':
        return after(lagMs, 'its WindowsInstance is being deleted');
      case 'nothing':
        return done;
      default:
        return plan satisfies never;
    }
  } catch (error) {
    if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error;
    return after(lagMs, 'its WindowsInstance has changed meanwhile');
  }
}

/** Only this very object: one that was made anew under its name stays. */
export async function deleteInstance(
  { metadata }: WindowsInstance,
  why: string,
  { client, log, signal }: Means,
): Promise<void> {
  const { name = '', namespace = '', uid, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) return;
  log.info('Deleting WindowsInstance', { WindowsInstance: name, why });
  try {
    await client.delete(windowsInstances, name, {
      namespace,
      signal,
      ...(uid !== undefined && { preconditions: { uid } }),
    });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
