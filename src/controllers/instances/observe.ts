import { findCondition } from '#base/condition.ts';
import { normalHostName } from '#base/dns-name.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { hasTouchedHost, isLeaving } from '#cluster/instance-removal.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { resolveInstances } from '#contract/instances.ts';
import { configMapName } from '#contract/names.ts';
import type { Resolver } from '#host/resolver.ts';
import type { Client } from '#kube/client.ts';
import type { StoreView } from '#kube/informer/store.ts';
import { configMaps } from '#kube/resources.ts';
import { bySource, sourceText } from '#cluster/instance-source.ts';
import type { ListedEntries, RecordedHost } from './decide.ts';

export type EntryData = Readonly<Record<string, string>>;

/** Reads past the cache; without data when the ConfigMap does not exist. */
export async function getFreshEntries(
  client: Pick<Client, 'find'>,
  namespace: string,
  signal: AbortSignal,
): Promise<{ data: EntryData; resourceVersion: string }> {
  const { data = {}, metadata } = (await client.find(configMaps, configMapName.instances, { namespace, signal })) ?? {};
  return { data, resourceVersion: metadata?.resourceVersion ?? '' };
}

export function recordedHost(instance: WindowsInstance): RecordedHost {
  const { spec, status } = instance;
  return {
    node: boundNode(instance),
    address: spec.address,
    addresses: status?.host?.addresses ?? [],
    isTouched: hasTouchedHost(instance),
  };
}

/** A new instance that may turn out to be the host of this one under another address. Hosts of Machines are new themselves. */
export function unidentifiedInstance(
  leaving: WindowsInstance,
  instances: readonly WindowsInstance[],
  data: EntryData,
  nowMs: number,
): string | undefined {
  const listed = new Set(Object.keys(data).map(normalHostName));
  const found = instances.find(instance => {
    const { metadata, spec, status } = instance;
    const { hostKey } = status ?? {};
    const limitMs = hostKey === undefined ? answerMs : identifyMs;
    const isNew = nowMs - Date.parse(metadata.creationTimestamp ?? '') < limitMs;
    // A host that has shown another key is another host.
    if (hostKey !== undefined && hostKey !== leaving.status?.hostKey) return false;
    if (!isNew || status?.host !== undefined || spec.source?.kind === 'Machine') return false;
    const isWaiting = metadata.deletionTimestamp === undefined && spec.paused !== true && !isRejected(instance);
    return isWaiting && !isLeaving(instance, host => listed.has(host));
  });
  return found?.metadata.name;
}

/** A host that answers shows its key, and is identified, within these times. */
const [answerMs, identifyMs] = [2 * 60_000, 10 * 60_000];

function isRejected({ status }: WindowsInstance): boolean {
  return findCondition(status?.conditions, instanceCondition.accepted)?.status === 'False';
}

/** Resolves the entries by DNS and by the records of their instances. An entry that does not resolve is a failure, never gone. */
export async function resolveEntries(
  data: EntryData,
  instances: StoreView<WindowsInstance>,
  resolver: Pick<Resolver, 'addresses'>,
): Promise<ListedEntries> {
  const names = Object.keys(data).filter(address => !isIpv4(address));
  const answers = names.map(async name => {
    const [ipv4] = await resolver.addresses(name).catch(() => []);
    return [name, ipv4] as const;
  });
  const resolved = resolveInstances(data, Object.fromEntries(await Promise.all(answers)), []);
  const listed = (address: string, ipv4?: string) => ({ address, ipv4, node: nodeOfEntry(address, instances) });
  return {
    entries: resolved.instances.map(({ address, ipv4 }) => listed(address, ipv4)),
    failures: resolved.failures.map(({ address }) => listed(address)),
  };
}

function nodeOfEntry(address: string, instances: StoreView<WindowsInstance>): string | undefined {
  const source = sourceText({ kind: 'ConfigMap', name: normalHostName(address) });
  return instances.byIndex(bySource, source).flatMap(instance => boundNode(instance) ?? [])[0];
}
