import { accessForbidden } from './auth/forbidden.ts';
import { type Body, readObject } from './body.ts';
import type { Core } from './core.ts';
import { routePath, type ServerVersion } from './discovery.ts';
import { answerReview, type Review, reviews } from './handlers/reviews.ts';
import type { Credentials, UserInfo } from './ports.ts';
import { accessOf, type RequestInfo, readRequestInfo } from './request-info.ts';
import { type Answer, routeResource } from './router.ts';
import { methodNotAllowed, unauthorized, unknownPath } from './status.ts';

export interface Incoming {
  method: string;
  path: string;
  query: URLSearchParams;
  credentials: Credentials;
  /** Names and values alternate. */
  rawHeaders: readonly string[];
  accept: string;
  userAgent: string;
}

/** An authorized request. */
export interface Admitted {
  incoming: Incoming;
  info: RequestInfo;
  user: UserInfo;
}

/** Runs before an authorized request is handled; may delay it, or reject it with a StatusError. */
export type RequestHook = (request: Pick<Admitted, 'info' | 'user'>) => Promise<void> | void;

const systemAdmin: UserInfo = { username: 'system:admin', groups: ['system:masters', 'system:authenticated'] };

/** Authenticates and authorizes a request; throws if it is rejected. */
export function admitRequest({ identity }: Core, incoming: Incoming): Admitted {
  const info = readRequestInfo(incoming.method, incoming.path, incoming.query);
  const known =
    identity.authenticator === undefined ? systemAdmin : identity.authenticator.authenticate(incoming.credentials);
  if (known === undefined) throw unauthorized();
  const user = identity.impersonation?.impersonate(known, incoming.rawHeaders) ?? known;
  const access = accessOf(info, user);
  const { allowed, reason } = identity.authorizer?.authorize(access) ?? { allowed: true, reason: '' };
  if (!allowed) throw accessForbidden(access, reason);
  return { incoming, info, user };
}

export interface ServerFacts {
  version: ServerVersion;
  address: string;
}

export function answerRequest(core: Core, facts: ServerFacts, admitted: Admitted, body: Body): Answer {
  const { incoming, info, user } = admitted;
  const { kinds } = core;
  if (info.resource === '') {
    const answer = routePath({ kinds, ...facts }, incoming.method, incoming.path, incoming.accept);
    return answer ?? unknownGroup(core, incoming.path);
  }
  const review = reviews.find(item => item.group === info.group && item.plural === info.resource);
  if (review !== undefined && info.version === 'v1') return reviewAnswer(core, admitted, review, body);
  const kind = kinds.find(info.group, info.version, info.resource);
  if (kind === undefined) return unknownResource(core, info);
  const { query, accept, userAgent } = incoming;
  return routeResource(core, { info, kind, user, query, accept, userAgent, body });
}

function reviewAnswer(core: Core, { info, user }: Admitted, review: Review, body: Body): Answer {
  if ((info.namespace !== '') !== review.namespaced) throw unknownPath();
  if (info.verb !== 'create' || info.name !== '') throw methodNotAllowed();
  return { is: 'body', code: 201, body: answerReview(core, review, user, readObject(body)) };
}

const notServed: Answer = { is: 'text', code: 404, text: '404 page not found\n' };

/** Built-in groups answer with a Status, all others with plain text. */
function unknownResource({ kinds }: Core, { group }: RequestInfo): Answer {
  if (kinds.all().some(kind => kind.group === group && !kind.custom)) throw unknownPath();
  return notServed;
}

function unknownGroup({ kinds }: Core, path: string): Answer {
  const [first, group = ''] = path.split('/').filter(part => part !== '');
  if (first === 'api' || kinds.all().some(kind => kind.group === group && group !== '' && !kind.custom))
    throw unknownPath();
  return notServed;
}
