import { textFromBase64, toBase64 } from '#base/bytes.ts';
import type { Log } from '#base/log.ts';
import { attempt } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { Secret } from '#base/secret.ts';
import { Slots } from '#base/waiting/slots.ts';
import { keysAnnotation, secretName } from '#contract/names.ts';
import { parsePrivateKey, type PrivateKey } from '#host/keys/private-key.ts';
import { publicKeyHash } from '#host/keys/public-key.ts';
import { isAlreadyExists, isConflict } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';

export const keyStorePermissions: readonly Permission[] = [
  {
    in: 'own namespace',
    group: '',
    resources: ['secrets'],
    // `create` can be limited to a name only for server-side apply.
    verbs: [...reading, 'get', 'create', 'patch'],
    names: [secretName.privateKeys],
  },
];

export interface KeyStoreParts {
  client: Pick<Client, 'find' | 'patch'>;
  namespace: string;
  /** The Secret alone. */
  informer: Pick<Informer<SecretObject>, 'store'>;
  log: Log;
}

/** An operator that was upgraded without its manifests has no right to read it, and works as before. */
export function storedKeys({
  informers,
  namespace,
}: Pick<ControllerParts, 'informers' | 'namespace'>): Informer<SecretObject> {
  const scope = { namespace, fieldSelector: `metadata.name=${secretName.privateKeys}` };
  return informers.get(secrets, scope, {
    withoutRight: 'Without it, former private keys are forgotten with a restart of the operator.',
  });
}

/** Beside the keys; a hash is never so long. */
export const saltMember = 'settings-salt';

/** More are not kept: an administrator who replaces the key so often has other means. */
const maxKeys = 20;
const attempts = 5;

/**
 * The Secret with the private keys that hosts accepted or were told to accept, by the hash of their public key. It outlives the Secret
 * of the administrator, whose former key is gone once it is replaced.
 */
export class KeyStore {
  readonly #parts: KeyStoreParts;
  readonly #writing = new Slots(1);
  #read: { object: SecretObject | undefined; keys: readonly PrivateKey[] } = { object: undefined, keys: [] };

  constructor(parts: KeyStoreParts) {
    this.#parts = parts;
  }

  /** The newest first. */
  keys(): readonly PrivateKey[] {
    const [object] = this.#parts.informer.store.list();
    // After a user has deleted the Secret, hosts are still reached until the process ends; each key is stored again when it works.
    if (object !== undefined && object !== this.#read.object) this.#read = { object, keys: this.#keysIn(object) };
    return this.#read.keys;
  }

  /** Asked at each connection: the keys were parsed before. */
  isStored(hash: string): boolean {
    const hasSecret = this.#parts.informer.store.list().length > 0;
    return hasSecret && this.keys().some(({ publicKey }) => publicKeyHash(publicKey) === hash);
  }

  /** Stores the key as the newest one, unless it is there, and the salt that is in use. */
  async keep(key: PrivateKey, salt: Secret, signal: AbortSignal): Promise<void> {
    const hash = publicKeyHash(key.publicKey);
    await this.#change(found => {
      // A user may have changed the entry.
      if (keyIn(found, hash) !== undefined) return undefined;
      const others = orderOf(found).filter(each => each !== hash);
      const surplus = others.slice(0, Math.max(0, others.length + 1 - maxKeys));
      const hasSalt = storedSalt(found) !== undefined || salt.reveal() === '';
      return {
        data: {
          ...Object.fromEntries(surplus.map(each => [each, null])),
          [hash]: toBase64(key.pem.reveal()),
          ...(!hasSalt && { [saltMember]: toBase64(salt.reveal()) }),
        },
        order: [...others.slice(surplus.length), hash],
      };
    }, signal);
  }

  /** Deletes keys; returns how many. */
  async prune(isNeeded: (hash: string) => boolean, signal: AbortSignal): Promise<number> {
    let count = 0;
    await this.#change(found => {
      const order = orderOf(found);
      const surplus = order.filter(hash => !isNeeded(hash));
      count = surplus.length;
      if (count === 0) return undefined;
      const data = Object.fromEntries(surplus.map(hash => [hash, null]));
      return { data, order: order.filter(isNeeded) };
    }, signal);
    return count;
  }

  /** One at a time, on the fresh object. */
  async #change(
    change: (found: SecretObject | undefined) => { data: Record<string, string | null>; order: string[] } | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, namespace } = this.#parts;
    const name = secretName.privateKeys;
    using _slot = await this.#writing.take(signal);
    for (let left = attempts; ; left -= 1) {
      const found = await client.find(secrets, name, { namespace, signal });
      const next = change(found);
      if (next === undefined) return;
      const annotations = { [keysAnnotation.order]: next.order.join(',') };
      try {
        if (found === undefined) {
          const present = Object.entries(next.data).filter((each): each is [string, string] => each[1] !== null);
          const metadata = { name, namespace, annotations };
          const body = { metadata, type: 'Opaque', data: Object.fromEntries(present) };
          await client.patch(secrets, name, { type: 'apply', body }, { namespace, signal });
        } else {
          const { resourceVersion = '' } = found.metadata;
          const body = { metadata: { annotations, resourceVersion }, data: next.data };
          await client.patch(secrets, name, { type: 'merge', body }, { namespace, signal });
        }
        return;
      } catch (error) {
        if (left <= 1 || !(isConflict(error) || isAlreadyExists(error))) throw error;
      }
    }
  }

  /** An entry that is not the key of its name is ignored: a user may have edited the Secret. */
  #keysIn(object: SecretObject): PrivateKey[] {
    const newest = orderOf(object).toReversed().slice(0, maxKeys);
    return newest.flatMap(hash => {
      const key = keyIn(object, hash);
      if (key === undefined)
        this.#parts.log.warn('Ignoring a stored private key that is not the one of its name', { hash });
      return key === undefined ? [] : [key];
    });
  }
}

/** The salt in the Secret; undefined before the first key was stored. */
export function storedSalt(object: SecretObject | undefined): Secret | undefined {
  const salt = textIn(object, saltMember);
  return salt === undefined || salt === '' ? undefined : new Secret(salt);
}

function keyIn(object: SecretObject | undefined, hash: string): PrivateKey | undefined {
  const pem = textIn(object, hash);
  const key = attempt(() => (pem === undefined ? undefined : parsePrivateKey(pem)));
  return key.ok && key.value !== undefined && publicKeyHash(key.value.publicKey) === hash ? key.value : undefined;
}

/** Each entry by itself: one that is no text must not hide the others. */
function textIn(object: SecretObject | undefined, name: string): string | undefined {
  const value: unknown = ownMember(object?.data ?? {}, name);
  return typeof value === 'string' ? textFromBase64(value) : undefined;
}

/** Hashes of the stored keys; those that the annotation does not name are the oldest. */
function orderOf(object: SecretObject | undefined): string[] {
  const present = new Set(Object.keys(object?.data ?? {}).filter(name => /^[0-9a-f]{64}$/.test(name)));
  const named = (object?.metadata.annotations?.[keysAnnotation.order] ?? '').split(',');
  const known = new Set(named.filter(hash => present.has(hash)));
  return [...[...present].filter(hash => !known.has(hash)).sort(), ...known];
}
