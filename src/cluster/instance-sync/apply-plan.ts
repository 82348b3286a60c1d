import type { Log } from '#base/log.ts';
import { type WindowsInstance, windowsInstances } from '../windows-instance-resource.ts';
import { deleteObject } from '../delete-object.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { after, done, type Outcome } from '#kube/controller/reconcile.ts';
import type { StoreView } from '#kube/informer/store.ts';
import { patchObject } from '#kube/patch/patch-helper.ts';
import type { Permission } from '#kube/permissions.ts';
import { type Plan, planInstance, type WantedInstance } from './plan.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';

/** For controllers that create instances. */
export const instancesPermission: Permission = {
  in: 'own namespace',
  group: windowsInstanceGroup,
  resources: ['windowsinstances'],
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
};

interface ApplyDeps {
  client: Pick<Client, 'create' | 'patch' | 'delete'>;
  log: Log;
  signal: AbortSignal;
}

/** Time for the cache to see a write, of another client or our own. */
const lagMs = 1000;
/** The operator is being uninstalled, or installed again. */
const missingMs = 30_000;

/** Creates or updates the instance of a source. */
export function syncInstance(
  wanted: WantedInstance,
  {
    own,
    instances,
    namespace,
  }: { own: readonly WindowsInstance[]; instances: StoreView<WindowsInstance>; namespace: string },
  deps: ApplyDeps,
): Promise<Outcome> {
  const named = (name: string) => instances.get({ namespace, name });
  return applyPlan(planInstance(wanted, { namespace, own, named }), deps);
}

export async function applyPlan(plan: Plan, { client, log, signal }: ApplyDeps): Promise<Outcome> {
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
      case 'keep':
        return done;
      default:
        return plan satisfies never;
    }
  } catch (error) {
    if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error;
    if (plan.do === 'create' && isNotFound(error)) return after(missingMs, 'namespace or CRD does not exist');
    return after(lagMs, 'its WindowsInstance was changed at the same time');
  }
}

export async function deleteInstance(
  instance: WindowsInstance,
  why: string,
  { client, log, signal }: ApplyDeps,
): Promise<void> {
  const { name, deletionTimestamp } = instance.metadata;
  if (deletionTimestamp !== undefined) return;
  log.info('Deleting WindowsInstance', { WindowsInstance: name, why });
  await deleteObject(client, windowsInstances, instance, signal);
}
