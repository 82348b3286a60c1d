import type { Clock } from '#base/clock.ts';
import { attempt } from '#base/errors.ts';
import { isIp, isIpv4 } from '#base/ipv4.ts';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import { findNodeByAddress, type NodeView, readNode } from '#contract/node.ts';
import { objectLabel, readObject } from '#contract/object.ts';
import { readTokenIds } from '#contract/token-id.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import type { ListedInstance, PtrAnswers } from '#controllers/instances/decide.ts';
import type { Resolver } from '#host/resolver.ts';
import { isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { hasConditionStatus } from '#kube/conditions.ts';
import type { StoreView } from '#kube/informer/store.ts';
import { type Node, nodes as nodeResource } from '#kube/resources.ts';
import type { TokenHolder } from './rules.ts';

/** An instance whose kubelet we approve, with what its name resolves to. */
export interface CsrInstance extends ListedInstance {
  object: InstanceObject;
}

/** Hosts that no Machine stands behind: certificates of Machines are approved by the cluster. What is refused does not count. */
export async function observeInstances(
  store: StoreView<InstanceObject>,
  resolver: Resolver,
  clock: Clock,
): Promise<CsrInstance[]> {
  const counted = store.list().filter(isCounted);
  const names = counted.filter(object => knownIpv4(object) === undefined).map(({ spec }) => spec.address);
  const answers = await patiently(names, async name => (await resolver.addresses(name))[0], clock);
  return counted.map(object => {
    const { address } = object.spec;
    return { object, address, ipv4: knownIpv4(object) ?? answers[address] ?? undefined };
  });
}

export function isCounted({ metadata, spec, status }: InstanceObject): boolean {
  const isRefused = hasConditionStatus(status?.conditions, instanceCondition.accepted, 'False');
  return spec.source?.kind !== 'Machine' && metadata.deletionTimestamp === undefined && !isRefused;
}

function knownIpv4({ spec, status }: InstanceObject): string | undefined {
  return isIpv4(spec.address) ? spec.address : status?.ipv4;
}

/** Every host that was given a token, those of Machines too. */
export function observeTokenHolders(store: StoreView<InstanceObject>): TokenHolder[] {
  return store.list().flatMap(object => {
    const tokenIds = readTokenIds(object.metadata.annotations);
    const { name = '', namespace = '' } = object.metadata;
    const label = objectLabel('WindowsInstance', { namespace, name });
    return tokenIds.length === 0 ? [] : [{ label, ipv4: knownIpv4(object), node: object.status?.node, tokenIds }];
  });
}

/** The names that DNS has for those instances that are listed by their address. */
export function observeNames(
  instances: readonly ListedInstance[],
  resolver: Resolver,
  clock: Clock,
): Promise<PtrAnswers> {
  const addresses = instances.map(({ address }) => address).filter(isIp);
  return patiently(addresses, address => resolver.names(address), clock);
}

/** Name servers that take longer are not waited for: their answer counts next time, and hosts can be asked meanwhile. */
const patienceMs = 500;

async function patiently<T>(
  questions: readonly string[],
  ask: (question: string) => Promise<T>,
  clock: Clock,
): Promise<Record<string, T | null>> {
  if (questions.length === 0) return {};
  const over = new AbortController();
  const late = clock.sleep(patienceMs, over.signal).then(
    () => null,
    () => null,
  );
  const answerTo = (question: string) => Promise.race([ask(question).catch(() => null), late]);
  const answers = questions.map(async question => [question, await answerTo(question)] as const);
  const all = Object.fromEntries(await Promise.all(answers));
  over.abort();
  return all;
}

/** All Nodes, each read once for as long as it stays what it is. */
export class NodeReader {
  readonly #store: StoreView<Node>;
  readonly #views = new WeakMap<Node, NodeView | undefined>();

  constructor(store: StoreView<Node>) {
    this.#store = store;
  }

  list(): NodeView[] {
    return this.#store.list().flatMap(node => this.#read(node) ?? []);
  }

  #read(node: Node): NodeView | undefined {
    if (!this.#views.has(node)) {
      const read = attempt(() => readNode(readObject(node)));
      this.#views.set(node, read.ok ? read.value : undefined);
    }
    return this.#views.get(node);
  }
}

/** The Nodes with this one as the server has it now: what is decided for good is not decided by an old picture. */
export async function withNodeNow(
  nodes: readonly NodeView[],
  name: string,
  client: Pick<Client, 'get'>,
  signal: AbortSignal,
): Promise<NodeView[]> {
  const others = nodes.filter(node => node.name !== name);
  try {
    const found = await client.get(nodeResource, name, { signal });
    return [...others, readNode(readObject({ apiVersion: 'v1', kind: 'Node', ...found }))];
  } catch (error) {
    if (isNotFound(error)) return others;
    throw error;
  }
}

export function nodeOfInstance({ ipv4 }: ListedInstance, nodes: readonly NodeView[]): NodeView | undefined {
  return ipv4 === undefined ? undefined : findNodeByAddress(ipv4, nodes);
}
