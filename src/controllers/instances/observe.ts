import { normalHostName } from '#base/dns-name.ts';
import { isIp, isIpv4 } from '#base/ipv4.ts';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import { type EntryResult, parseEntries, resolveInstances } from '#contract/instances.ts';
import { configMapName } from '#contract/names.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import type { Resolver } from '#host/resolver.ts';
import { isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { StoreView } from '#kube/informer/store.ts';
import { type ConfigMap, configMaps, type Node } from '#kube/resources.ts';
import type { ListedEntries, PtrAnswers } from './decide.ts';

export type EntryData = Readonly<Record<string, string>>;

/** The entries that are one host by name: mostly one, two when somebody has written it in two ways. */
export function entriesOf(host: string, data: EntryData): EntryResult[] {
  return parseEntries(data).filter(({ address }) => normalHostName(address) === host);
}

/** What the server has now, whatever the watch has told so far; nothing when the ConfigMap does not exist. */
export async function readEntriesNow(
  client: Pick<Client, 'get'>,
  namespace: string,
  signal: AbortSignal,
): Promise<EntryData> {
  try {
    const found: ConfigMap = await client.get(configMaps, configMapName.instances, { namespace, signal });
    return found.data ?? {};
  } catch (error) {
    if (isNotFound(error)) return {};
    throw error;
  }
}

/** The Node that an instance is known to be. */
export function knownNode({ status }: InstanceObject, nodes: StoreView<Node>): NodeView | undefined {
  const node = status?.node === undefined ? undefined : nodes.get({ namespace: '', name: status.node });
  return node === undefined ? undefined : readNode(readObject(node));
}

/** Asks DNS for whatever tells whether the Node is one of the entries. What cannot be found out is a failed entry, never a gone one. */
export async function lookUp(
  node: NodeView | undefined,
  data: EntryData,
  resolver: Resolver,
): Promise<{ entries: ListedEntries; ptrAnswers: PtrAnswers }> {
  if (node === undefined) return { entries: { instances: [], failures: [] }, ptrAnswers: {} };
  const names = Object.keys(data).filter(address => !isIpv4(address));
  const ips = node.addresses.map(({ address }) => address).filter(isIp);
  const [answers, ptrAnswers] = await Promise.all([
    answersOf(names, async name => (await resolver.addresses(name))[0]),
    answersOf(ips, address => resolver.names(address)),
  ]);
  return { entries: resolveInstances(data, answers, [node]), ptrAnswers };
}

async function answersOf<T>(
  questions: readonly string[],
  ask: (question: string) => Promise<T>,
): Promise<Record<string, T | null>> {
  const answers = questions.map(async question => [question, await ask(question).catch(() => null)] as const);
  return Object.fromEntries(await Promise.all(answers));
}
