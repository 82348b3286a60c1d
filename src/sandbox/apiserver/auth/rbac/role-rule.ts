/** A rule as written in a role. */
export interface RoleRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export function on(verbs: readonly string[], group: string, ...resources: string[]): RoleRule {
  return { verbs: [...verbs], apiGroups: [group], resources };
}

/** Read access to non-resource URLs. */
export function readPaths(...nonResourceURLs: string[]): RoleRule {
  return { verbs: ['get'], nonResourceURLs };
}
