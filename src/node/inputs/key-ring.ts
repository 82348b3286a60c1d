import { AppError } from '#base/errors.ts';
import { secretName } from '#contract/names.ts';
import { objectLabel } from '#contract/object.ts';
import type { PrivateKey } from '#host/keys/private-key.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { SecretObject } from '#kube/resources.ts';
import { readPrivateKey } from './private-key.ts';

/**
 * The operator's private key and the previous one: during a key rotation some hosts accept only the old key. It is kept in memory
 * until the process exits.
 */
export class KeyRing {
  readonly #informer: Informer<SecretObject>;
  readonly #label: string;
  #previous: SecretObject | undefined;

  constructor(informer: Informer<SecretObject>, namespace: string) {
    this.#informer = informer;
    this.#label = objectLabel('Secret', { namespace, name: secretName.privateKey });
    informer.addHandler({
      updated: old => this.#keep(old),
      deleted: old => this.#keep(old),
    });
  }

  /** The current key first; throws an AppError when there is no usable one. */
  keys(): PrivateKey[] {
    const [secret] = this.#informer.store.list();
    if (secret === undefined) throw missingKey(this.#label);
    const current = readPrivateKey(secret);
    const previous = this.#previous && usable(this.#previous);
    const isOther = previous !== undefined && previous.pem.reveal() !== current.pem.reveal();
    return isOther ? [current, previous] : [current];
  }

  /** A Secret whose key did not change, or was unusable, does not replace the previous key. */
  #keep(old: SecretObject): void {
    const former = usable(old);
    const [now] = this.#informer.store.list();
    const current = now && usable(now);
    if (former !== undefined && former.pem.reveal() !== current?.pem.reveal()) this.#previous = old;
  }
}

export function missingKey(label: string): AppError {
  return new AppError('PRIVATE_KEY_MISSING', `${label} does not exist`, {
    remedy: `Create ${label} with the private key of the hosts' administrator under the key private-key.pem.`,
  });
}

function usable(secret: SecretObject): PrivateKey | undefined {
  try {
    return readPrivateKey(secret);
  } catch {
    return undefined;
  }
}
