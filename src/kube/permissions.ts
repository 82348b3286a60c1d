import type { PolicyRule } from './resources.ts';

/** A permission of the operator, declared beside the code that needs it; the RBAC manifests are generated from all. */
export interface Permission {
  in: 'cluster' | 'own namespace' | { namespace: string };
  /** Empty for the core group. */
  group: string;
  /** Plural names, optionally with a subresource: `nodes`, `certificatesigningrequests/approval`. */
  resources: readonly string[];
  verbs: readonly Verb[];
  /** Only objects of these names, at least one; list and watch must then select a single name. */
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
  /** Of signers. */
  | 'approve'
  /** Of roles: to grant them without having their permissions. */
  | 'bind'
  /** Of security context constraints. */
  | 'use';

/** Namespace of events about cluster-scoped objects. */
export const nodeEventsNamespace = 'default';

/** What an informer needs. */
export const reading: readonly Verb[] = ['list', 'watch'];

export function ruleOf({ group, resources, verbs, names }: Permission): PolicyRule {
  return {
    apiGroups: [group],
    resources: [...resources],
    ...(names && { resourceNames: [...names] }),
    verbs: [...verbs],
  };
}
