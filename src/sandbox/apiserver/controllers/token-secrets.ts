import { toBase64 } from '#base/bytes.ts';
import type { Log } from '#base/log.ts';
import { keyOf } from '#kube/resource.ts';
import { secrets, serviceAccounts } from '#kube/resources.ts';
import { isKind } from '../auth/is-kind.ts';
import type { TokenSigner } from '../auth/token-signer.ts';
import { recordAt, textAt } from '../object.ts';
import type { Controller, LocalApi, StoredObject } from '../ports.ts';
import { createController } from './worker.ts';

const tokenType = 'kubernetes.io/service-account-token';
const nameAnnotation = 'kubernetes.io/service-account.name';
const uidAnnotation = 'kubernetes.io/service-account.uid';

/** Fills in token Secrets of ServiceAccounts and deletes those without an account. The CA is PEM. */
export function createTokenSecrets(signer: TokenSigner, caCertificate: string, log?: Log): Controller {
  return createController(
    {
      name: 'token-secrets',
      resource: secrets,
      affected: ({ resource, object }, api) => {
        if (!isKind(resource, serviceAccounts)) return [];
        const { namespace, name } = object.metadata;
        const own = api.list(secrets, namespace).filter(secret => accountNameOf(secret) === name);
        return own.map(keyOf);
      },
      reconcile: (key, api) => {
        const secret = api.get(secrets, key);
        if (secret !== undefined && secret['type'] === tokenType) fix(secret, { signer, caCertificate, api });
      },
    },
    log,
  );
}

interface SecretDeps {
  signer: TokenSigner;
  caCertificate: string;
  api: LocalApi;
}

function fix(secret: StoredObject, deps: SecretDeps): void {
  const { api } = deps;
  const { namespace = '', uid = '', annotations } = secret.metadata;
  const account = api.get(serviceAccounts, { namespace, name: accountNameOf(secret) });
  // A new account of the same name must not inherit the tokens of the old one.
  const named = annotations?.[uidAnnotation];
  const isOwn = account !== undefined && (named === undefined || named === account.metadata.uid);
  if (!isOwn) api.delete(secrets, keyOf(secret), { preconditions: { uid } });
  else fill(secret, account, deps);
}

function fill(secret: StoredObject, account: StoredObject, { signer, caCertificate, api }: SecretDeps): void {
  const { namespace = '', name = '', annotations } = secret.metadata;
  const ca = toBase64(caCertificate);
  const lacksToken = textAt(secret, 'data.token') === '';
  const lacksNamespace = textAt(secret, 'data.namespace') === '';
  const data = recordAt(secret, 'data');
  if (!lacksToken && !lacksNamespace && data['ca.crt'] === ca) return;
  const filled: StoredObject = {
    ...secret,
    metadata: {
      ...secret.metadata,
      annotations: {
        ...annotations,
        [nameAnnotation]: account.metadata.name ?? '',
        [uidAnnotation]: account.metadata.uid ?? '',
      },
    },
    data: {
      ...data,
      'ca.crt': ca,
      ...(lacksNamespace ? { namespace: toBase64(namespace) } : {}),
      ...(lacksToken ? { token: toBase64(signer.issueLegacy(account, name)) } : {}),
    },
  };
  api.replace(secrets, filled);
}

function accountNameOf(secret: StoredObject): string {
  return secret.metadata.annotations?.[nameAnnotation] ?? '';
}
