import type { UserInfo } from '../ports.ts';

export interface ServiceAccountId {
  namespace: string;
  name: string;
}

const prefix = 'system:serviceaccount:';

export function serviceAccountUsername({ namespace, name }: ServiceAccountId): string {
  return `${prefix}${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** Undefined for users that are not ServiceAccounts. */
export function readServiceAccountUsername(username: string): ServiceAccountId | undefined {
  if (!username.startsWith(prefix)) return undefined;
  const [namespace = '', name = '', ...more] = username.slice(prefix.length).split(':');
  return namespace === '' || name === '' || more.length > 0 ? undefined : { namespace, name };
}

export const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Adds the group system:authenticated. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const marks = ['system:authenticated', 'system:unauthenticated'];
  return user.groups.some(group => marks.includes(group))
    ? user
    : { ...user, groups: [...user.groups, 'system:authenticated'] };
}
