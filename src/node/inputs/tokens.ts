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

export const permissions: readonly Permission[] = [
  {
    in: 'own namespace',
    group: '',
    resources: ['serviceaccounts/token'],
    verbs: ['create'],
    names: [agentName, bootstrapperName],
  },
  {
    in: { namespace: namespaceName.machineConfig },
    group: '',
    resources: ['serviceaccounts/token'],
    verbs: ['create'],
    names: [bootstrapperName],
  },
];

/** An account with whose token a host presents itself for the first time. */
export interface Account {
  namespace: string;
  name: string;
  /** Secret with a lasting token, for clusters that issue no short-lived ones. */
  secret: string;
  /** Whether the operator creates account and Secret; those of the machine config operator are only read. */
  ours: boolean;
}

/** A token with what is recorded of it on the instance whose host gets it. */
export interface HandedToken extends ServiceAccountToken {
  /** As the API server writes it on requests, `JTI=…`; undefined for tokens without an id (before Kubernetes 1.30, and lasting ones). */
  id: string | undefined;
  /** RFC 3339; undefined for a lasting token. */
  expires: string | undefined;
}

export interface TokenOptions {
  client: Pick<Client, 'raw' | 'get' | 'find' | 'create' | 'delete'>;
  /** Of the operator. */
  namespace: string;
  /** How long a token shall live; the cluster may give it less. */
  seconds: number;
  /** Whether a token that never expires is used where the cluster issues no other. */
  allowLasting: boolean;
  /** CA of the API server; undefined until its ConfigMap is cached. */
  clusterCa: () => string | undefined;
  clock: Clock;
  log: Log;
}

/** Gets a short-lived token; one that never expires only where the administrator has allowed it. */
export async function tokenOf(account: Account, options: TokenOptions, signal: AbortSignal): Promise<HandedToken> {
  const ca = options.clusterCa();
  // Never a reason for a lasting token: the ConfigMap comes within moments.
  if (ca === undefined || ca === '') {
    throw notThere(objectLabel('ConfigMap', { namespace: options.namespace, name: rootCa.name }));
  }
  try {
    return { ca, ...(await requestToken(account, options, signal)) };
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 404, 405].includes(error.code)) throw error;
    const isAccountMissing = error.code === 404 && error.details.name === account.name;
    if (isAccountMissing && (account.ours || !options.allowLasting)) throw notThere(labelOf(account), error);
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
): Promise<Omit<HandedToken, 'ca'>> {
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

function notThere(label: string, cause?: unknown): AppError {
  return new AppError('MATERIAL_MISSING', `${label} does not exist`, {
    remedy: `Wait until ${label} is made.`,
    cause,
  });
}

function notIssued(account: Account, cause: ApiError): AppError {
  const label = labelOf(account);
  return new AppError('TOKEN_NOT_ISSUED', `${label}: the API server issues no short-lived token (${cause.message})`, {
    remedy:
      cause.code === 403
        ? `Apply deploy/rbac, which allows the operator to create serviceaccounts/token of ${label}.`
        : 'Use an API server that serves TokenRequest, or start the operator with --allow-lasting-tokens (docs/operator.md has the risk).',
    cause,
  });
}
