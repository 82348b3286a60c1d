import { isRecord } from '#base/fields.ts';
import { type Call, type Core, requireObject } from '../core.ts';
import { listAt, memberAt, recordAt, textAt } from '../object.ts';
import type { TokenRequest } from '../ports.ts';
import { badRequest, cause, invalid, methodNotAllowed } from '../status.ts';

const defaultSeconds = 3600;
const minSeconds = 600;

export function issueToken(core: Core, call: Call, body: unknown): unknown {
  if (!isRecord(body)) throw badRequest('the object provided is unrecognized (must be of type TokenRequest)');
  const serviceAccount = requireObject(core, call);
  if (core.identity.tokenIssuer === undefined) throw methodNotAllowed();
  const expirationSeconds = Number(memberAt(body, 'spec.expirationSeconds') ?? defaultSeconds);
  if (!(expirationSeconds >= minSeconds))
    throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [
      cause.invalid('spec.expirationSeconds', expirationSeconds, 'may not specify a duration less than 10 minutes'),
    ]);
  const { token, expirationTimestamp, audiences } = core.identity.tokenIssuer.issue({
    serviceAccount,
    audiences: listAt(body, 'spec.audiences').map(String),
    expirationSeconds,
    boundObject: boundObjectOf(body),
  });
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: call.name, namespace: call.namespace, creationTimestamp: null },
    spec: { ...recordAt(body, 'spec'), audiences, expirationSeconds },
    status: { token, expirationTimestamp },
  };
}

function boundObjectOf(body: unknown): TokenRequest['boundObject'] {
  const reference = memberAt(body, 'spec.boundObjectRef');
  if (reference === undefined) return undefined;
  const [kind, apiVersion, name, uid] = ['kind', 'apiVersion', 'name', 'uid'].map(member => textAt(reference, member));
  return { kind: kind ?? '', apiVersion: apiVersion ?? '', name: name ?? '', uid: uid ?? '' };
}
