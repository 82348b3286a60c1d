import { AppError } from '#base/errors.ts';
import type { ServiceAccountToken } from '#cluster/facts.ts';
import { namespaceName, secretKey, secretName } from '#contract/names.ts';
import { objectLabel, readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import type { Permission } from '#kube/permissions.ts';
import { deleteObject } from '#cluster/delete-object.ts';
import { isAlreadyExists, unless } from '#kube/api-error.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';
import { serviceAccountToken } from '../desired/kubeconfig.ts';
import { missingInput } from './missing-input.ts';
import type { Account, TokenOptions } from './tokens.ts';

/** Not among the default permissions: an administrator who sets `--allow-lasting-tokens` applies these as well. */
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
const fillTimeoutMs = 60_000;
const accountType = 'kubernetes.io/service-account-token';
const accountMark = 'kubernetes.io/service-account.name';

type SecretOptions = Pick<TokenOptions, 'client' | 'clock' | 'log'>;

/** Reads the token in the Secret of an account, which never expires. Creates the Secret of an account of the operator. */
export async function storedToken(
  account: Account,
  options: SecretOptions,
  signal: AbortSignal,
): Promise<ServiceAccountToken> {
  const label = objectLabel('Secret', { namespace: account.namespace, name: account.secret });
  const endMs = options.clock.monotonicMs() + fillTimeoutMs;
  for (;;) {
    const found = await options.client.find(secrets, account.secret, { namespace: account.namespace, signal });
    const usable = found !== undefined && (!account.isOwned || isTokenOf(found, account.name));
    if (usable && isFilled(found)) {
      return serviceAccountToken(secretData(readObject(found)), label);
    }
    if (!account.isOwned) throw missingInput(label, undefined, 'does not exist or has no token');
    if (found !== undefined && !usable) await deleteSecret(found, options, signal);
    if (!usable) await createSecret(account, options, signal);
    if (options.clock.monotonicMs() >= endMs) throw notFilled(label);
    await options.clock.sleep(pollMs, signal);
  }
}

/** Whether the cluster keeps a token of this account in the Secret; another Secret of its name belongs to a user. */
export function isTokenOf({ type, metadata }: Pick<SecretObject, 'type' | 'metadata'>, account: string): boolean {
  return type === accountType && metadata.annotations?.[accountMark] === account;
}

function isFilled({ data = {} }: SecretObject): boolean {
  return Boolean(data[secretKey.ca]) && Boolean(data[secretKey.token]);
}

async function createSecret({ namespace, secret, name }: Account, { client }: SecretOptions, signal: AbortSignal) {
  const metadata = { name: secret, namespace, annotations: { [accountMark]: name } };
  await client.create(secrets, { metadata, type: accountType }, { signal }).catch(unless(isAlreadyExists));
}

async function deleteSecret(found: SecretObject, { client, log }: SecretOptions, signal: AbortSignal) {
  const { name, namespace } = found.metadata;
  log.info('Deleting token Secret of another account', { Secret: `${namespace}/${name}` });
  await deleteObject(client, secrets, found, signal);
}

function notFilled(label: string): AppError {
  return new AppError('TOKEN_NOT_ISSUED', `${label} has no token after ${fillTimeoutMs / 1000} s`, {
    remedy: 'Check that the token controller of kube-controller-manager runs and the service account exists.',
  });
}
