import { boundNode, type InstanceObject } from '#cluster/windows-instances.ts';
import { byteOrder } from '#base/compare.ts';
import { normalHostName } from '#base/dns-name.ts';
import type { NodeView } from '#contract/node.ts';

export interface NodeNamesOptions {
  /** All instances that are bound to a Node of this name, by their record. */
  holders: (name: string) => readonly InstanceObject[];
  instances: () => readonly InstanceObject[];
  /** The instance as it is now; undefined when it is gone. */
  find: (instance: InstanceObject) => InstanceObject | undefined;
  /** Names that the cloud has given to the Machine; undefined where that is not known. */
  machineNames?: (machine: string) => readonly string[];
}

/**
 * Which instance has which Node name. The first one keeps it: two instances with one name would be one Node for two hosts. Claims
 * of the last moments are kept here, because records reach the cache late.
 */
export class NodeNames {
  readonly #options: NodeNamesOptions;
  readonly #claims = new Map<string, InstanceObject>();

  constructor(options: NodeNamesOptions) {
    this.#options = options;
  }

  /** Claims the name for the instance; returns who has it already. */
  claim(name: string, instance: InstanceObject): InstanceObject | undefined {
    const holder = this.#holder(name, instance);
    if (holder === undefined) this.#claims.set(name, instance);
    return holder;
  }

  /** To whom a name belongs as an address: to another instance, or to a Node that no instance is bound to. */
  addressHolder(name: string, instance: InstanceObject, nodes: readonly NodeView[]): string | undefined {
    const isName = (text: string | undefined) => text !== undefined && normalHostName(text) === name;
    const other = this.#options
      .instances()
      .filter(({ metadata }) => metadata.uid !== instance.metadata.uid)
      .find(({ spec, status }) => [spec.address, status?.ipv4, ...(spec.servingNames ?? [])].some(isName));
    if (other !== undefined) return `WindowsInstance ${other.metadata.name}`;
    const node = nodes.find(
      each =>
        each.name !== name &&
        each.addresses.some(({ address }) => isName(address)) &&
        this.#options.holders(each.name).length === 0,
    );
    return node && `Node ${node.name}`;
  }

  /** Names that the Node of a Machine may have; undefined where any will do. */
  machineNames({ spec }: InstanceObject): readonly string[] | undefined {
    if (spec.source?.kind !== 'Machine') return undefined;
    const names = this.#options.machineNames?.(spec.source.name ?? '') ?? [];
    return names.length === 0 ? undefined : names;
  }

  #holder(name: string, instance: InstanceObject): InstanceObject | undefined {
    const isOther = (other: InstanceObject) => other.metadata.uid !== instance.metadata.uid;
    const [first] = this.#options.holders(name).toSorted(byAge);
    if (first !== undefined) return isOther(first) ? first : undefined;
    const claimed = this.#claims.get(name);
    const now = claimed && this.#options.find(claimed);
    if (claimed === undefined || now === undefined || !isOther(claimed)) return undefined;
    if (now.metadata.uid !== claimed.metadata.uid) return undefined;
    // A claim ends when the host turned out to have another name.
    return [undefined, name].includes(boundNode(now)) ? now : undefined;
  }
}

function byAge({ metadata: one }: InstanceObject, { metadata: other }: InstanceObject): number {
  const created = byteOrder(one.creationTimestamp ?? '', other.creationTimestamp ?? '');
  return created === 0 ? byteOrder(one.name ?? '', other.name ?? '') : created;
}
