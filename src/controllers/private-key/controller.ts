import { type AppError, attempt } from '#base/errors.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { watchingFacts } from '#cluster/facts-watch.ts';
import { workerKeys } from '#cluster/worker-keys.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { secretName } from '#contract/names.ts';
import { objectLabel } from '#contract/object.ts';
import type { PrivateKey } from '#host/keys/private-key.ts';
import { checkStrength, publicKeyHash } from '#host/keys/public-key.ts';
import { Controller } from '#kube/controller/controller.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { changed } from '#kube/controller/predicate.ts';
import { done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';
import { KeyStore, keyStorePermissions, storedKeys } from '#node/inputs/key-store.ts';
import { readPrivateKey } from '#node/inputs/private-key.ts';
import type { HostInputSource } from '#node/lifecycle/deps.ts';
import { neededKeys } from './decide.ts';
import { sharedKey } from './shared-key.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: reading, names: [secretName.privateKey] },
  ...keyStorePermissions,
];

export interface PrivateKeyParts extends ControllerParts {
  facts: Pick<FactsSource, 'objects' | 'onChange'>;
  settings: { keepsPrivateKeys?: boolean };
  inputs: Pick<HostInputSource, 'currentKeyHash'>;
}

interface Sources {
  key: Informer<SecretObject>;
  store: KeyStore;
  instances: Informer<WindowsInstance>;
  events: EventDeduper;
}

/** Reports a private key that is unusable, weak or not only of Windows hosts, and deletes former keys that no host needs any more. */
export function privateKeyController(parts: PrivateKeyParts): Controller {
  const { informers, namespace } = parts;
  // Hundreds of hosts may change what they need; only the Secret and the cluster change what is wrong with the key.
  const current = { namespace, name: secretName.privateKey };
  const former = { namespace, name: secretName.privateKeys };
  const named = (name: string) => informers.get(secrets, { namespace, fieldSelector: `metadata.name=${name}` });
  const stored = storedKeys(parts);
  const sources: Sources = {
    key: named(secretName.privateKey),
    store: new KeyStore({ ...parts, informer: stored }),
    instances: informers.get(windowsInstances, { namespace }),
    events: new EventDeduper(parts),
  };
  return new Controller({
    ...parts,
    name: 'private-key',
    watches: [
      watchingFacts(parts.facts, current),
      watching({ source: sources.key, keys: () => [current, former] }),
      watching({ source: stored, keys: () => [former] }),
      watching({ source: sources.instances, predicate: usesChanged, keys: () => [former] }),
    ],
    reconcile: ({ name }, pass) => reconcile(name, sources, parts, pass),
  });
}

/** Not each time that a host is asked again. */
const usesChanged = changed(({ status }: WindowsInstance) => {
  const { hash, former, pending } = status?.key ?? {};
  return [hash, former, pending?.hash];
});

async function reconcile(name: string, sources: Sources, parts: PrivateKeyParts, pass: Pass): Promise<Outcome> {
  const [secret] = sources.key.store.list();
  const read = attempt(() => secret && readPrivateKey(secret));
  if (name === secretName.privateKeys) await prune(read.ok ? read.value : undefined, sources, parts, pass);
  else report(secret, read.ok ? problemsOf(read.value, parts) : [unusable(read.error)], sources, pass);
  return done;
}

function report(
  secret: SecretObject | undefined,
  problems: readonly EventText[],
  { events }: Pick<Sources, 'events'>,
  { log }: Pass,
): void {
  const objects = secret === undefined ? [] : [referenceTo(secrets, secret)];
  const isNew = events.report(secretName.privateKey, objects, problems);
  if (isNew) for (const { reason, message } of problems) log.warn('Private key', { reason, message });
}

function problemsOf(key: PrivateKey | undefined, { facts, namespace }: PrivateKeyParts): EventText[] {
  if (key === undefined) return [];
  const weak = attempt(() => checkStrength(key.publicKey));
  const shared = sharedKey(
    key.publicKey,
    workerKeys(facts.objects()),
    objectLabel('Secret', { namespace, name: secretName.privateKey }),
  );
  return [
    ...(weak.ok ? [] : [eventText.privateKeyWeak(textOf(weak.error))]),
    ...(shared === undefined ? [] : [eventText.privateKeyShared(textOf(shared))]),
  ];
}

function unusable(error: AppError): EventText {
  return eventText.privateKeyUnusable(textOf(error));
}

function textOf({ code, message, remedy }: AppError): string {
  return `${code}: ${message}. ${remedy}`;
}

async function prune(
  current: PrivateKey | undefined,
  { instances, store }: Sources,
  { settings, inputs }: PrivateKeyParts,
  { log, signal }: Pass,
): Promise<void> {
  const uses = instances.store.list().map(instance => ({
    key: instance.status?.key,
    wasReached: instance.status?.hostKey !== undefined,
    wanted: inputs.currentKeyHash?.(instance),
  }));
  const isKept = settings.keepsPrivateKeys !== false;
  const needed = isKept ? neededKeys(current && publicKeyHash(current.publicKey), uses) : new Set<string>();
  if (needed === 'all' || store.keys().every(({ publicKey }) => needed.has(publicKeyHash(publicKey)))) return;
  const count = await store.prune(hash => needed.has(hash), signal);
  if (count > 0) log.info('Deleted private keys that no host needs', { Secret: secretName.privateKeys, count });
}
