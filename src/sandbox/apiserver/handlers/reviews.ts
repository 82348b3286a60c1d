import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import type { Core } from '../core.ts';
import { listAt, memberAt, recordAt, textAt } from '../object.ts';
import type { AccessRequest, UserInfo } from '../ports.ts';
import { badRequest, cause, invalid } from '../status.ts';

/** A review: answered but not stored. */
export interface Review {
  group: string;
  plural: string;
  kind: string;
  namespaced: boolean;
  /** The status of the answer. */
  answer(core: Core, user: UserInfo, spec: Record<string, unknown>): Record<string, unknown>;
}

const authorization = 'authorization.k8s.io';

export const reviews: readonly Review[] = [
  {
    group: 'authentication.k8s.io',
    plural: 'tokenreviews',
    kind: 'TokenReview',
    namespaced: false,
    answer: reviewToken,
  },
  {
    group: authorization,
    plural: 'localsubjectaccessreviews',
    kind: 'LocalSubjectAccessReview',
    namespaced: true,
    answer: (core, _user, spec) => reviewAccess(core, subjectOf(spec), spec),
  },
  {
    group: authorization,
    plural: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    namespaced: false,
    answer: reviewAccess,
  },
  {
    group: authorization,
    plural: 'selfsubjectrulesreviews',
    kind: 'SelfSubjectRulesReview',
    namespaced: false,
    answer: (core, user, spec) => ({ ...rulesOf(core, user, textAt(spec, 'namespace')), incomplete: false }),
  },
  {
    group: authorization,
    plural: 'subjectaccessreviews',
    kind: 'SubjectAccessReview',
    namespaced: false,
    answer: (core, _user, spec) => reviewAccess(core, subjectOf(spec), spec),
  },
];

export function answerReview(core: Core, review: Review, user: UserInfo, body: unknown): unknown {
  if (!isRecord(body)) throw badRequest(`the object provided is unrecognized (must be of type ${review.kind})`);
  const apiVersion = `${review.group}/v1`;
  const [sentVersion, sentKind] = [textAt(body, 'apiVersion') || apiVersion, textAt(body, 'kind') || review.kind];
  if (sentVersion !== apiVersion || sentKind !== review.kind)
    throw badRequest(`${sentKind} in version "${sentVersion}" cannot be handled as a ${review.kind}`);
  const spec = recordAt(body, 'spec');
  const status = review.answer(core, user, spec);
  const metadata = { ...recordAt(body, 'metadata'), creationTimestamp: null };
  return { kind: review.kind, apiVersion, metadata, spec, status };
}

function reviewAccess(core: Core, user: UserInfo, spec: Record<string, unknown>): Record<string, unknown> {
  const [resource, path] = [memberAt(spec, 'resourceAttributes'), memberAt(spec, 'nonResourceAttributes')];
  if ((resource === undefined) === (path === undefined)) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw invalidReview(cause.invalid('spec.resourceAttributes', 'null', why));
  }
  const { authorizer } = core.identity;
  if (authorizer === undefined) return { allowed: true };
  const { allowed, reason } = authorizer.authorize(accessRequest(user, resource, path));
  return { allowed, ...(reason === '' ? {} : { reason }) };
}

function accessRequest(user: UserInfo, resource: unknown, path: unknown): AccessRequest {
  const attribute = (name: string): string => textAt(resource, name);
  return {
    user,
    verb: attribute('verb') || textAt(path, 'verb'),
    path: textAt(path, 'path'),
    group: attribute('group'),
    version: attribute('version'),
    resource: attribute('resource'),
    subresource: attribute('subresource'),
    namespace: attribute('namespace'),
    name: attribute('name'),
  };
}

function subjectOf(spec: Record<string, unknown>): UserInfo {
  const username = textAt(spec, 'user');
  const groups = listAt(spec, 'groups').map(String);
  if (username === '' && groups.length === 0)
    throw invalidReview(cause.invalid('spec.user', '', 'at least one of user or group must be specified'));
  return { username, groups, uid: textAt(spec, 'uid'), extra: recordAt(spec, 'extra') as Record<string, string[]> };
}

function invalidReview(problem: StatusCause): Error {
  return invalid({ group: authorization, kind: '' }, '', [problem]);
}

function rulesOf({ identity }: Core, user: UserInfo, namespace: string): Record<string, unknown> {
  if (namespace === '') throw badRequest('no namespace on request');
  if (identity.authorizer !== undefined) return { ...identity.authorizer.rulesFor(user, namespace) };
  return {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  };
}

function reviewToken(core: Core, _user: UserInfo, spec: Record<string, unknown>): Record<string, unknown> {
  const token = textAt(spec, 'token');
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const known = core.identity.authenticator?.reviewToken(token, listAt(spec, 'audiences').map(String));
  if (known === undefined) return { user: {}, error: 'invalid bearer token' };
  const { username, uid, groups, extra } = known.user;
  return {
    authenticated: true,
    user: { username, ...(uid ? { uid } : {}), groups, ...(extra === undefined ? {} : { extra }) },
    audiences: known.audiences,
  };
}
