/** The common members of Kubernetes objects; those that a server may omit are optional. */
export interface KubeResource {
  apiVersion?: string;
  kind?: string;
  metadata: Metadata;
}

export interface Metadata {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** How a kind is addressed. The type parameter is the type of its objects. */
export interface Resource<T extends KubeResource = KubeResource> {
  /** Empty for the core group. */
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
  readonly shape?: T;
}

/** Namespace and name of an object. */
export interface Key {
  /** Empty for cluster-scoped objects. */
  namespace: string;
  name: string;
}

export interface ListMetadata {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
}

export interface KubeList<T extends KubeResource> {
  apiVersion?: string;
  kind?: string;
  metadata: ListMetadata;
  items: T[];
}

export type WatchEvent<T extends KubeResource> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  /** Its object has only a resourceVersion. */
  | { type: 'BOOKMARK'; object: T };

export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}

export function keyOf(object: KubeResource): Key {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' };
}

export function keyText({ namespace, name }: Key): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
