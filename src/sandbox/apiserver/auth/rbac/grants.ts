import type { Resource } from '#kube/resource.ts';
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from '#kube/resources.ts';
import { listAt, textAt } from '../../object.ts';
import type { StoredObject, UserInfo } from '../../ports.ts';
import { serviceAccountUsername } from '../service-account-user.ts';
import type { ApiReader } from '../token-review.ts';
import { type PolicyRule, readRules } from './rule.ts';

/** A rule that applies to a user, and the binding that grants it. */
export interface Grant {
  rule: PolicyRule;
  source: string;
}

export interface Grants {
  grants: Grant[];
  /** Missing roles that bindings refer to. */
  problems: string[];
}

export interface RoleRef {
  kind: string;
  name: string;
}

/** All rules of a user in a namespace, or cluster-wide if it is empty. */
export function grantsFor(api: ApiReader, user: UserInfo, namespace: string): Grants {
  const found: Grants = { grants: [], problems: [] };
  for (const binding of bindingsOf(user, api.list(clusterRoleBindings))) collect(found, api, user, binding);
  if (namespace !== '') {
    for (const binding of bindingsOf(user, api.list(roleBindings, namespace))) collect(found, api, user, binding);
  }
  return { ...found, problems: [...new Set(found.problems)] };
}

/** The rules of a referenced role, or why there are none. The namespace is that of the binding. */
export function rulesOfRole(api: ApiReader, ref: RoleRef, namespace: string): PolicyRule[] | { problem: string } {
  const kind = roleKind(ref);
  if (kind === undefined) return { problem: `unsupported role reference kind: "${ref.kind}"` };
  const role = api.get(kind, { namespace: kind.namespaced ? namespace : '', name: ref.name });
  if (role === undefined) return { problem: `${kind.kind.toLowerCase()}.${kind.group} "${ref.name}" not found` };
  return readRules(role['rules']);
}

/** Undefined for other kinds. */
export function roleKind({ kind }: RoleRef): Resource | undefined {
  return [roles, clusterRoles].find(role => role.kind === kind);
}

export function roleRefOf(binding: StoredObject): RoleRef {
  return { kind: textAt(binding, 'roleRef.kind'), name: textAt(binding, 'roleRef.name') };
}

function collect(found: Grants, api: ApiReader, user: UserInfo, binding: StoredObject): void {
  const { namespace = '' } = binding.metadata;
  const subject = subjectsOf(binding).find(item => appliesTo(item, user, namespace));
  if (subject === undefined) return;
  const ref = roleRefOf(binding);
  const rules = rulesOfRole(api, ref, namespace);
  if (Array.isArray(rules)) {
    const source = describe(binding, ref, subject);
    found.grants.push(...rules.map(rule => ({ rule, source })));
  } else found.problems.push(rules.problem);
}

interface Subject {
  kind: string;
  name: string;
  namespace: string;
}

/** Bindings by the names of their subjects, for each list: every request needs some of them, and every host adds some. */
const indexes = new WeakMap<readonly StoredObject[], ReadonlyMap<string, readonly StoredObject[]>>();

/** Bindings with a subject of the name of the user, of its account or of one of its groups. */
function bindingsOf({ username, groups }: UserInfo, bindings: readonly StoredObject[]): StoredObject[] {
  const index = indexes.get(bindings) ?? indexOf(bindings);
  indexes.set(bindings, index);
  const names = [username, username.split(':').at(-1) ?? '', ...groups];
  const found = new Set([...new Set(names)].flatMap(name => index.get(name) ?? []));
  // In the order of the list, on which messages depend.
  return found.size < 2 ? [...found] : bindings.filter(binding => found.has(binding));
}

function indexOf(bindings: readonly StoredObject[]): ReadonlyMap<string, readonly StoredObject[]> {
  const index = new Map<string, StoredObject[]>();
  for (const binding of bindings) {
    for (const name of new Set(subjectsOf(binding).map(subject => subject.name))) {
      const named = index.get(name);
      if (named === undefined) index.set(name, [binding]);
      else named.push(binding);
    }
  }
  return index;
}

/** Objects of the store never change. */
const subjectsOfBindings = new WeakMap<StoredObject, readonly Subject[]>();

function subjectsOf(binding: StoredObject): readonly Subject[] {
  const subjects = subjectsOfBindings.get(binding) ?? readSubjects(binding);
  subjectsOfBindings.set(binding, subjects);
  return subjects;
}

function readSubjects(binding: StoredObject): Subject[] {
  return listAt(binding, 'subjects').map(subject => ({
    kind: textAt(subject, 'kind'),
    name: textAt(subject, 'name'),
    namespace: textAt(subject, 'namespace'),
  }));
}

function appliesTo(subject: Subject, user: UserInfo, bindingNamespace: string): boolean {
  if (subject.kind === 'User') return subject.name === user.username;
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  if (subject.kind !== 'ServiceAccount') return false;
  const namespace = subject.namespace === '' ? bindingNamespace : subject.namespace;
  return namespace !== '' && user.username === serviceAccountUsername({ namespace, name: subject.name });
}

function describe(binding: StoredObject, ref: RoleRef, subject: Subject): string {
  const { name = '', namespace = '' } = binding.metadata;
  const where = namespace === '' ? name : `${name}/${namespace}`;
  const account = `${subject.name}/${subject.namespace === '' ? namespace : subject.namespace}`;
  const who = subject.kind === 'ServiceAccount' ? account : subject.name;
  return `${binding.kind} "${where}" of ${ref.kind} "${ref.name}" to ${subject.kind} "${who}"`;
}
