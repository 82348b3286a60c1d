import type { Key, OwnerReference, Resource } from '#kube/resource.ts';
import type { LocalApi, StoredObject } from '../ports.ts';

/** One object of any kind. A later object of the same name is another one. */
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

/**
 * Owners are in the namespace of their dependent or in none. `unknown` when the kind is not served (it may be later) or
 * when an object without a namespace names an owner that has one.
 */
export function ownerState(owner: OwnerReference, dependent: Item, api: LocalApi): 'exists' | 'gone' | 'unknown' {
  const resource = resourceOf(owner, api);
  if (resource === undefined || (resource.namespaced && dependent.key.namespace === '')) return 'unknown';
  const key = { namespace: resource.namespaced ? dependent.key.namespace : '', name: owner.name };
  return api.get(resource, key)?.metadata.uid === owner.uid ? 'exists' : 'gone';
}

export function resourceOf({ kind, apiVersion }: OwnerReference, api: LocalApi): Resource | undefined {
  const group = apiVersion.slice(0, Math.max(apiVersion.indexOf('/'), 0));
  return api.resources().find(resource => resource.kind === kind && resource.group === group);
}

/** Dependents by the UIDs in their owner references. */
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
