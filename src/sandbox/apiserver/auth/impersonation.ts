import type { AccessRequest, Authorizer, Impersonation, UserInfo } from '../ports.ts';
import { percentDecode } from '../request-info.ts';
import { internal } from '../status.ts';
import { accessForbidden } from './forbidden.ts';
import { anonymous, readServiceAccountUsername, serviceAccountGroups } from './service-account-user.ts';

type Target = Pick<AccessRequest, 'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'>;

const extraPrefix = 'impersonate-extra-';

/** Checks permission to impersonate each part of the requested identity. */
export function createImpersonation(authorizer: Authorizer): Impersonation {
  return {
    impersonate(user, rawHeaders) {
      const requested = readRequestedIdentity(rawHeaders);
      if (requested === undefined) return user;
      for (const part of partsOf(requested)) {
        const request: AccessRequest = { user, verb: 'impersonate', path: '', ...part };
        const { allowed, reason } = authorizer.authorize(request);
        if (!allowed) throw accessForbidden(request, reason);
      }
      return identityOf(requested);
    },
  };
}

interface RequestedIdentity {
  username: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
}

function readRequestedIdentity(rawHeaders: readonly string[]): RequestedIdentity | undefined {
  const headers = impersonationHeaders(rawHeaders);
  const [username = ''] = headers.get('impersonate-user') ?? [];
  const groups = headers.get('impersonate-group') ?? [];
  const extra = Object.fromEntries(
    [...headers]
      .filter(([name]) => name.startsWith(extraPrefix))
      .map(([name, values]) => [percentDecode(name.slice(extraPrefix.length)), values]),
  );
  if (username !== '') return { username, groups, extra };
  if (groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw internal('Internal Server Error: requested groups or extra values without impersonating a user');
}

/** Values by header name in lower case. */
function impersonationHeaders(rawHeaders: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (name.startsWith('impersonate-')) found.set(name, [...(found.get(name) ?? []), rawHeaders[index + 1] ?? '']);
  }
  return found;
}

function partsOf({ username, groups, extra }: RequestedIdentity): Target[] {
  const core = { group: '', version: '', subresource: '', namespace: '' };
  const account = readServiceAccountUsername(username);
  return [
    account === undefined
      ? { ...core, resource: 'users', name: username }
      : { ...core, resource: 'serviceaccounts', ...account },
    ...groups.map(name => ({ ...core, resource: 'groups', name })),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map(name => ({
        group: 'authentication.k8s.io',
        version: 'v1',
        resource: 'userextras',
        subresource,
        namespace: '',
        name,
      })),
    ),
  ];
}

function identityOf({ username, groups, extra }: RequestedIdentity): UserInfo {
  const account = readServiceAccountUsername(username);
  const named = groups.length > 0 || account === undefined ? groups : serviceAccountGroups(account.namespace);
  const [fitting, marks] =
    username === anonymous.username
      ? ['system:unauthenticated', ['system:unauthenticated']]
      : ['system:authenticated', ['system:authenticated', 'system:unauthenticated']];
  return {
    username,
    groups: named.some(group => marks.includes(group)) ? named : [...named, fitting],
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
