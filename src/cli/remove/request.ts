import { type Clock, timestamp } from '#base/clock.ts';
import { shown } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation } from '#contract/names.ts';
import { isAlreadyExists, isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { changeObject } from '#kube/patch/patch-helper.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';
import { annotateInstance } from '../annotate-instance.ts';
import { apiRefused } from '../api-refused.ts';
import { refusal, type Target } from './target.ts';

export interface RequestDeps {
  client: Pick<Client, 'get' | 'patch' | 'create' | 'delete'>;
  namespace: string;
  clock: Clock;
  signal: AbortSignal;
}

export interface RemovalRequest {
  target: Target;
  isForced: boolean;
  /** Only for a Node without an instance. */
  username: string;
  /** Only a running operator notes the deletion of an instance. */
  isOperatorRunning: boolean;
}

/** Requests the removal and returns what was changed. Force is written before or with the request, so that none is lost. */
export async function requestRemoval(request: RemovalRequest, deps: RequestDeps): Promise<string[]> {
  try {
    return await write(request, deps);
  } catch (error) {
    throw apiRefused(error, deps);
  }
}

/** Deletes the note about a host that was removed by force. */
export async function forgetRemovedHost(node: string, deps: RequestDeps): Promise<void> {
  const { client, namespace, signal } = deps;
  const patch = { type: 'merge', body: { data: { [node]: null } } } as const;
  try {
    await client.patch(configMaps, configMapName.removedHosts, patch, { namespace, signal });
  } catch (error) {
    throw apiRefused(error, deps);
  }
}

async function write(request: RemovalRequest, deps: RequestDeps): Promise<string[]> {
  const { target, isForced, isOperatorRunning } = request;
  if (target.is === 'node') return createRequest(target, request, deps);
  if (target.is === 'entry') {
    const { instance } = target;
    const forced = isForced && instance !== undefined ? [await annotateInstance(instance, forceAnnotation, deps)] : [];
    return [...forced, ...(target.value === undefined ? [] : [await deleteEntry(target.key, target.value, deps)])];
  }
  const { instance } = target;
  const isRequested = Object.hasOwn(instance.metadata.annotations ?? {}, instanceAnnotation.removal);
  const force = isForced ? forceAnnotation : {};
  if (isRequested) return isForced ? [await annotateInstance(instance, force, deps)] : [];
  if (isForced || !isOperatorRunning)
    return [await annotateInstance(instance, { ...removalAnnotation(deps), ...force }, deps)];
  return [await deleteInstance(instance, deps)];
}

const forceAnnotation = { [instanceAnnotation.forceRemoval]: 'true' };

function removalAnnotation({ clock }: RequestDeps): Record<string, string> {
  return { [instanceAnnotation.removal]: timestamp(clock.now()) };
}

/** Fails if the entry was changed since it was shown. Other entries are kept. */
export async function deleteEntry(
  key: string,
  value: string,
  { client, namespace, signal }: RequestDeps,
): Promise<string> {
  const map = `ConfigMap ${configMapName.instances}`;
  const change = (current: ConfigMap): ConfigMap => {
    const { [key]: found, ...data } = current.data ?? {};
    if (ownMember(current.data ?? {}, key) === undefined) return current;
    if (found !== value) throw refusal(`${map}: entry ${shown(key)} was changed`, 'Run the command again.');
    return { ...current, data };
  };
  await changeObject(client, configMaps, { key: { namespace, name: configMapName.instances }, change }, { signal });
  return `Deleted entry ${key} from ${map}.`;
}

async function deleteInstance({ metadata }: WindowsInstance, deps: RequestDeps): Promise<string> {
  const { client, namespace, signal } = deps;
  const { name = '', uid } = metadata;
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  await client.delete(windowsInstances, name, { namespace, signal, ...preconditions }).catch(unless(isNotFound));
  return `Deleted WindowsInstance ${name}.`;
}

async function createRequest(
  { node, address, hostKey }: Extract<Target, { is: 'node' }>,
  { isForced, username }: RemovalRequest,
  deps: RequestDeps,
): Promise<string[]> {
  const { client, namespace, signal } = deps;
  const { name } = node;
  const annotations = { ...removalAnnotation(deps), ...(isForced && forceAnnotation) };
  const spec = { address, username, source: { kind: 'Direct' }, ...(hostKey !== undefined && { hostKey }) } as const;
  try {
    await client.create(windowsInstances, { metadata: { name, namespace, annotations }, spec }, { namespace, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    throw refusal(`WindowsInstance ${name} exists and is not that of Node ${name}`, `Run \`wmco status ${name}\`.`);
  }
  return [`Created WindowsInstance ${name} with the request to remove it.`];
}
