import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { Fields } from '#base/fields.ts';
import type { Log } from '#base/log.ts';
import { Secret } from '#base/secret.ts';
import type { ServiceAccountToken } from '#cluster/facts.ts';
import { rootCa } from '#cluster/facts-source.ts';
import { agentName, bootstrapperName, namespaceName } from '#contract/names.ts';
import { objectLabel } from '#contract/object.ts';
import { tokenIdOf } from '#contract/token-id.ts';
import type { Permission } from '#kube/permissions.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { storedToken } from './lasting-tokens.ts';
import { missingInput, PendingInputError } from './missing-input.ts';

export const permissions: readonly Permission[] = [
  {
    in: 'own namespace',
    group: '',
    resources: ['serviceaccounts/token'],
    verbs: ['create'],
    names: [agentName],
  },
  {
    in: { namespace: namespaceName.machineConfig },
    group: '',
    resources: ['serviceaccounts/token'],
    verbs: ['create'],
    names: [bootstrapperName],
  },
];

/** For clusters other than OpenShift, where the operator creates the account of kubelets. */
export const bootstrapperPermission: Permission = {
  in: 'own namespace',
  group: '',
  resources: ['serviceaccounts/token'],
  verbs: ['create'],
  names: [bootstrapperName],
};

/** A service account whose token a host uses until it has a certificate. */
export interface Account {
  namespace: string;
  name: string;
  /** Secret with a token that never expires, for clusters that issue no others. */
  secret: string;
  /** Whether the operator creates account and Secret; it only reads those of the machine config operator. */
  isOwned: boolean;
}

/** A token with what is recorded about it in the status of the instance. */
export interface IssuedToken extends ServiceAccountToken {
  /** As the API server writes it on requests, `JTI=…`; undefined before Kubernetes 1.30 and for tokens that never expire. */
  id: string | undefined;
  /** RFC 3339; undefined for a token that never expires. */
  expires: string | undefined;
}

export interface TokenOptions {
  client: Pick<Client, 'raw' | 'get' | 'find' | 'create' | 'delete'>;
  /** Of the operator. */
  namespace: string;
  /** Requested lifetime; the cluster may shorten it. */
  seconds: number;
  /** Whether to use a token that never expires if the cluster issues no other. */
  allowLasting: boolean;
  /** CA of the API server; undefined until its ConfigMap is cached. */
  clusterCa: () => string | undefined;
  clock: Clock;
  log: Log;
}

/** Requests a short-lived token; falls back to one that never expires only where an administrator allowed it. */
export async function issueToken(account: Account, options: TokenOptions, signal: AbortSignal): Promise<IssuedToken> {
  const ca = options.clusterCa();
  // No reason to fall back: Kubernetes creates the ConfigMap soon.
  if (ca === undefined || ca === '') {
    throw new PendingInputError(objectLabel('ConfigMap', { namespace: options.namespace, name: rootCa.name }));
  }
  try {
    return { ca, ...(await requestToken(account, options, signal)) };
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 404, 405].includes(error.code)) throw error;
    const isAccountMissing = error.code === 404 && error.details.name === account.name;
    if (isAccountMissing && account.isOwned) throw new PendingInputError(labelOf(account), error);
    if (isAccountMissing && !options.allowLasting) throw missingInput(labelOf(account), error);
    if (!options.allowLasting) throw notIssued(account, error);
    options.log.warn('Using a token that never expires', { ServiceAccount: labelOf(account), error });
  }
  const stored = await storedToken(account, options, signal);
  return { ...stored, id: tokenIdOf(stored.token.reveal()), expires: undefined };
}

async function requestToken(
  { namespace, name }: Account,
  { client, seconds, clock }: TokenOptions,
  signal: AbortSignal,
): Promise<Omit<IssuedToken, 'ca'>> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
  const body = { ...kind, spec: { expirationSeconds: seconds } };
  const status = new Fields(await client.raw('POST', path, { body, signal }), 'TokenRequest').object('status');
  const token = status.requiredString('token');
  const expires = status.string('expirationTimestamp');
  const isTime = expires !== undefined && !Number.isNaN(Date.parse(expires));
  return {
    token: new Secret(token),
    id: tokenIdOf(token),
    expires: isTime ? expires : new Date(clock.now() + seconds * 1000).toISOString(),
  };
}

function labelOf({ namespace, name }: Account): string {
  return objectLabel('ServiceAccount', { namespace, name });
}

function notIssued(account: Account, cause: ApiError): AppError {
  const label = labelOf(account);
  return new AppError('TOKEN_NOT_ISSUED', `${label}: the API server issues no short-lived token (${cause.message})`, {
    remedy:
      cause.code === 403
        ? `Apply the manifests in deploy/rbac, which let the operator create serviceaccounts/token of ${label}.`
        : 'Use an API server that serves TokenRequest, or start the operator with --allow-lasting-tokens (see docs/operator.md for the risk).',
    cause,
  });
}
