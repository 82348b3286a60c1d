import { microTimestamp } from '#base/clock.ts';
import { serviceName } from '#contract/names.ts';
import { isAlreadyExists, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type Condition, findCondition } from '#base/condition.ts';
import { leases, nodes } from '#kube/resources.ts';
import type { Running } from './kubelet-host.ts';
import { defaultLabels, type NodeFacts, newNode, nodeStatus } from './node-object.ts';
import { conditionsOf } from './readiness.ts';

/** A real one does so every five minutes; the lease says often enough that it lives. */
const reportEveryMs = 60_000;
const leaseSeconds = 40;
const leaseNamespace = 'kube-node-lease';

/** Registers the Node and keeps saying how it is. */
export class NodeReporter {
  readonly #client: Client;
  readonly #facts: NodeFacts;
  readonly #running: Running;
  #conditions: readonly Condition[] = [];
  #reportedMs = 0;
  #uid = '';

  constructor(client: Client, facts: NodeFacts, running: Running) {
    this.#client = client;
    this.#facts = facts;
    this.#running = running;
  }

  /** A Node that is there already keeps its taints, and its labels but for those every kubelet puts right. */
  async register(): Promise<void> {
    const { log, signal } = this.#running;
    const { name } = this.#facts;
    this.#conditions = await this.#look();
    log.info('Attempting to register node', { node: name });
    try {
      const { metadata } = await this.#client.create(nodes, newNode(this.#facts, this.#conditions), { signal });
      this.#uid = metadata.uid ?? '';
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const body = { metadata: { labels: defaultLabels(this.#facts) } };
      const found = await this.#client.patch(nodes, name, { type: 'strategic', body }, { signal });
      this.#uid = found.metadata.uid ?? '';
      this.#conditions = found.status?.conditions ?? [];
    }
    log.info('Successfully registered node', { node: name });
  }

  /** Says at once what has changed, and now and then that nothing has. */
  async report(): Promise<void> {
    const { clock, log, signal } = this.#running;
    const before = findCondition(this.#conditions, 'Ready');
    const conditions = await this.#look();
    const after = findCondition(conditions, 'Ready');
    const isNews = before?.status !== after?.status || before?.message !== after?.message;
    if (!isNews && this.#reportedMs !== 0 && clock.monotonicMs() - this.#reportedMs < reportEveryMs) return;
    const patch = { type: 'strategic', body: { status: nodeStatus(this.#facts, conditions) } } as const;
    await this.#client.patch(nodes, this.#facts.name, patch, { subresource: 'status', signal });
    if (isNews) log.info('Node became', { ready: after?.status, message: after?.message });
    this.#conditions = conditions;
    this.#reportedMs = clock.monotonicMs();
  }

  async renewLease(): Promise<void> {
    const { clock, signal } = this.#running;
    const { name } = this.#facts;
    const renewTime = microTimestamp(clock.now());
    const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime };
    const patch = { type: 'merge', body: { spec } } as const;
    try {
      await this.#client.patch(leases, name, patch, { namespace: leaseNamespace, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const owner = { apiVersion: 'v1', kind: 'Node', name, uid: this.#uid };
      const metadata = { name, namespace: leaseNamespace, ownerReferences: [owner] };
      await this.#client.create(leases, { metadata, spec }, { signal });
    }
  }

  async #look(): Promise<readonly Condition[]> {
    const { host, cniConfig, faults, clock } = this.#running;
    const health = {
      isRuntimeUp: await host.isServiceRunning(serviceName.containerd),
      hasNetwork: (await host.read(cniConfig)) !== undefined,
    };
    return conditionsOf(this.#conditions, health, faults, clock.now());
  }
}
