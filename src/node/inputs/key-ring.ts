import { attempt, AppError } from '#base/errors.ts';
import { secretName } from '#contract/names.ts';
import { objectLabel } from '#contract/object.ts';
import type { PrivateKey } from '#host/keys/private-key.ts';
import { publicKeyHash } from '#host/keys/public-key.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { SecretObject } from '#kube/resources.ts';
import type { KeyStore } from './key-store.ts';
import { readPrivateKey } from './private-key.ts';

/** An SSH server closes the connection after six keys that it rejects. */
const maxOffered = 5;

/**
 * The private key of the operator and former ones: during a rotation some hosts accept only those. Former keys are in the key store; those
 * that this process saw itself are kept in memory, too.
 */
export class KeyRing {
  readonly #informer: Informer<SecretObject>;
  readonly #stored: Pick<KeyStore, 'keys'>;
  readonly #label: string;
  readonly #parsed = new WeakMap<SecretObject, PrivateKey>();
  /** The newest first. */
  #former: readonly PrivateKey[] = [];

  constructor(informer: Informer<SecretObject>, stored: Pick<KeyStore, 'keys'>, namespace: string) {
    this.#informer = informer;
    this.#stored = stored;
    this.#label = objectLabel('Secret', { namespace, name: secretName.privateKey });
    informer.addHandler({ updated: old => this.#keep(old), deleted: old => this.#keep(old) });
  }

  /** Of a Secret that exists, but has no usable key. One that was deleted is no mistake: the operator uses no key then. */
  get problem(): AppError | undefined {
    if (this.#informer.store.list().length === 0) return undefined;
    const current = attempt(() => this.current());
    return current.ok ? undefined : current.error;
  }

  /** Throws an AppError when there is no usable one. */
  current(): PrivateKey {
    const [secret] = this.#informer.store.list();
    if (secret === undefined) throw missingKey(this.#label);
    return this.#parse(secret);
  }

  /** Those to offer to a host, in this order: the current key, those that worked there, further ones. */
  keysFor(lastHashes: readonly string[], own?: PrivateKey): PrivateKey[] {
    const others = [...this.#former, ...this.#stored.keys()];
    const last = others.filter(({ publicKey }) => lastHashes.includes(publicKeyHash(publicKey)));
    // What an administrator stored by mistake must not lock out hosts that work.
    const isReached = own === undefined && last.length > 0 && this.problem !== undefined;
    const first = isReached ? [] : [own ?? this.current()];
    return distinct([...first, ...last, ...others]).slice(0, maxOffered);
  }

  #parse(secret: SecretObject): PrivateKey {
    const known = this.#parsed.get(secret);
    if (known !== undefined) return known;
    const key = readPrivateKey(secret);
    this.#parsed.set(secret, key);
    return key;
  }

  /** A Secret whose key did not change, or was unusable, adds none. */
  #keep(old: SecretObject): void {
    const former = attempt(() => this.#parse(old));
    const current = attempt(() => this.current());
    if (!former.ok || (current.ok && isSame(former.value, current.value))) return;
    this.#former = distinct([former.value, ...this.#former]).slice(0, maxOffered);
  }
}

export function missingKey(label: string): AppError {
  return new AppError('PRIVATE_KEY_MISSING', `${label} does not exist`, {
    remedy: `Create ${label} with the private key of the hosts' administrator under the key private-key.pem.`,
  });
}

function distinct(keys: readonly PrivateKey[]): PrivateKey[] {
  return keys.filter((key, index) => keys.findIndex(other => isSame(key, other)) === index);
}

function isSame(one: PrivateKey, other: PrivateKey): boolean {
  return publicKeyHash(one.publicKey) === publicKeyHash(other.publicKey);
}
