import { boundNode, byAge, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';

export interface MachineNames {
  /** Host names of a Machine. */
  of(machine: string): readonly string[];
  /** Machines that have this host name, in lower case. */
  withName(name: string): readonly string[];
}

export interface NodeNamesOptions {
  /** Instances whose record has this Node name. */
  holders: (name: string) => readonly WindowsInstance[];
  /** Instances whose spec has this name, in lower case: as address, host name or serving name. */
  named: (name: string) => readonly WindowsInstance[];
  /** Instances whose host answers at this IPv4 address. */
  dialed?: (ipv4: string) => readonly WindowsInstance[];
  /** The current instance; undefined when it is gone. */
  find: (instance: WindowsInstance) => WindowsInstance | undefined;
  /** Whether the instance gives up its host: its removal is requested, or its entry is gone. */
  isLeaving?: (instance: WindowsInstance) => boolean;
  /** Deletes the object of an instance whose host another instance has taken over. */
  discard?: (instance: WindowsInstance, signal: AbortSignal) => Promise<void>;
  /** Names that the cloud gave to Machines. */
  machines?: MachineNames;
}

/**
 * Which instance has which Node name. The first one keeps it: two instances with one name would be one Node for two hosts. Recent
 * claims are kept in memory, because records reach the cache later.
 */
export class NodeNames {
  readonly #options: NodeNamesOptions;
  readonly #claims = new Map<string, WindowsInstance>();

  constructor(options: NodeNamesOptions) {
    this.#options = options;
  }

  /**
   * Other instances with this name that give up their host, and whose host this is. `isSame` rests on what the host showed over SSH.
   */
  predecessors(
    name: string,
    instance: WindowsInstance,
    isSame: (other: WindowsInstance) => boolean,
  ): readonly WindowsInstance[] {
    const { holders, isLeaving = () => false } = this.#options;
    return holders(name).filter(other => isOther(other, instance) && isLeaving(other) && isSame(other));
  }

  /** Called once the record of the successor is stored. */
  async discard(predecessor: WindowsInstance, signal: AbortSignal): Promise<void> {
    await this.#options.discard?.(predecessor, signal);
  }

  /** Another instance that has the name. */
  holderOf(name: string, instance: WindowsInstance): WindowsInstance | undefined {
    return this.#holder(name, [instance]);
  }

  /** Claims the name for the instance; returns the instance that has it already. */
  claim(
    name: string,
    instance: WindowsInstance,
    predecessors: readonly WindowsInstance[] = [],
  ): WindowsInstance | undefined {
    const holder = this.#holder(name, [instance, ...predecessors]);
    if (holder === undefined) this.#claims.set(name, instance);
    return holder;
  }

  /**
   * Who else owns the name: by spec of another instance, by the cloud, or as an address of a control plane. What other Nodes report
   * about themselves does not count; no kubelet can set the label of a control plane itself.
   */
  ownerOf(
    name: string,
    instance: WindowsInstance,
    nodes: { withAddress(addresses: Iterable<string>): readonly NodeView[] },
    predecessors: readonly WindowsInstance[] = [],
  ): string | undefined {
    const own = [instance, ...predecessors];
    const other = this.#options.named(name).find(each => own.every(one => isOther(each, one)));
    if (other !== undefined) return `WindowsInstance ${other.metadata.name}`;
    const ownMachine = machineOf(instance);
    const machine = this.#options.machines?.withName(name).find(each => each !== ownMachine);
    if (machine !== undefined) return `Machine ${machine}`;
    const node = nodes.withAddress([name]).find(isControlPlane);
    return node && `Node ${node.name}`;
  }

  /** Another instance that stays, and whose host the Node is by the addresses that it reports. */
  hostOf({ addresses }: Pick<NodeView, 'addresses'>, instance: WindowsInstance): string | undefined {
    const { dialed = () => [], isLeaving = () => false } = this.#options;
    const found = addresses.flatMap(({ address }) => dialed(address));
    return found.find(each => isOther(each, instance) && !isLeaving(each))?.metadata.name;
  }

  /** Names that the Node of a Machine may have; undefined to allow any. */
  machineNames({ spec }: Pick<WindowsInstance, 'spec'>): readonly string[] | undefined {
    const machine = machineOf({ spec });
    const names = machine === undefined ? [] : (this.#options.machines?.of(machine) ?? []);
    return names.length === 0 ? undefined : names;
  }

  /** The first of `own` is the instance itself; the others give up the name. */
  #holder(name: string, own: readonly WindowsInstance[]): WindowsInstance | undefined {
    const isForeign = (other: WindowsInstance) => own.every(each => isOther(other, each));
    const leaving = own.slice(1);
    const [first] = this.#options
      .holders(name)
      .filter(each => leaving.every(one => isOther(each, one)))
      .toSorted(byAge);
    if (first !== undefined) return isForeign(first) ? first : undefined;
    const claimed = this.#claims.get(name);
    const now = claimed && this.#options.find(claimed);
    if (claimed === undefined || now === undefined || !isForeign(claimed)) return undefined;
    if (now.metadata.uid !== claimed.metadata.uid) return undefined;
    // A claim ends when another name was recorded.
    return [undefined, name].includes(boundNode(now)) ? now : undefined;
  }
}

function isOther({ metadata: one }: WindowsInstance, { metadata: other }: WindowsInstance): boolean {
  return one.uid !== other.uid;
}

function isControlPlane({ labels }: NodeView): boolean {
  return controlPlaneLabels.some(label => Object.hasOwn(labels, label));
}

const controlPlaneLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

function machineOf({ spec }: Pick<WindowsInstance, 'spec'>): string | undefined {
  return spec.source?.kind === 'Machine' ? spec.source.name : undefined;
}
