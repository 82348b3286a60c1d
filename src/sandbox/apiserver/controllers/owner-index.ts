import type { Key, OwnerReference, Resource } from '#kube/resource.ts';
import type { StoredObject } from '../ports.ts';

/** One object, whatever its kind. A later object of the same name is another one. */
export interface Item {
  resource: Resource;
  key: Key;
  uid: string;
}

export function itemOf(resource: Resource, { metadata }: StoredObject): Item {
  const { namespace = '', name = '', uid = '' } = metadata;
  return { resource, key: { namespace, name }, uid };
}

export function ownersOf(object: StoredObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

/** Who depends on whom, by the unique ids in owner references. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Map<string, Item>>();

  add(item: Item, owners: readonly OwnerReference[]): void {
    for (const { uid } of owners) {
      const known = this.#dependents.get(uid) ?? new Map<string, Item>();
      this.#dependents.set(uid, known.set(item.uid, item));
    }
  }

  remove(item: Item, owners: readonly OwnerReference[]): void {
    for (const { uid } of owners) {
      const known = this.#dependents.get(uid);
      known?.delete(item.uid);
      if (known?.size === 0) this.#dependents.delete(uid);
    }
  }

  dependentsOf(uid: string): Item[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }
}
