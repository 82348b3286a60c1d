import { AppError } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import type { Secret } from '#base/secret.ts';
import { secretKey, secretName } from '#contract/names.ts';

/** The private key out of the decoded data of the Secret that users create for it. */
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
