import { onTestFinished } from 'vitest';
import { boundNode, type WindowsInstance, windowsInstances } from '../../../src/cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '../../../src/contract/names.ts';
import type { HostConnection } from '../../../src/host/host.ts';
import type { Client } from '../../../src/kube/client.ts';
import { Informers } from '../../../src/kube/informer/informers.ts';
import { type Node, nodes } from '../../../src/kube/resources.ts';
import { namespace } from './join-lab.ts';

/** Checks every change of Nodes and instances, and every SSH connection, against what must always hold. */
export class FleetWatch {
  readonly problems: string[] = [];
  /** How many changes were seen. */
  changes = 0;
  /** The most Nodes that were out of service by the operator at once. */
  most = 0;
  /** Names of Nodes in the order in which they were taken out of service. */
  readonly taken: string[] = [];
  readonly instances = new Map<string, WindowsInstance>();
  readonly nodes = new Map<string, Node>();
  readonly #limit: number;
  /** UIDs of Nodes that have been in service: one that joins for the first time takes no capacity away. */
  readonly #served = new Set<string>();
  /** Names of Nodes that were not ready at a time since the last connection to their host: they may be removed at once. */
  readonly #unready = new Set<string>();
  readonly #connections = new Map<string, HostConnection>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  async start(client: Client): Promise<void> {
    const informers = new Informers({ client });
    const [seenNodes, seenInstances] = [informers.get(nodes), informers.get(windowsInstances, { namespace })];
    seenNodes.addHandler({
      added: node => this.#checkNode(node),
      updated: (_old, node) => this.#checkNode(node),
      deleted: ({ metadata }) => this.#change(() => this.nodes.delete(metadata.name ?? '')),
    });
    seenInstances.addHandler({
      added: instance => this.#checkInstance(instance),
      updated: (_old, instance) => this.#checkInstance(instance),
      deleted: ({ metadata }) => this.#change(() => this.instances.delete(metadata.name ?? '')),
    });
    informers.start();
    onTestFinished(() => informers.stop());
    await informers.synced();
  }

  /** Nodes that were in service until the operator cordoned them. */
  outOfService(): string[] {
    const out = [...this.nodes.values()].filter(node => isCordonedByOperator(node) && this.#wasServed(node));
    return out.map(({ metadata }) => metadata.name ?? '');
  }

  checkConnection(address: string, connection: HostConnection): void {
    this.changes += 1;
    const other = this.#connections.get(address);
    if (other !== undefined && !other.ended.aborted) this.problems.push(`${address}: two journeys at once`);
    this.#connections.set(address, connection);
    const node = `win-${address.split('.').at(-1)}`;
    if (isReady(this.nodes.get(node))) this.#unready.delete(node);
  }

  #checkNode(node: Node): void {
    const { name = '', uid = '', annotations = {} } = node.metadata;
    if (!isReady(node)) this.#unready.add(name);
    if (isCordonedByOperator(node) && !this.#isCordoned(name) && this.#unready.has(name)) this.#served.delete(uid);
    this.#change(() => this.nodes.set(name, node));
    const isConfigured = Object.hasOwn(annotations, nodeAnnotation.version);
    if (isConfigured && node.spec?.unschedulable !== true) this.#served.add(uid);
    const out = this.outOfService();
    if (out.includes(name) && this.taken.at(-1) !== name) this.taken.push(name);
    this.most = Math.max(this.most, out.length);
    if (out.length > this.#limit) this.problems.push(`out of service at once: ${out.join(', ')}`);
  }

  #checkInstance(instance: WindowsInstance): void {
    this.#change(() => this.instances.set(instance.metadata.name ?? '', instance));
    if (!isOnJourney(instance)) return;
    const node = boundNode(instance);
    const others = [...this.instances.values()].filter(
      other => other.metadata.uid !== instance.metadata.uid && isOnJourney(other) && boundNode(other) === node,
    );
    if (node !== undefined && others.length > 0) this.problems.push(`${node}: two instances are on a journey`);
  }

  #change(apply: () => unknown): void {
    this.changes += 1;
    apply();
  }

  #isCordoned(name: string): boolean {
    const node = this.nodes.get(name);
    return node !== undefined && isCordonedByOperator(node);
  }

  #wasServed({ metadata }: Node): boolean {
    return this.#served.has(metadata.uid ?? '');
  }
}

export function isCordonedByOperator({ metadata, spec }: Node): boolean {
  return spec?.unschedulable === true && Object.hasOwn(metadata.annotations ?? {}, nodeAnnotation.cordoned);
}

function isReady(node: Node | undefined): boolean {
  return node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
}

function isOnJourney({ status }: WindowsInstance): boolean {
  return status?.journey !== undefined;
}
