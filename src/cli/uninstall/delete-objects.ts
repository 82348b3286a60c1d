import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { operatorName } from '#contract/names.ts';
import { isConflict, isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { deployments, pods, replicaSets } from '#kube/resources.ts';
import { nameOf } from '../install/kinds.ts';
import { durationText } from '../status/view/amounts.ts';
import type { OwnObject } from './own-objects.ts';

export interface DeleteDeps {
  client: Client;
  namespace: string;
  clock: Clock;
  signal: AbortSignal;
  timeoutMs: number;
  print: (line: string) => void;
}

/** Deletes exactly these objects, in this order: one that was replaced meanwhile stays. */
export async function deleteObjects(objects: readonly OwnObject[], deps: DeleteDeps): Promise<void> {
  const isDeployment = ({ resource }: OwnObject) => resource === deployments;
  for (const each of objects.filter(isDeployment)) await deleteAndPrint(each, deps);
  // While it runs, it would create again what is deleted next; a command that was stopped may have deleted its Deployment.
  await untilStopped(deps);
  for (const each of objects.filter(each => !isDeployment(each))) await deleteAndPrint(each, deps);
}

async function deleteAndPrint(each: OwnObject, deps: DeleteDeps): Promise<void> {
  await deleteOne(each, deps);
  deps.print(`  deleted ${nameOf(each.object)}`);
}

async function deleteOne({ resource, object }: OwnObject, { client, signal }: DeleteDeps): Promise<void> {
  const { name = '', namespace, uid } = object.metadata;
  await client
    .delete(resource, name, {
      signal,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { preconditions: { uid } }),
      propagationPolicy: 'Background',
    })
    .catch(unless(isNotFound, isConflict));
}

/** Without its ReplicaSets no pod comes back. */
async function untilStopped(deps: DeleteDeps): Promise<void> {
  const { client, namespace, signal } = deps;
  const labelled = { namespace, labelSelector: `name=${operatorName}`, signal };
  await waitUntil(`a pod of Deployment ${operatorName}`, deps, async () => {
    const found = await client.find(deployments, operatorName, { namespace, signal });
    const sets = await client.list(replicaSets, labelled);
    const { items } = await client.list(pods, labelled);
    return found === undefined && sets.items.length === 0 && items.length === 0;
  });
}

export async function deleteAndWait(each: OwnObject, deps: DeleteDeps): Promise<void> {
  const { client, signal } = deps;
  await deleteOne(each, deps);
  const { name = '' } = each.object.metadata;
  await waitUntil(nameOf(each.object), deps, async () => {
    const found = await client.find(each.resource, name, { signal });
    return found === undefined || found.metadata.uid !== each.object.metadata.uid;
  });
  deps.print(`  deleted ${nameOf(each.object)}`);
}

const [intervalMs, silenceMs] = [500, 5000];

async function waitUntil(
  what: string,
  { clock, signal, timeoutMs, print, namespace }: DeleteDeps,
  isGone: () => Promise<boolean>,
): Promise<void> {
  const startMs = clock.monotonicMs();
  let printedMs = startMs;
  while (!(await isGone())) {
    const nowMs = clock.monotonicMs();
    if (nowMs - startMs > timeoutMs) {
      throw new AppError('UNINSTALL_UNFINISHED', `${what} still exists after ${durationText(timeoutMs)}`, {
        remedy: `Run \`kubectl get namespace ${namespace} -o yaml\` and \`kubectl get pods -n ${namespace}\` to see what keeps it, and run the command again.`,
      });
    }
    if (nowMs - printedMs >= silenceMs) {
      print(`  ${durationText(nowMs - startMs)}: waiting until ${what} is gone`);
      printedMs = nowMs;
    }
    await clock.sleep(intervalMs, signal);
  }
}
