import { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type AgentCommands, agentCommands } from '#contract/agent-command.ts';
import { pathKey } from '#contract/host-path.ts';
import type { Inventory } from '#contract/inventory.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';
import { agentProgram } from '#contract/paths.ts';
import type { HostKey } from '#host/host-key.ts';
import type { BundleFile } from '../../bundle.ts';
import type { PlainFile } from '../../payload-source.ts';
import { HostSession } from '../host-session.ts';
import type { JourneyRecord } from '../journey-record.ts';
import type { HostFacts, HostInputs, LifecycleDeps } from '../deps.ts';
import { openHost } from './connect.ts';
import type { KubeletReach } from './reach-kubelet.ts';

/** A host that becomes a Node, with everything that is known about it so far. */
export class ConfigureJourney implements AsyncDisposable {
  readonly instance: WindowsInstance;
  readonly deps: LifecycleDeps;
  /** Survives a restart of the operator, so that nothing is done twice. */
  readonly record: JourneyRecord;
  readonly host: HostSession;
  /** What the address of the instance resolves to, once known. */
  ipv4: string | undefined;
  hostKey: HostKey | undefined;
  /** Name that the kubelet registers, once claimed. */
  claimedName: string | undefined;
  /** Set when an operator configured the Node before: it is recorded, and the host stays unchanged. */
  adoption: Adoption | undefined;
  /** Set by the last step of `configure`. */
  kubelet: KubeletReach | undefined;
  /** One of the slots for hosts that are being configured. */
  slot: Disposable | undefined;
  #basics: JourneyBasics | undefined;
  #prepared: PreparedFiles | undefined;
  #programs: readonly BundleFile[] | undefined;
  #inventory: Inventory | undefined;

  constructor(instance: WindowsInstance, deps: LifecycleDeps, record: JourneyRecord) {
    this.instance = instance;
    this.deps = deps;
    this.record = record;
    const { clock, metrics } = deps;
    this.host = new HostSession({ open: signal => openHost(this, signal), clock, metrics });
  }

  get address(): string {
    return this.instance.spec.address;
  }

  /** Command lines for the agent program on this host. */
  get commands(): AgentCommands {
    return agentCommands(agentProgram(this.basics.agent.sha256));
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

  get basics(): JourneyBasics {
    if (this.#basics === undefined) throw new Error('the agent program is not prepared yet');
    return this.#basics;
  }

  set basics(basics: JourneyBasics) {
    this.#basics = basics;
  }

  get prepared(): PreparedFiles {
    if (this.#prepared === undefined) throw new Error('the files of the host are not prepared yet');
    return this.#prepared;
  }

  set prepared(prepared: PreparedFiles) {
    this.#prepared = prepared;
    this.#basics = { facts: prepared.inputs, agent: prepared.agent };
  }

  /** All programs except the agent. */
  get programs(): readonly BundleFile[] {
    if (this.#programs === undefined) throw new Error('the programs are not packed yet');
    return this.#programs;
  }

  set programs(programs: readonly BundleFile[]) {
    this.#programs = programs;
  }

  /** Another version configured the host. The record decides, because a Node can report any version. */
  get isOfOtherVersion(): boolean {
    const { version } = this.instance.status ?? {};
    return this.record.known.agent !== undefined && version !== this.prepared.inputs.version;
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

  releaseSlot(): void {
    this.slot?.[Symbol.dispose]();
    this.slot = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.releaseSlot();
    await this.host[Symbol.asyncDispose]();
  }
}

/** What every journey to a host needs. */
export interface JourneyBasics {
  facts: HostFacts;
  agent: PlainFile;
}

/** A Node that was recorded with its host unchanged. */
export interface Adoption {
  /** Reported by the Node. */
  version: string;
  /** Whether its Node had no SSH host key, so that the key shown was trusted. */
  isNewKey: boolean;
  /** Instances that gave up the host. */
  predecessors: readonly string[];
}

/** Files for the host. */
export interface PreparedFiles {
  inputs: HostInputs;
  agent: PlainFile;
  /** Everything the operator writes. */
  texts: readonly BundleFile[];
}
