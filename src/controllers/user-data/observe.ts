import { attempt } from '#base/errors.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { namespaceName, secretKey, secretName } from '#contract/names.ts';
import { type KubeObject, readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { authorizedKey, type PublicKey } from '#host/keys/public-key.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { Informers } from '#kube/informer/informers.ts';
import { type Namespace, namespaces, type SecretObject, secrets } from '#kube/resources.ts';
import { type UserDataSecret, userData, userDataSecret } from '#node/desired/user-data/user-data.ts';
import { privateKeyFromSecret } from '#node/inputs/private-key.ts';

/** Each by its name: nobody reads all Secrets of a cluster. */
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

/** What new Machines should get, and the key that it lets in. */
export interface WantedUserData {
  secret: UserDataSecret;
  /** What is in it. */
  text: string;
  publicKey: PublicKey;
}

/** Undefined while there is no key, or the platform is not known. Throws an AppError for a key that cannot be used. */
export function wantedUserData(
  { privateKey }: Pick<UserDataInformers, 'privateKey'>,
  facts: Pick<FactsSource, 'read'>,
): WantedUserData | undefined {
  const platform = facts.read().facts?.platform;
  const [key] = privateKey.store.list();
  if (key === undefined || platform === undefined) return undefined;
  const object = secretView(key);
  const pem = privateKeyFromSecret(secretData(object), object.label);
  const { publicKey } = parsePrivateKey(pem.reveal());
  const line = authorizedKey(publicKey);
  return { secret: userDataSecret(platform, line), text: userData(platform, line), publicKey };
}

/** The text that Machines get now; undefined when there is no Secret. */
export function storedText({ userData: { store } }: Pick<UserDataInformers, 'userData'>): string | undefined {
  const [secret] = store.list();
  if (secret === undefined) return undefined;
  const data = attempt(() => secretData(secretView(secret)));
  // What cannot be read is not what we wrote.
  return data.ok ? (data.value[secretKey.userData]?.reveal() ?? '') : '';
}

/** Whether Machines of the cluster API may be made. */
export function hasClusterApi({ clusterApi: { store } }: Pick<UserDataInformers, 'clusterApi'>): boolean {
  return store.list().some(({ metadata }) => metadata.deletionTimestamp === undefined);
}

export function secretView(object: SecretObject): KubeObject {
  return readObject(object);
}
