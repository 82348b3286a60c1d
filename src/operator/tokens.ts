import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { Fields } from '#base/fields.ts';
import type { Log } from '#base/log.ts';
import { Secret } from '#base/secret.ts';
import type { ServiceAccountToken } from '#cluster/facts.ts';
import { agentName, bootstrapperName, namespaceName, secretKey, secretName } from '#contract/names.ts';
import { objectLabel, readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import type { Permission } from '#controllers/permissions.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';
import { serviceAccountToken } from '#node/desired/kubeconfig.ts';

export const permissions: readonly Permission[] = [
  {
    in: 'own namespace',
    group: '',
    resources: ['serviceaccounts/token'],
    verbs: ['create'],
    names: [agentName, bootstrapperName],
  },
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: ['get', 'create'] },
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: ['delete'], names: [secretName.agentToken] },
  {
    in: { namespace: namespaceName.machineConfig },
    group: '',
    resources: ['serviceaccounts/token'],
    verbs: ['create'],
    names: [bootstrapperName],
  },
  {
    in: { namespace: namespaceName.machineConfig },
    group: '',
    resources: ['secrets'],
    verbs: ['get'],
    names: [secretName.bootstrapToken],
  },
];

/** An account with whose token a host presents itself for the first time. */
export interface Account {
  namespace: string;
  name: string;
  /** Where a token that lives on is, or is put, in clusters that give no short-lived ones. */
  secret: string;
  /** Whether that Secret is ours to make. */
  ours: boolean;
}

export interface TokenOptions {
  client: Pick<Client, 'raw' | 'get' | 'create' | 'delete'>;
  /** How long a token shall live; the cluster may give it less. */
  seconds: number;
  /** CA of the API server; undefined while nobody has told it. */
  clusterCa: () => string | undefined;
  clock: Clock;
  log: Log;
}

const pollMs = 1000;
const fillMs = 60_000;
const accountType = 'kubernetes.io/service-account-token';
const accountMark = 'kubernetes.io/service-account.name';

/** Gets a token that is worth little once the host has joined; where the cluster has none, the one that never ends. */
export async function tokenOf(
  account: Account,
  options: TokenOptions,
  signal: AbortSignal,
): Promise<ServiceAccountToken> {
  const ca = options.clusterCa();
  if (ca !== undefined) {
    const token = await requestToken(account, options, signal);
    if (token !== undefined) return { ca, token };
  }
  return storedToken(account, options, signal);
}

/** Undefined where the cluster does not offer that, or not to us. */
async function requestToken(
  { namespace, name, ours }: Account,
  { client, seconds, log }: TokenOptions,
  signal: AbortSignal,
): Promise<Secret | undefined> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
  try {
    const body = { ...kind, spec: { expirationSeconds: seconds } };
    const answer = await client.raw('POST', path, { body, signal });
    return new Secret(new Fields(answer, 'TokenRequest').object('status').requiredString('token'));
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 404, 405].includes(error.code)) throw error;
    const isAccountMissing = error.code === 404 && error.details.name === name;
    if (isAccountMissing && ours) throw notThere(objectLabel('ServiceAccount', { namespace, name }), error);
    log.info('No short-lived token is given, taking the one in the Secret', { ServiceAccount: name, error });
    return undefined;
  }
}

async function storedToken(account: Account, options: TokenOptions, signal: AbortSignal): Promise<ServiceAccountToken> {
  const label = objectLabel('Secret', { namespace: account.namespace, name: account.secret });
  const endMs = options.clock.monotonicMs() + fillMs;
  for (;;) {
    const found = await findSecret(account, options, signal);
    const usable = found !== undefined && (!account.ours || isFor(found, account));
    if (usable && isFilled(found)) {
      return serviceAccountToken(secretData(readObject({ ...found, apiVersion: 'v1', kind: 'Secret' })), label);
    }
    if (!account.ours) throw notThere(label);
    if (found !== undefined && !usable) await deleteSecret(found, options, signal);
    if (!usable) await makeSecret(account, options, signal);
    if (options.clock.monotonicMs() >= endMs) throw notFilled(label);
    await options.clock.sleep(pollMs, signal);
  }
}

async function findSecret({ namespace, secret }: Account, { client }: TokenOptions, signal: AbortSignal) {
  try {
    return await client.get(secrets, secret, { namespace, signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function isFor({ type, metadata }: SecretObject, { name }: Account): boolean {
  return type === accountType && metadata.annotations?.[accountMark] === name;
}

function isFilled({ data = {} }: SecretObject): boolean {
  return Boolean(data[secretKey.ca]) && Boolean(data[secretKey.token]);
}

async function makeSecret({ namespace, secret, name }: Account, { client }: TokenOptions, signal: AbortSignal) {
  const metadata = { name: secret, namespace, annotations: { [accountMark]: name } };
  try {
    await client.create(secrets, { metadata, type: accountType }, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function deleteSecret({ metadata }: SecretObject, { client, log }: TokenOptions, signal: AbortSignal) {
  const { name = '', namespace = '', uid } = metadata;
  log.info('Deleting a token Secret that is for something else', { Secret: `${namespace}/${name}` });
  try {
    await client.delete(secrets, name, { namespace, signal, ...(uid !== undefined && { preconditions: { uid } }) });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

function notThere(label: string, cause?: unknown): AppError {
  return new AppError('MATERIAL_MISSING', `${label} does not exist`, {
    remedy: `Wait until ${label} is made; it is tried again.`,
    cause,
  });
}

function notFilled(label: string): AppError {
  return new AppError('TOKEN_NOT_ISSUED', `${label} has no token after ${fillMs / 1000} s`, {
    remedy: 'See that the token controller of kube-controller-manager runs and the service account exists.',
  });
}
