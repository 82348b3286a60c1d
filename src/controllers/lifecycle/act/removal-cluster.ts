import { type Clock, timestamp } from '#base/clock.ts';
import { normalHostName } from '#base/dns-name.ts';
import { deleteObject } from '#cluster/delete-object.ts';
import type { Installation } from '#cluster/installation.ts';
import { recordEvent } from '#cluster/instance-events.ts';
import { hasTouchedHost, isRemovalRequested, isStaying } from '#cluster/instance-removal.ts';
import { sourceOf } from '#cluster/instance-source.ts';
import { getFresh } from '#cluster/patch-instance.ts';
import { hostAddresses, type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { eventText } from '#contract/events.ts';
import { configMapName, instanceAnnotation, ports } from '#contract/names.ts';
import { printRemovedHost, type RemovedHost } from '#contract/removed-hosts.ts';
import { isAlreadyExists, isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { Resolver } from '#host/resolver.ts';
import type { EventRecorder } from '#kube/events/events.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import type { LifecycleDeps } from '#node/lifecycle/deps.ts';
import type { RemovalCluster, RemoveJourney } from '#node/lifecycle/remove/journey.ts';

export interface RemovalOptions {
  client: Client;
  namespace: string;
  installation: Pick<Installation, 'problem'>;
  recorder: Pick<EventRecorder, 'record'>;
  clock: Clock;
  log: LifecycleDeps['log'];
  /** Instances of the same host, or with the same Node. */
  rivalsOf: (instance: WindowsInstance) => readonly WindowsInstance[];
  /** Instances whose host is not known yet. */
  unidentified: () => readonly WindowsInstance[];
  resolver: Pick<Resolver, 'addresses'>;
  /** Called before the operator deletes an instance itself. */
  onDelete: (instance: WindowsInstance) => void;
}

/** Why the host of the instance is to be removed; undefined when it stays. Machines are deleted with their hosts. */
export function removalCause(instance: WindowsInstance): string | undefined {
  const { annotations = {} } = instance.metadata;
  const source = sourceOf(instance);
  if (!isRemovalRequested(instance) || source?.kind === 'Machine') return undefined;
  if (source !== undefined) return `its entry of ${configMapName.instances} is gone`;
  return Object.hasOwn(annotations, instanceAnnotation.record) ? 'it was deleted' : 'its removal was requested';
}

export function createRemovalCluster(options: RemovalOptions): RemovalCluster {
  const { client, namespace, installation, rivalsOf, onDelete } = options;
  return {
    refusal: async (instance, signal) =>
      (await installation.problem(signal)) ?? (await sourceRefusal(instance, client, signal)),
    sharedWith: async instance => {
      const isRival = (other: WindowsInstance) => other.metadata.uid !== instance.metadata.uid && isStaying(other);
      const known = rivalsOf(instance).find(isRival);
      return (known ?? (await rivalByName(instance, options.unidentified().filter(isRival), options)))?.metadata.name;
    },
    noteRemoved: (note, signal) => noteRemoved(note, options, signal),
    forgetNote: async (node, signal) => {
      const body = { data: { [node]: null } };
      const name = configMapName.removedHosts;
      await client.patch(configMaps, name, { type: 'merge', body }, { namespace, signal }).catch(unless(isNotFound));
    },
    reportLeft: journey => reportLeft(journey, options),
    deleteNode: ({ name, uid }, signal) =>
      deleteObject<Node>(client, nodes, { metadata: { name, ...(uid !== '' && { uid }) } }, signal),
    report: journey => report(journey, options),
    deleteInstance: async (instance, signal) => {
      onDelete(instance);
      const { name = '', uid } = instance.metadata;
      await deleteObject<WindowsInstance>(
        client,
        windowsInstances,
        { ...instance, metadata: { name, namespace, ...(uid !== undefined && { uid }) } },
        signal,
      );
    },
  };
}

/** A rejected or new instance has resolved no address yet. */
async function rivalByName(
  instance: WindowsInstance,
  others: readonly WindowsInstance[],
  { resolver }: Pick<RemovalOptions, 'resolver'>,
): Promise<WindowsInstance | undefined> {
  const own = new Set([...hostAddresses(instance), instance.status?.ipv4 ?? '']);
  const portOf = ({ spec }: WindowsInstance) => spec.port ?? ports.ssh;
  const candidates = others.filter(other => portOf(other) === portOf(instance)).slice(0, maxLookups);
  const found = await Promise.all(
    candidates.map(async other => {
      const addresses = await resolver.addresses(other.spec.address).catch(() => []);
      return [other.spec.address, ...addresses].some(address => own.has(normalHostName(address)));
    }),
  );
  return candidates.find((_, index) => found[index]);
}

const maxLookups = 1000;

/** The request may have been withdrawn since the cache was written. */
async function sourceRefusal(
  instance: WindowsInstance,
  client: Client,
  signal: AbortSignal,
): Promise<string | undefined> {
  const fresh = await getFresh(instance, client, { signal });
  if (fresh === undefined) return 'the WindowsInstance is gone';
  if (removalCause(fresh) === undefined) return 'its removal is not requested any more';
  const source = sourceOf(fresh);
  if (source?.kind !== 'ConfigMap') return undefined;
  const { namespace = '' } = fresh.metadata;
  const map = await client.find(configMaps, configMapName.instances, { namespace, signal });
  const isListed = Object.keys(map?.data ?? {}).some(key => normalHostName(key) === normalHostName(source.name));
  return isListed ? `its entry of ${configMapName.instances} exists again` : undefined;
}

async function noteRemoved(host: Omit<RemovedHost, 'removed'>, options: RemovalOptions, signal: AbortSignal) {
  const { client, namespace, clock } = options;
  const name = configMapName.removedHosts;
  const data = { [host.node]: printRemovedHost({ ...host, removed: timestamp(clock.now()) }) };
  const patch = () => client.patch(configMaps, name, { type: 'merge', body: { data } }, { namespace, signal });
  if ((await patch().catch(unless(isNotFound))) !== undefined) return;
  const map = { metadata: { name, namespace }, data };
  const created = await client.create(configMaps, map, { signal }).catch(unless(isAlreadyExists));
  if (created === undefined) await patch();
}

const leftByForce = 'its services, files and container networks stay on the host';

function report(journey: RemoveJourney, { recorder, log }: RemovalOptions): void {
  const { instance, mode, addresses, address, nodeName } = journey;
  // A forced request that is about no Node of the operator changes nothing either.
  if (mode === 'object' || (mode === 'force' && nodeName === undefined && !hasTouchedHost(instance))) {
    log.info('Deleting WindowsInstance without changes to its host', { address });
    return;
  }
  log.info('Removed host', { address, Node: nodeName, mode, ...journey.host.usage() });
  recordEvent(recorder, instance, eventText.instanceTeardown(addresses.length === 0 ? [address] : addresses));
  if (mode === 'force') recordEvent(recorder, instance, incomplete(address, [leftByForce]));
}

/** At once, because another attempt does not know it any more. */
function reportLeft({ instance, address, left }: RemoveJourney, { recorder, log }: RemovalOptions): void {
  if (left.length === 0) return;
  log.warn('Removal of the host is incomplete', { address, left });
  const lines = left.map(line => `not removed: ${line}`);
  recordEvent(recorder, instance, incomplete(address, lines));
}

function incomplete(address: string, lines: readonly string[]) {
  return eventText.instanceRemovalIncomplete(`Host ${address}: ${shortList(lines)}`);
}

/** Events have little room. */
const maxNamed = 10;

function shortList(items: readonly string[]): string {
  const more = items.length > maxNamed ? [`${items.length - maxNamed} more`] : [];
  return [...items.slice(0, maxNamed), ...more].join('; ');
}
