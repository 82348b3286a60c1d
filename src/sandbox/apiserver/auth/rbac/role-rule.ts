/** A rule as it stands in a role. */
export interface RoleRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/** Verbs on resources of one API group. */
export function on(verbs: readonly string[], group: string, ...resources: string[]): RoleRule {
  return { verbs: [...verbs], apiGroups: [group], resources };
}

/** Reading paths that are no resources. */
export function reading(...nonResourceURLs: string[]): RoleRule {
  return { verbs: ['get'], nonResourceURLs };
}
