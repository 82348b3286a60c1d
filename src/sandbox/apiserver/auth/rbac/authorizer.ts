import type { AccessDecision, AccessRequest, AccessRules, UserInfo } from '../../ports.ts';
import type { ApiReader } from '../token-review.ts';
import { grantsFor } from './grants.ts';
import { ruleAllows } from './rule.ts';

export function authorizeByRoles(api: ApiReader, request: AccessRequest): AccessDecision {
  const { grants, problems } = grantsFor(api, request.user, request.namespace);
  const grant = grants.find(({ rule }) => ruleAllows(rule, request));
  if (grant !== undefined) return { allowed: true, reason: `RBAC: allowed by ${grant.source}` };
  return { allowed: false, reason: problems.length === 0 ? '' : `RBAC: ${joinProblems(problems)}` };
}

/** The rules of a user in a namespace. */
export function rulesByRoles(api: ApiReader, user: UserInfo, namespace: string): AccessRules {
  const { grants, problems } = grantsFor(api, user, namespace);
  const rules = grants.map(({ rule }) => rule);
  return {
    resourceRules: rules
      .filter(({ resources }) => resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs: [...verbs],
        apiGroups: [...apiGroups],
        resources: [...resources],
        ...(resourceNames.length === 0 ? {} : { resourceNames: [...resourceNames] }),
      })),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs: [...verbs], nonResourceURLs: [...nonResourceURLs] })),
    ...(problems.length === 0 ? {} : { evaluationError: joinProblems(problems) }),
  };
}

function joinProblems(problems: readonly string[]): string {
  return problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
}
