import { sameData } from '#base/compare.ts';
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from '#kube/resources.ts';
import type { AdmissionRequest, Authorizer, StoredObject, UserInfo } from '../../ports.ts';
import { forbidden, internal, notFound } from '../../status.ts';
import { isAllowed } from '../is-allowed.ts';
import { isKind } from '../is-kind.ts';
import type { ApiReader } from '../token-review.ts';
import { describePermissions, quotedList, missingPermissions } from './coverage.ts';
import { grantsFor, roleKind, roleRefOf, rulesOfRole } from './grants.ts';
import { type PolicyRule, readRules } from './rule.ts';

/** Rejects roles and bindings that grant more than their author holds. */
export function refuseEscalation(request: AdmissionRequest, api: ApiReader, authorizer: Authorizer): void {
  const { user, operation, resource, object, old, subresource } = request;
  const isRole = isKind(resource, roles) || isKind(resource, clusterRoles);
  const isBinding = isKind(resource, roleBindings) || isKind(resource, clusterRoleBindings);
  if (operation === 'delete' || subresource !== '' || !(isRole || isBinding)) return;
  if (user.groups.includes('system:masters') || changesOnlyOwners(object, old)) return;
  if (isRole) checkRole(request, api, authorizer);
  else checkBinding(request, api, authorizer);
}

function checkRole({ user, resource, object, old }: AdmissionRequest, api: ApiReader, authorizer: Authorizer): void {
  const { name = '', namespace = '' } = object.metadata;
  // A create has no name, so permission to escalate by name does not apply.
  const target = { ...resource, namespace, name: old === undefined ? '' : name };
  if (isAllowed(authorizer, user, 'escalate', target)) return;
  const grants = grantsFor(api, user, namespace);
  const held = grants.grants.map(({ rule }) => rule);
  const missing = missingPermissions(held, readRules(object['rules']));
  if (missing.length > 0) throw forbidden(resource, name, escalationText(user, missing, grants.problems));
}

function checkBinding({ user, resource, object }: AdmissionRequest, api: ApiReader, authorizer: Authorizer): void {
  const { name = '', namespace = '' } = object.metadata;
  const ref = roleRefOf(object);
  const role = roleKind(ref);
  if (role !== undefined && isAllowed(authorizer, user, 'bind', { ...role, namespace, name: ref.name })) return;
  const rules = rulesOfRole(api, ref, namespace);
  if (!Array.isArray(rules)) {
    throw role === undefined ? internal(rules.problem) : notFound(resource, ref.name);
  }
  const grants = grantsFor(api, user, namespace);
  const missing = missingPermissions(
    grants.grants.map(({ rule }) => rule),
    rules,
  );
  if (missing.length > 0) throw forbidden(resource, name, escalationText(user, missing, grants.problems));
}

function escalationText(user: UserInfo, missing: readonly PolicyRule[], problems: readonly string[]): string {
  const who = `user ${JSON.stringify(user.username)} (groups=${quotedList(user.groups)})`;
  const list = describePermissions(missing).join('\n');
  const unresolved = problems.length === 0 ? '' : `; resolution errors: [${problems.join(', ')}]`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${list}${unresolved}`;
}

/** Changes of owners and finalizers need no permission check. */
function changesOnlyOwners(object: StoredObject, old: StoredObject | undefined): boolean {
  return old !== undefined && sameData(withoutOwners(object), withoutOwners(old));
}

function withoutOwners(object: StoredObject): unknown {
  const ignored = ['ownerReferences', 'finalizers', 'managedFields', 'resourceVersion'];
  const metadata = Object.entries(object.metadata).filter(([name]) => !ignored.includes(name));
  return { ...object, metadata: Object.fromEntries(metadata) };
}
