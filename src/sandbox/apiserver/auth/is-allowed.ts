import type { Resource } from '#kube/resource.ts';
import type { Authorizer, UserInfo } from '../ports.ts';

type Target = Pick<Resource, 'group' | 'plural'> & { namespace: string; name: string };

/** Whether a user may use a verb on an object, whatever the version. */
export function isAllowed(authorizer: Authorizer, user: UserInfo, verb: string, target: Target): boolean {
  const { group, plural, namespace, name } = target;
  const what = { path: '', group, version: '*', resource: plural, subresource: '', namespace, name };
  return authorizer.authorize({ user, verb, ...what }).allowed;
}
