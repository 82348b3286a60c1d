import { microTimestamp } from '#base/clock.ts';
import { serviceName } from '#contract/names.ts';
import { isAlreadyExists, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type Condition, findCondition } from '#base/condition.ts';
import { leases, nodes } from '#kube/resources.ts';
import type { Running } from './kubelet-host.ts';
import { defaultLabels, type NodeFacts, newNode, nodeStatus } from './node-object.ts';
import { conditionsOf } from './readiness.ts';

/** A real kubelet reports every five minutes; the lease is its heartbeat. */
const reportEveryMs = 60_000;
const leaseSeconds = 40;
const leaseNamespace = 'kube-node-lease';

/** Registers the Node and reports its status. */
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

  /** An existing Node keeps its taints and most labels. */
  async register(): Promise<void> {
    const { log, signal } = this.#running;
    const { name } = this.#facts;
    this.#conditions = await this.#currentConditions();
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

  /** Reports changes immediately, and otherwise in intervals. */
  async report(): Promise<void> {
    const { clock, log, signal } = this.#running;
    const before = findCondition(this.#conditions, 'Ready');
    const conditions = await this.#currentConditions();
    const after = findCondition(conditions, 'Ready');
    const hasChanged = before?.status !== after?.status || before?.message !== after?.message;
    if (!hasChanged && this.#reportedMs !== 0 && clock.monotonicMs() - this.#reportedMs < reportEveryMs) return;
    const patch = { type: 'strategic', body: { status: nodeStatus(this.#facts, conditions) } } as const;
    await this.#client.patch(nodes, this.#facts.name, patch, { subresource: 'status', signal });
    if (hasChanged) log.info('Node became', { ready: after?.status, message: after?.message });
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

  async #currentConditions(): Promise<readonly Condition[]> {
    const { host, cniConfig, faults, clock } = this.#running;
    const health = {
      isRuntimeUp: await host.isServiceRunning(serviceName.containerd),
      hasNetwork: (await host.read(cniConfig)) !== undefined,
    };
    return conditionsOf(this.#conditions, health, faults, clock.now());
  }
}
