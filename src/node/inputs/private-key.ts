import { AppError } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import type { Secret } from '#base/secret.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { secretKey, secretName } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import { parsePrivateKey, type PrivateKey } from '#host/keys/private-key.ts';
import type { Client } from '#kube/client.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';

/** The private key in the decoded data of the Secret that users create for all hosts. */
export function privateKeyFromSecret(
  data: Readonly<Record<string, Secret>>,
  label: string = secretName.privateKey,
): Secret {
  const key = ownMember(data, secretKey.privateKey);
  if (key !== undefined) return key;
  throw new AppError('PRIVATE_KEY_MISSING', `${label} missing '${secretKey.privateKey}' secret`, {
    remedy: `Store the private key in the Secret ${secretName.privateKey} under the key ${secretKey.privateKey}.`,
  });
}

export function readPrivateKey(secret: SecretObject): PrivateKey {
  const object = readObject(secret);
  return parsePrivateKey(privateKeyFromSecret(secretData(object), object.label).reveal());
}

/** Loads the key that `spec.keySecret` names; undefined for an instance that uses the key of all hosts. */
export async function loadInstanceKey(
  { metadata, spec }: WindowsInstance,
  client: Pick<Client, 'find'>,
  signal: AbortSignal,
): Promise<PrivateKey | undefined> {
  if (spec.keySecret === undefined) return undefined;
  const { name, key = secretKey.privateKey } = spec.keySecret;
  const { namespace = '' } = metadata;
  const missing = (what: string) =>
    new AppError('PRIVATE_KEY_MISSING', `WindowsInstance ${metadata.name}: spec.keySecret: ${what}`, {
      remedy: `Store the private key in the Secret ${name} of namespace ${namespace} under the key ${key}.`,
    });
  const found = await client.find(secrets, name, { namespace, signal });
  if (found === undefined) throw missing(`Secret ${name} does not exist`);
  const pem = ownMember(secretData(readObject(found)), key);
  if (pem === undefined) throw missing(`Secret ${name} has no ${key}`);
  return parsePrivateKey(pem.reveal());
}
