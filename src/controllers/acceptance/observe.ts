import { normalHostName } from '#base/dns-name.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, isAppError } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { isIpv4 } from '#base/ipv4.ts';
import type { InstanceObject } from '#cluster/windows-instance-resource.ts';
import { parseEntries } from '#contract/instances.ts';
import { secretKey } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import type { Resolver } from '#host/resolver.ts';
import type { Client } from '#kube/client.ts';
import { type ConfigMap, secrets } from '#kube/resources.ts';
import { sourceOf } from '../sources/source.ts';

/** What is wrong with the entry an instance was made for. An entry that is gone is no problem of the instance, but its end. */
export function entryProblem(instance: InstanceObject, map: ConfigMap | undefined): AppError | undefined {
  const source = sourceOf(instance);
  if (source?.kind !== 'ConfigMap') return undefined;
  const host = normalHostName(source.name);
  const entries = parseEntries(map?.data ?? {}).filter(({ address }) => normalHostName(address) === host);
  const [first] = entries;
  return first === undefined || first.ok || entries.some(entry => entry.ok) ? undefined : first.error;
}

/** What is wrong with the Secret that the spec names; the one that all instances share is not looked at here. */
export async function keyProblem(
  { metadata, spec }: InstanceObject,
  client: Pick<Client, 'find'>,
  signal: AbortSignal,
): Promise<AppError | undefined> {
  if (spec.keySecret === undefined) return undefined;
  const { name, key = secretKey.privateKey } = spec.keySecret;
  const { namespace = '' } = metadata;
  const missing = (what: string) =>
    new AppError('PRIVATE_KEY_MISSING', `WindowsInstance ${metadata.name}: spec.keySecret: ${what}`, {
      remedy: `Store the private key in the Secret ${name} of namespace ${namespace} under the key ${key}.`,
    });
  try {
    const found = await client.find(secrets, name, { namespace, signal });
    if (found === undefined) return missing(`Secret ${name} does not exist`);
    const text = ownMember(secretData(readObject(found)), key);
    if (text === undefined) return missing(`Secret ${name} has no ${key}`);
    parsePrivateKey(text.reveal());
    return undefined;
  } catch (error) {
    if (isAppError(error) && aboutKeys.includes(error.code)) return error;
    throw error;
  }
}

/** What can be wrong with a key that is there. Everything else is the fault of the connection, and is tried again. */
const aboutKeys: readonly ErrorCode[] = [
  'FIELD_INVALID',
  'PRIVATE_KEY_UNREADABLE',
  'PRIVATE_KEY_ENCRYPTED',
  'PUBLIC_KEY_WEAK',
];

/** What the name resolves to; nothing when it has no address or nobody can tell. Whoever connects finds out why. */
export async function addressesOf({ spec }: InstanceObject, resolver: Resolver): Promise<readonly string[]> {
  if (isIpv4(spec.address)) return [];
  return resolver.addresses(spec.address).catch(() => []);
}
