import { normalHostName } from '#base/dns-name.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';
import type { InstanceSource } from '#contract/windows-instance/resource.ts';

/** Lists are searched for each of a thousand hosts, several times a second, so each list is indexed once. */
function indexed<T extends object, I>(create: (list: readonly T[]) => I): (list: readonly T[]) => I {
  const indexes = new WeakMap<readonly T[], I>();
  return list => {
    const index = indexes.get(list) ?? create(list);
    indexes.set(list, index);
    return index;
  };
}

const nodesByName = indexed((nodes: readonly NodeView[]) => new Map(nodes.map(node => [node.name, node])));

export function nodeNamed(nodes: readonly NodeView[], name: string | undefined): NodeView | undefined {
  return name === undefined ? undefined : nodesByName(nodes).get(name);
}

const sourcesOf = indexed(
  (instances: readonly WindowsInstance[]) =>
    new Set(instances.flatMap(({ spec: { source } }) => (source ? [sourceKey(source.kind, source.name ?? '')] : []))),
);

/** True if an instance comes from this source. */
export function hasInstance(instances: readonly WindowsInstance[], kind: InstanceSource, name: string): boolean {
  return sourcesOf(instances).has(sourceKey(kind, name));
}

/** Keys of entries are compared as host names. */
function sourceKey(kind: InstanceSource, name: string): string {
  return `${kind}/${kind === 'ConfigMap' ? normalHostName(name) : name}`;
}
