import type { AccessDecision, AccessRequest, AccessRules, Authorizer, UserInfo } from '../ports.ts';
import { authorizeNode } from './node/authorizer.ts';
import { nodeNameOf } from './node/identity.ts';
import { authorizeByRoles, rulesByRoles } from './rbac/authorizer.ts';
import type { ApiReader } from './token-review.ts';

/** Allows system:masters everything, then asks the Node and RBAC authorizers. */
export function createAuthorizer(api: ApiReader): Authorizer {
  return {
    authorize: request => decide(api, request),
    rulesFor: (user, namespace) => rulesFor(api, user, namespace),
  };
}

function decide(api: ApiReader, request: AccessRequest): AccessDecision {
  if (request.user.groups.includes('system:masters')) return { allowed: true, reason: '' };
  const byNode = authorizeNode(api, request);
  if (byNode.allowed) return byNode;
  const byRoles = authorizeByRoles(api, request);
  if (byRoles.allowed) return byRoles;
  return { allowed: false, reason: [byNode.reason, byRoles.reason].filter(reason => reason !== '').join('\n') };
}

function rulesFor(api: ApiReader, user: UserInfo, namespace: string): AccessRules {
  const rules = rulesByRoles(api, user, namespace);
  if (nodeNameOf(user) === undefined) return rules;
  const unlisted = 'node authorizer does not support user rule resolution';
  const { evaluationError } = rules;
  const problems = evaluationError === undefined ? unlisted : `[${unlisted}, ${evaluationError}]`;
  return { ...rules, incomplete: true, evaluationError: problems };
}
