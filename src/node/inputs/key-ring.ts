import { AppError } from '#base/errors.ts';
import { secretName } from '#contract/names.ts';
import { objectLabel, readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import { privateKeyFromSecret } from './private-key.ts';
import { parsePrivateKey, type PrivateKey } from '#host/keys/private-key.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { SecretObject } from '#kube/resources.ts';

/**
 * The operator's private key as the Secret has it, and the one before it: while a key is changed there are hosts that know
 * only the old one. The old one is kept in memory, and so until the process ends.
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

  /** The present key first; throws an AppError when there is none that could be used. */
  keys(): PrivateKey[] {
    const [secret] = this.#informer.store.list();
    if (secret === undefined) throw missingKey(this.#label);
    const current = keyIn(secret);
    const previous = this.#previous && usable(this.#previous);
    const isOther = previous !== undefined && previous.pem.reveal() !== current.pem.reveal();
    return isOther ? [current, previous] : [current];
  }

  /** A Secret that changed in some other way, or held nothing of use, says nothing about the key before. */
  #keep(old: SecretObject): void {
    const former = usable(old);
    const [now] = this.#informer.store.list();
    const current = now && usable(now);
    if (former !== undefined && former.pem.reveal() !== current?.pem.reveal()) this.#previous = old;
  }
}

/** The key in a Secret, under the name given; throws an AppError when it cannot be used. */
export function keyIn(secret: SecretObject, member?: string): PrivateKey {
  const object = readObject(secret);
  const data = secretData(object);
  const chosen = member === undefined ? undefined : data[member];
  const pem = chosen ?? privateKeyFromSecret(member === undefined ? data : {}, object.label);
  return parsePrivateKey(pem.reveal());
}

export function missingKey(label: string): AppError {
  return new AppError('PRIVATE_KEY_MISSING', `${label} does not exist`, {
    remedy: `Create ${label} with the private key of the hosts' administrator under private-key.pem.`,
  });
}

function usable(secret: SecretObject): PrivateKey | undefined {
  try {
    return keyIn(secret);
  } catch {
    return undefined;
  }
}
