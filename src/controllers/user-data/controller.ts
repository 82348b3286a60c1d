import { AppError, attempt } from '#base/errors.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { namespaceName, secretName } from '#contract/names.ts';
import { objectLabel, readObject } from '#contract/object.ts';
import { checkStrength, publicKeyHash } from '#host/keys/public-key.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound, unless } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import { after, done, type Outcome, type Pass, TerminalError } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';
import { clusterApiCopy, type UserDataSecret } from '#node/desired/user-data/user-data.ts';
import { watchingFacts } from '#cluster/facts-watch.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { decide } from './decide.ts';
import {
  hasClusterApi,
  type UserDataInformers,
  informersFrom,
  storedText,
  type WantedUserData,
  wantedUserData,
} from './observe.ts';

const inMachineApi = { namespace: namespaceName.machineApi };
const inClusterApi = { namespace: namespaceName.clusterApi };
const own = { group: '', resources: ['secrets'], names: [secretName.userData] };
// `create` cannot be limited to a name.
const create = { group: '', resources: ['secrets'], verbs: ['create'] } as const;

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: reading, names: [secretName.privateKey] },
  { in: 'cluster', group: '', resources: ['namespaces'], verbs: reading, names: [namespaceName.clusterApi] },
  { in: inMachineApi, ...own, verbs: [...reading, 'patch'] },
  { in: inMachineApi, ...create },
  { in: inClusterApi, ...own, verbs: ['get', 'patch'] },
  { in: inClusterApi, ...create },
];

export interface UserDataParts extends ControllerParts {
  facts: FactsSource;
}

/** The copy is not watched, because not every cluster has its namespace. */
const copyRecheckMs = 30_000;
const refusedMs = 600_000;

/** Keeps the Secret with the script that gives the operator SSH access to new Machines, and its copy for the cluster API. */
export function userDataController(parts: UserDataParts): Controller {
  const { informers, namespace, facts } = parts;
  const key = { namespace, name: secretName.privateKey };
  const sources = informersFrom(informers, namespace);
  return new Controller({
    ...parts,
    name: 'user-data',
    watches: [
      watchingFacts(facts, key),
      ...[sources.privateKey, sources.userData].map(source => watching({ source, keys: () => [key] })),
      watching({ source: sources.clusterApi, keys: () => [key] }),
    ],
    reconcile: (_, pass) => reconcile(sources, parts, pass),
  });
}

async function reconcile(sources: UserDataInformers, parts: UserDataParts, pass: Pass): Promise<Outcome> {
  const wanted = readWanted(sources, parts, pass);
  if (wanted === undefined) return done;
  const { secret, text, publicKey } = wanted;
  const weak = attempt(() => checkStrength(publicKey));
  if (!weak.ok) pass.log.warn('Private key is weak', { error: weak.error });
  const secretFacts = { current: storedText(sources), wanted: text, publicKeyHash: publicKeyHash(publicKey) };
  // Nodes with an earlier key are left to key rotation.
  const decision = decide({ ...secretFacts, nodes: [], usernameOf: () => '' });
  if (decision.secret !== 'keep') await write(secret, decision.secret, parts, pass);
  return hasClusterApi(sources) ? copyUnlessRefused(secret, parts, pass) : done;
}

/** The permissions for it are optional, because they can only be applied where the namespace exists. */
async function copyUnlessRefused(secret: UserDataSecret, parts: UserDataParts, pass: Pass): Promise<Outcome> {
  try {
    await copyToClusterApi(secret, parts, pass);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    pass.log.warn('User data is not copied for the Cluster API', { error: notCopied(error) });
    return after(refusedMs, 'the operator may not copy the user data');
  }
  return after(copyRecheckMs, 'the copy of the user data is not watched');
}

function notCopied(cause: ApiError): AppError {
  const copy = objectLabel('Secret', { ...inClusterApi, name: secretName.userData });
  return new AppError('USER_DATA_NOT_COPIED', `${copy}: the operator is not allowed to write it`, {
    remedy: 'Run `kubectl apply -f deploy/rbac/cluster-api.yaml`, if you create Machines with the Cluster API.',
    cause,
  });
}

async function copyToClusterApi(secret: UserDataSecret, parts: UserDataParts, pass: Pass): Promise<void> {
  const present = await parts.client.find(secrets, secretName.userData, { ...inClusterApi, signal: pass.signal });
  const copy = clusterApiCopy(secret, present && readObject(present));
  if (copy.write) await write(copy.secret, present === undefined ? 'create' : 'update', parts, pass);
}

function readWanted(sources: UserDataInformers, { facts }: UserDataParts, { log }: Pass): WantedUserData | undefined {
  const [key] = sources.privateKey.store.list();
  if (key === undefined) {
    log.warn('Secret cloud-private-key missing; new Machines need it');
    return undefined;
  }
  const wanted = attempt(() => wantedUserData(sources, facts));
  if (wanted.ok) return wanted.value;
  // The controller of the key reports it.
  throw new TerminalError(wanted.error.message, { cause: wanted.error });
}

async function write(
  { metadata, data }: UserDataSecret,
  how: 'create' | 'update',
  { client }: UserDataParts,
  { log, signal }: Pass,
): Promise<void> {
  const { name, namespace, resourceVersion } = metadata;
  log.info('Writing user data Secret', { how, Secret: `${namespace}/${name}` });
  if (how === 'create') {
    const secret: SecretObject = { metadata: { name, namespace }, data };
    // If it exists meanwhile, the watch triggers the next pass.
    await client.create(secrets, secret, { signal }).catch(unless(isAlreadyExists));
    return;
  }
  const body = { data, ...(resourceVersion !== undefined && { metadata: { resourceVersion } }) };
  await client
    .patch(secrets, name, { type: 'merge', body }, { namespace, signal })
    .catch(unless(isConflict, isNotFound));
}
