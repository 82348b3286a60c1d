import { toBase64 } from '#base/bytes.ts';
import { isRecord } from '#base/fields.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import type { Key, Resource } from '#kube/resource.ts';
import { nodes, pods, secrets, serviceAccounts } from '#kube/resources.ts';
import type { LocalApi, StoredObject, UserInfo } from '../ports.ts';
import type { Claims } from './jwt.ts';
import { serviceAccountGroups, serviceAccountUsername, withAuthenticatedGroup } from './service-account-user.ts';
import { legacyIssuer, type TokenSigner } from './token-signer.ts';

/** Authentication and authorization only read. */
export type ApiReader = Pick<LocalApi, 'get' | 'list' | 'clock'>;

export interface ReviewedToken {
  user: UserInfo;
  /** Requested audiences that the token has. */
  audiences: readonly string[];
}

/** Allowed clock skew, and how long a deleted object still counts. */
const leewayMs = 60_000;

/** The user of a ServiceAccount token; undefined if the token is invalid, expired or its objects were deleted. */
export function reviewServiceAccountToken(
  token: string,
  asked: readonly string[],
  { signer, api }: { signer: TokenSigner; api: ApiReader },
): ReviewedToken | undefined {
  const claims = signer.read(token);
  if (claims === undefined) return undefined;
  const meantFor = audiencesOf(claims) ?? signer.audiences;
  const audiences = meantFor.filter(name => (asked.length === 0 ? signer.audiences : asked).includes(name));
  if (audiences.length === 0) return undefined;
  const user = reviewClaims(claims, token, { signer, api });
  return user === undefined ? undefined : { user: withAuthenticatedGroup(user), audiences };
}

function reviewClaims(
  claims: Claims,
  token: string,
  { signer, api }: { signer: TokenSigner; api: ApiReader },
): UserInfo | undefined {
  if (claims['iss'] === legacyIssuer) return reviewLegacyClaims(claims, token, api);
  return claims['iss'] === signer.issuer && isCurrent(claims, api.clock.now())
    ? reviewBoundClaims(claims, api)
    : undefined;
}

function reviewLegacyClaims(claims: Claims, token: string, api: ApiReader): UserInfo | undefined {
  const claim = (name: string) => textOf(claims[`kubernetes.io/serviceaccount/${name}`]);
  const [namespace, secretName] = [claim('namespace'), claim('secret.name')];
  const account: Reference = { name: claim('service-account.name'), uid: claim('service-account.uid') };
  if (claims['sub'] !== serviceAccountUsername({ namespace, name: account.name })) return undefined;
  const secret = api.get(secrets, { namespace, name: secretName });
  const data = isRecord(secret?.['data']) ? secret['data'] : {};
  const kept = secret?.metadata.deletionTimestamp === undefined && data['token'] === toBase64(token);
  const found = find(api, serviceAccounts, namespace, account);
  if (!kept || found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  return userOf(namespace, account);
}

/** Kinds of objects by the claim that names them. */
const accountKind: readonly [claim: string, kind: Resource] = ['serviceaccount', serviceAccounts];
const boundKinds: readonly (readonly [claim: string, kind: Resource])[] = [
  ['secret', secrets],
  ['pod', pods],
  ['node', nodes],
];

function reviewBoundClaims(claims: Claims, api: ApiReader): UserInfo | undefined {
  const own = isRecord(claims['kubernetes.io']) ? claims['kubernetes.io'] : {};
  const namespace = textOf(own['namespace']);
  const account = referenceOf(own['serviceaccount']);
  const bound = boundKinds.filter(([claim]) => Object.hasOwn(own, claim));
  const alive = [accountKind, ...bound].every(([claim, kind]) => {
    const object = find(api, kind, namespace, referenceOf(own[claim]));
    return object !== undefined && !isLongDeleted(object, api.clock.now());
  });
  if (!alive) return undefined;
  const reference = (claim: string) => (Object.hasOwn(own, claim) ? referenceOf(own[claim]) : undefined);
  return userOf(namespace, account, { pod: reference('pod'), node: reference('node'), id: textOf(claims['jti']) });
}

interface Reference {
  name: string;
  uid: string;
}

function find(api: ApiReader, kind: Resource, namespace: string, { name, uid }: Reference): StoredObject | undefined {
  const key: Key = { namespace: kind.namespaced ? namespace : '', name };
  const object = namespace === '' || name === '' || uid === '' ? undefined : api.get(kind, key);
  return object?.metadata.uid === uid ? object : undefined;
}

function userOf(
  namespace: string,
  account: Reference,
  { pod, node, id = '' }: { pod?: Reference | undefined; node?: Reference | undefined; id?: string } = {},
): UserInfo {
  const extra: Record<string, string[]> = {
    ...(id !== '' && { [credentialIdKey]: [`JTI=${id}`] }),
    ...(pod && {
      'authentication.kubernetes.io/pod-name': [pod.name],
      'authentication.kubernetes.io/pod-uid': [pod.uid],
    }),
    ...(node && {
      'authentication.kubernetes.io/node-name': [node.name],
      'authentication.kubernetes.io/node-uid': [node.uid],
    }),
  };
  return {
    username: serviceAccountUsername({ namespace, name: account.name }),
    uid: account.uid,
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** Bound tokens always expire. */
function isCurrent(claims: Claims, now: number): boolean {
  const seconds = (name: string) => (typeof claims[name] === 'number' ? claims[name] : undefined);
  const expires = seconds('exp');
  const starts = Math.max(seconds('nbf') ?? 0, seconds('iat') ?? 0);
  return expires !== undefined && now - leewayMs <= expires * 1000 && starts * 1000 <= now + leewayMs;
}

function isLongDeleted({ metadata }: StoredObject, now: number): boolean {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < now - leewayMs;
}

/** Undefined for legacy tokens, which have no audience. */
function audiencesOf(claims: Claims): string[] | undefined {
  const { aud } = claims;
  if (aud === undefined) return undefined;
  return (Array.isArray(aud) ? aud : [aud]).filter(item => typeof item === 'string');
}

function referenceOf(value: unknown): Reference {
  return isRecord(value) ? { name: textOf(value['name']), uid: textOf(value['uid']) } : { name: '', uid: '' };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
