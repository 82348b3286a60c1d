import { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type AgentCommands, agentCommands, type InventoryOptions } from '#contract/agent-command.ts';
import { pathKey } from '#contract/host-path.ts';
import type { Inventory } from '#contract/inventory.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';
import { agentProgram } from '#contract/paths.ts';
import type { HostKey } from '#host/host-key.ts';
import type { PrivateKey } from '#host/keys/private-key.ts';
import type { PublicKey } from '#host/keys/public-key.ts';
import type { PlainFile } from '../payload-source.ts';
import { openHost } from './configure/connect.ts';
import type { LifecycleDeps } from './deps.ts';
import { HostSession } from './host-session.ts';
import type { JourneyRecord } from './journey-record.ts';

/** What all journeys know about a host so far: the connection, the agent program, the inventory and the Node. */
export abstract class HostJourney implements AsyncDisposable {
  readonly instance: WindowsInstance;
  readonly deps: LifecycleDeps;
  /** Survives a restart of the operator, so that nothing is done twice. */
  readonly record: JourneyRecord;
  readonly host: HostSession;
  /** What the address of the instance resolves to, once known. */
  ipv4: string | undefined;
  hostKey: HostKey | undefined;
  /** Of the last connection: the key that the host accepted, those offered, and the current one, if it can be used. */
  keys: { accepted: PublicKey; offered: readonly PrivateKey[]; current: PrivateKey | undefined } | undefined;
  /** Name that the kubelet registers, once claimed. */
  claimedName: string | undefined;
  #inventory: Inventory | undefined;

  constructor(instance: WindowsInstance, deps: LifecycleDeps, record: JourneyRecord) {
    this.instance = instance;
    this.deps = deps;
    this.record = record;
    const { clock, metrics } = deps;
    this.host = new HostSession({ open: signal => openHost(this, signal), clock, metrics });
  }

  /** The agent program for the host. */
  abstract get agent(): PlainFile;

  abstract get inventoryOptions(): InventoryOptions;

  get address(): string {
    return this.instance.spec.address;
  }

  /** SHA-256 of the agent program that runs commands. */
  get program(): string {
    return this.agent.sha256;
  }

  /** Command lines for the agent program on this host. */
  get commands(): AgentCommands {
    return agentCommands(agentProgram(this.program), this.deps.leader.term());
  }

  get username(): string {
    return this.instance.spec.username;
  }

  /** Node of the host: by name, never by address. */
  get nodeName(): string | undefined {
    return this.claimedName ?? this.record.known.host?.name ?? this.instance.status?.node;
  }

  get node(): NodeView | undefined {
    const node = this.nodeName === undefined ? undefined : this.deps.nodes.get(this.nodeName);
    return node !== undefined && isWindowsNode(node) ? node : undefined;
  }

  /** For steps after `find node`. */
  get joinedNode(): NodeView {
    const { node } = this;
    if (node !== undefined) return node;
    throw new AppError('NODE_NOT_FOUND', `Node ${this.nodeName} was deleted`, {
      remedy: 'Find out who deleted it (audit log of the API server).',
    });
  }

  get knownInventory(): Inventory | undefined {
    return this.#inventory;
  }

  get inventory(): Inventory {
    if (this.#inventory === undefined) throw new Error('the inventory of the host is not taken yet');
    return this.#inventory;
  }

  set inventory(inventory: Inventory) {
    const files = Object.entries(inventory.files).map(([path, hash]) => [pathKey(path), hash]);
    this.#inventory = { ...inventory, files: Object.fromEntries(files) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host[Symbol.asyncDispose]();
  }
}

/** A journey that needs nothing of the payload but the agent program, which a step loads. */
export abstract class AgentJourney extends HostJourney {
  /** Why it ends before its first act; the Node stays in service. */
  refusal: string | undefined;
  #agent: PlainFile | undefined;

  get agent(): PlainFile {
    if (this.#agent === undefined) throw new Error('the agent program is not loaded yet');
    return this.#agent;
  }

  set agent(agent: PlainFile) {
    this.#agent = agent;
  }

  /** The name of the kubelet is on the host; where a cloud gives the name, it is not needed any more. */
  get inventoryOptions(): InventoryOptions {
    return {};
  }
}
