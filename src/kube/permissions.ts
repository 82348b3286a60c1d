import type { PolicyRule } from './resources.ts';

/** One thing that a part of the operator must be allowed to do. It stands beside that part; the RBAC manifests are made of all. */
export interface Permission {
  /** In the whole cluster, in the namespace of the operator, or in another one by its name. */
  in: 'cluster' | 'own namespace' | { namespace: string };
  /** API group; empty for the core. */
  group: string;
  /** Plural names, with a subresource where one is meant: `nodes`, `certificatesigningrequests/approval`. */
  resources: readonly string[];
  verbs: readonly Verb[];
  /** Only objects of these names, of which there is at least one; lists and watches then only of one of them at a time. */
  names?: readonly string[];
}

export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  /** Of signers: what an approver of certificate requests needs. */
  | 'approve'
  /** Of roles and security context constraints. */
  | 'use';

/** Where Kubernetes keeps events about objects without a namespace. */
export const nodeEventsNamespace = 'default';

/** What an informer needs. */
export const reading: readonly Verb[] = ['get', 'list', 'watch'];

export function ruleOf({ group, resources, verbs, names }: Permission): PolicyRule {
  return {
    apiGroups: [group],
    resources: [...resources],
    ...(names && { resourceNames: [...names] }),
    verbs: [...verbs],
  };
}
