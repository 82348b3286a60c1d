import { attempt } from '#base/errors.ts';
import { Secret } from '#base/secret.ts';
import { sha256 } from '#base/sha256.ts';
import { secretKey, secretName } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import type { ServicesManifest } from '#contract/services/manifest.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';
import { storedKeys, storedSalt } from './key-store.ts';

export const saltPermission: Permission = {
  in: 'own namespace',
  group: '',
  resources: ['secrets'],
  verbs: reading,
  names: [secretName.privateKeys, secretName.privateKey, secretName.tls],
};

/** Secrets, each with the member that counts; the first one that exists decides. */
type SaltSources = readonly (readonly [source: { store: { list(): SecretObject[] } }, member: string])[];

/** The salt of this cluster, and the Secrets whose changes may change it. All who hash settings must have the same one. */
export function clusterSalt(parts: Pick<ControllerParts, 'informers' | 'namespace'>): {
  salt: SettingsSalt;
  salted: readonly Informer<SecretObject>[];
} {
  const { informers, namespace } = parts;
  const named = (name: string) => informers.get(secrets, { namespace, fieldSelector: `metadata.name=${name}` });
  const [stored, key, tls] = [storedKeys(parts), named(secretName.privateKey), named(secretName.tls)];
  const sources: SaltSources = [
    [key, secretKey.privateKey],
    [tls, secretKey.tlsKey],
  ];
  return { salt: new SettingsSalt(sources, stored), salted: [stored, key, tls] };
}

/**
 * Known to the operator alone, for hashes of settings that may contain passwords. It is made of the shared SSH key; where each host
 * has a key of its own, of the TLS key; and stored with the first key that a host accepts. A Secret that is missing for a moment, or
 * that a user has deleted, changes nothing.
 */
export class SettingsSalt {
  readonly #sources: SaltSources;
  readonly #stored: { store: { list(): SecretObject[] } } | undefined;
  #last = new Secret('');
  #isStored = false;

  constructor(sources: SaltSources, stored?: { store: { list(): SecretObject[] } }) {
    this.#sources = sources;
    this.#stored = stored;
  }

  read(): Secret {
    // Stored with the first key, so that another key does not look like other settings to all hosts.
    const stored = storedSalt(this.#stored?.store.list()[0]);
    this.#isStored ||= stored !== undefined;
    if (stored !== undefined) this.#last = stored;
    if (this.#isStored) return this.#last;
    for (const [{ store }, member] of this.#sources) {
      const [object] = store.list();
      const found = attempt(() => object && secretData(readObject(object))[member]);
      if (!found.ok || found.value === undefined) continue;
      this.#last = new Secret(sha256(`settings ${found.value.reveal()}`));
      break;
    }
    return this.#last;
  }

  /** Empty where the services have no variables, and so no password. Agents can read it, as they can read the variables. */
  forServices({ environment }: Pick<ServicesManifest, 'environment'>): string {
    const salt = this.read().reveal();
    return Object.keys(environment).length === 0 || salt === '' ? '' : sha256(`services ${salt}`).slice(0, 32);
  }
}
