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
import type { HostInputs, LifecycleDeps } from '../deps.ts';
import { openHost } from './connect.ts';

/** A host on its way to become a Node, with everything that was found out so far. */
export class ConfigureJourney implements AsyncDisposable {
  readonly instance: WindowsInstance;
  readonly world: LifecycleDeps;
  /** Survives the process, so that the next one does not repeat what must not be done twice. */
  readonly record: JourneyRecord;
  readonly host: HostSession;
  /** What the name of the instance resolves to, once that is known. */
  ipv4: string | undefined;
  hostKey: HostKey | undefined;
  /** Name under which the kubelet of the host registers, once it is claimed. */
  claimedName: string | undefined;
  /** Its Node was finished by another version: it is recorded and left as it is. */
  isAdopted = false;
  /** One of the places for hosts that are worked on. */
  turn: Disposable | undefined;
  #prepared: PreparedFiles | undefined;
  #programs: readonly BundleFile[] | undefined;
  #inventory: Inventory | undefined;

  constructor(instance: WindowsInstance, world: LifecycleDeps, record: JourneyRecord) {
    this.instance = instance;
    this.world = world;
    this.record = record;
    const { clock, metrics } = world;
    this.host = new HostSession({ open: signal => openHost(this, signal), clock, metrics });
  }

  get address(): string {
    return this.instance.spec.address;
  }

  /** Command lines for the agent program on this host. */
  get commands(): AgentCommands {
    return agentCommands(agentProgram(this.prepared.agent.sha256));
  }

  get username(): string {
    const { spec, metadata } = this.instance;
    if (spec.username) return spec.username;
    throw new AppError('INSTANCE_USERNAME_INVALID', `WindowsInstance ${metadata.name}: spec.username is missing`, {
      remedy: 'Set spec.username to a user of the host who is an administrator.',
    });
  }

  /** Which Node the host is: by name, never by address. */
  get nodeName(): string | undefined {
    return this.claimedName ?? this.record.known.host?.name ?? this.instance.status?.node;
  }

  get node(): NodeView | undefined {
    const node = this.nodeName === undefined ? undefined : this.world.nodes.get(this.nodeName);
    return node !== undefined && isWindowsNode(node) ? node : undefined;
  }

  /** For steps that come after the one which finds it. */
  get joinedNode(): NodeView {
    const { node } = this;
    if (node !== undefined) return node;
    throw new AppError('NODE_NOT_FOUND', `Node ${this.nodeName} was deleted`, {
      remedy: 'Find out who deleted it; the host joins again.',
    });
  }

  get prepared(): PreparedFiles {
    if (this.#prepared === undefined) throw new Error('the inputs of the host is not prepared yet');
    return this.#prepared;
  }

  set prepared(prepared: PreparedFiles) {
    this.#prepared = prepared;
  }

  /** All that the host needs but the agent. */
  get programs(): readonly BundleFile[] {
    if (this.#programs === undefined) throw new Error('the programs are not packed yet');
    return this.#programs;
  }

  set programs(programs: readonly BundleFile[]) {
    this.#programs = programs;
  }

  /** Another version has set the host up, with an agent whose key is recorded. By the record: a Node may say what it likes. */
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.turn?.[Symbol.dispose]();
    await this.host[Symbol.asyncDispose]();
  }
}

/** What is brought to the host. */
export interface PreparedFiles {
  inputs: HostInputs;
  agent: PlainFile;
  /** Everything the operator writes. */
  texts: readonly BundleFile[];
}
