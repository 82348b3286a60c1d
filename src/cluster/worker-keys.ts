import { attempt } from '#base/errors.ts';
import type { KubeObject } from '#contract/object.ts';
import { OpenshiftObjects } from './openshift-objects.ts';

/** Lines of authorized_keys of the Linux workers; none outside OpenShift, or while the MachineConfig cannot be read. */
export function workerKeys(objects: readonly KubeObject[]): readonly string[] {
  const config = attempt(() => new OpenshiftObjects(objects).workerConfig());
  return config.ok ? config.value.authorizedKeys : [];
}
