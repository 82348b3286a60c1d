import { AppError } from '#base/errors.ts';
import { readKeyLine } from '#contract/authorized-keys.ts';
import { describeKey, type PublicKey, publicKeyHash } from '#host/keys/public-key.ts';

/** Whoever reads the Secret could log in to Linux nodes, too. */
export function sharedKey(key: PublicKey, workerKeys: readonly string[], label: string): AppError | undefined {
  const own = publicKeyHash(key);
  const isShared = workerKeys.some(line => {
    const read = readKeyLine(line);
    return read !== undefined && publicKeyHash(read.key) === own;
  });
  if (!isShared) return undefined;
  return new AppError('PRIVATE_KEY_SHARED', `${label}: the key ${describeKey(key)} also logs in to Linux nodes`, {
    remedy:
      'Create another key for Windows hosts with `ssh-keygen -t ed25519`, authorize it on hosts of your own, and store it in the Secret.',
  });
}
