import { AppError } from '#base/errors.ts';
import type { ServiceAccountToken } from '#cluster/facts.ts';
import { namespaceName, secretKey, secretName } from '#contract/names.ts';
import { objectLabel, readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import type { Permission } from '#kube/permissions.ts';
import { isAlreadyExists, isConflict, isNotFound, unless } from '#kube/api-error.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';
import { serviceAccountToken } from '../desired/kubeconfig.ts';
import type { Account, TokenOptions } from './tokens.ts';

/** Not part of the operator's usual rights: the administrator who sets `--allow-lasting-tokens` applies them, too. */
export const lastingTokenPermissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: ['create'] },
  {
    in: 'own namespace',
    group: '',
    resources: ['secrets'],
    verbs: ['get', 'delete'],
    names: [secretName.agentToken, secretName.bootstrapToken],
  },
  {
    in: { namespace: namespaceName.machineConfig },
    group: '',
    resources: ['secrets'],
    verbs: ['get'],
    names: [secretName.bootstrapToken],
  },
];

const pollMs = 1000;
const fillMs = 60_000;
const accountType = 'kubernetes.io/service-account-token';
const accountMark = 'kubernetes.io/service-account.name';

type SecretOptions = Pick<TokenOptions, 'client' | 'clock' | 'log'>;

/** The token that never expires of an account's Secret, which is made where it is ours to make. */
export async function storedToken(
  account: Account,
  options: SecretOptions,
  signal: AbortSignal,
): Promise<ServiceAccountToken> {
  const label = objectLabel('Secret', { namespace: account.namespace, name: account.secret });
  const endMs = options.clock.monotonicMs() + fillMs;
  for (;;) {
    const found = await findSecret(account, options, signal);
    const usable = found !== undefined && (!account.ours || isFor(found, account));
    if (usable && isFilled(found)) {
      return serviceAccountToken(secretData(readObject(found)), label);
    }
    if (!account.ours) throw notThere(label);
    if (found !== undefined && !usable) await deleteSecret(found, options, signal);
    if (!usable) await makeSecret(account, options, signal);
    if (options.clock.monotonicMs() >= endMs) throw notFilled(label);
    await options.clock.sleep(pollMs, signal);
  }
}

async function findSecret({ namespace, secret }: Account, { client }: SecretOptions, signal: AbortSignal) {
  return client.find(secrets, secret, { namespace, signal });
}

function isFor({ type, metadata }: SecretObject, { name }: Account): boolean {
  return type === accountType && metadata.annotations?.[accountMark] === name;
}

function isFilled({ data = {} }: SecretObject): boolean {
  return Boolean(data[secretKey.ca]) && Boolean(data[secretKey.token]);
}

async function makeSecret({ namespace, secret, name }: Account, { client }: SecretOptions, signal: AbortSignal) {
  const metadata = { name: secret, namespace, annotations: { [accountMark]: name } };
  await client.create(secrets, { metadata, type: accountType }, { signal }).catch(unless(isAlreadyExists));
}

async function deleteSecret({ metadata }: SecretObject, { client, log }: SecretOptions, signal: AbortSignal) {
  const { name = '', namespace = '', uid } = metadata;
  log.info('Deleting a token Secret that is for something else', { Secret: `${namespace}/${name}` });
  const options = { namespace, signal, ...(uid !== undefined && { preconditions: { uid } }) };
  await client.delete(secrets, name, options).catch(unless(isNotFound, isConflict));
}

function notThere(label: string): AppError {
  return new AppError('MATERIAL_MISSING', `${label} does not exist or has no token`, {
    remedy: `Wait until ${label} is made and filled.`,
  });
}

function notFilled(label: string): AppError {
  return new AppError('TOKEN_NOT_ISSUED', `${label} has no token after ${fillMs / 1000} s`, {
    remedy: 'See that the token controller of kube-controller-manager runs and the service account exists.',
  });
}
