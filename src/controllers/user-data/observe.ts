import { attempt } from '#base/errors.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { namespaceName, secretKey, secretName } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import { authorizedKey, type PublicKey } from '#host/keys/public-key.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { Informers } from '#kube/informer/informers.ts';
import { type Namespace, namespaces, type SecretObject, secrets } from '#kube/resources.ts';
import { type UserDataSecret, userData, userDataSecret } from '#node/desired/user-data/user-data.ts';
import { readPrivateKey } from '#node/inputs/private-key.ts';

/** Each limited to one name, because the operator cannot read all Secrets. */
export interface UserDataInformers {
  privateKey: Informer<SecretObject>;
  userData: Informer<SecretObject>;
  /** The namespace of the cluster API, where there is one. */
  clusterApi: Informer<Namespace>;
}

export function informersFrom(informers: Pick<Informers, 'get'>, namespace: string): UserDataInformers {
  const named = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
  return {
    privateKey: informers.get(secrets, { namespace, ...named(secretName.privateKey) }),
    userData: informers.get(secrets, { namespace: namespaceName.machineApi, ...named(secretName.userData) }),
    clusterApi: informers.get(namespaces, named(namespaceName.clusterApi)),
  };
}

/** User data for new Machines, and the key that it installs. */
export interface WantedUserData {
  secret: UserDataSecret;
  /** Its content. */
  text: string;
  publicKey: PublicKey;
}

/** Undefined while key or platform are unknown. Throws an AppError for an unusable key. */
export function wantedUserData(
  { privateKey }: Pick<UserDataInformers, 'privateKey'>,
  facts: Pick<FactsSource, 'read'>,
): WantedUserData | undefined {
  const platform = facts.read().facts?.platform;
  const [key] = privateKey.store.list();
  if (key === undefined || platform === undefined) return undefined;
  const { publicKey } = readPrivateKey(key);
  const line = authorizedKey(publicKey);
  return { secret: userDataSecret(platform, line), text: userData(platform, line), publicKey };
}

/** The current user data; undefined when there is no Secret. */
export function storedText({ userData: { store } }: Pick<UserDataInformers, 'userData'>): string | undefined {
  const [secret] = store.list();
  if (secret === undefined) return undefined;
  const data = attempt(() => secretData(readObject(secret)));
  // Unreadable data was not written by the operator.
  return data.ok ? (data.value[secretKey.userData]?.reveal() ?? '') : '';
}

/** Whether the namespace of the cluster API exists. */
export function hasClusterApi({ clusterApi: { store } }: Pick<UserDataInformers, 'clusterApi'>): boolean {
  return store.list().some(({ metadata }) => metadata.deletionTimestamp === undefined);
}
