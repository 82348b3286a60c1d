import type { Waiting } from '#base/waiting/poll.ts';
import { attempt, messageOf } from '#base/errors.ts';
import { agentName, proxyVariables } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { file } from '#contract/paths.ts';
import {
  applySettings,
  observeCertificates,
  observeEnvironment,
  ownedVariables,
  type SettingsPorts,
} from '../host-settings.ts';
import { cancelSwap } from '../activation/cancel.ts';
import { acceptedFile } from '../accepted.ts';
import { type KnownGood, knownGoodFile, readKnownGood } from '../known-good.ts';
import type { HostValues, ManifestSource } from '../ports.ts';
import { scriptCacheFile } from '../services/cached-scripts.ts';
import { ensureRemoved, ensureStopped, type ServicePorts } from '../services/ensure.ts';
import { isManaged } from '../services/order.ts';
import { readRecord } from '../stage/record.ts';
import { changeState, mayBeBack, readState } from '../state.ts';
import { endShims } from './shims.ts';
import { rememberStopped, startStopped } from './stopped-services.ts';
import {
  chooseServiceData,
  mergeNames,
  mergeServices,
  planRemoval,
  type Removal,
  type RemovalFailure,
  removalProblem,
  type ServiceData,
  type ServicesConfigMapView,
} from './decide.ts';

export interface CleanupPorts extends ServicePorts, SettingsPorts {
  manifests: ManifestSource;
  host: HostValues;
}

export interface CleanupOptions {
  /** Keeps variables and certificates for a new configuration, which saves two reboots. */
  keepSettings: boolean;
  /** Called for failures that do not stop the cleanup. */
  onWarning?(text: string): void;
}

export interface CleanupOutcome {
  removed: string[];
  /** Processes still see removed settings; the caller has to reboot the host. */
  rebootNeeded: boolean;
}

/** Removes services, variables and certificates of the agent from the host. Changes nothing in the cluster. */
export async function cleanUp(ports: CleanupPorts, options: CleanupOptions, waiting: Waiting): Promise<CleanupOutcome> {
  await cancelSwap(ports, waiting);
  const record = await readKnownGood(ports.files);
  const data = await findServiceData(record, ports, options, waiting.signal);
  const installed = await ports.services.list();
  const known = record !== undefined || installed.some(isManaged);
  // A host that is configured again needs its agent; on one that is removed, every service of WMCO is deleted.
  const removals = options.keepSettings
    ? planRemoval(installed, data.services, data.removeAllTagged)
    : planRemoval(installed, [...data.services, { name: agentName }], true);
  await rememberStopped(removals, ports);
  const problem = removalProblem(await applyRemovals(removals, ports, waiting));
  if (problem !== undefined) throw problem;
  await forgetVariables(ports);
  if (!options.keepSettings) await startStopped(ports, waiting, text => options.onWarning?.(text));
  const rebootNeeded = await revertSettings(data.watchedEnvironment, known, options.keepSettings, ports);
  await endShims(ports.processes);
  if (!options.keepSettings) await revertPreparations(ports, options, waiting);
  for (const path of [scriptCacheFile, knownGoodFile, acceptedFile]) await ports.files.remove(path);
  const removed = removals.filter(removal => removal.do === 'remove').map(removal => removal.name);
  return { removed, rebootNeeded };
}

/** Windows has deleted the variables of the services with them. */
async function forgetVariables({ files }: CleanupPorts): Promise<void> {
  const { serviceEnvironment } = await readState(files);
  if (serviceEnvironment.length > 0) await changeState(files, { serviceEnvironment: [] });
}

async function revertPreparations({ host }: CleanupPorts, options: CleanupOptions, waiting: Waiting): Promise<void> {
  try {
    await host.revertPreparations(waiting.signal);
  } catch (error) {
    waiting.signal.throwIfAborted();
    options.onWarning?.(messageOf(error));
  }
}

type RemovalData = Pick<ServiceData, 'services' | 'watchedEnvironment' | 'removeAllTagged'>;

/**
 * What the agent has installed, according to the services ConfigMaps of the running and the staged version, if they can be
 * read, and to the record on the host.
 */
async function findServiceData(
  record: KnownGood | undefined,
  { manifests, files }: Pick<CleanupPorts, 'manifests' | 'files'>,
  options: CleanupOptions,
  signal: AbortSignal,
): Promise<RemovalData> {
  const staged = (await readRecord(files)).version;
  const versions = new Set([record?.version ?? '', staged].filter(version => version !== ''));
  const views: ServicesConfigMapView[] = [];
  for (const version of versions) {
    const object = await manifests.servicesConfigMap(version).catch((error: unknown) => {
      signal.throwIfAborted();
      const why = messageOf(error);
      options.onWarning?.(`Services ConfigMap of version ${version} cannot be read: ${why}`);
    });
    if (object !== undefined) views.push(readConfigMap(object));
  }
  const { services = [], watchedEnvironment = [] } = record?.manifest ?? {};
  const chosen = attempt(() => chooseServiceData(views, record?.version));
  if (!chosen.ok) {
    const watched = record === undefined ? [...proxyVariables] : watchedEnvironment;
    return { services, watchedEnvironment: watched, removeAllTagged: true };
  }
  return {
    services: mergeServices(chosen.value.services, services),
    watchedEnvironment: mergeNames(chosen.value.watchedEnvironment, watchedEnvironment),
    removeAllTagged: chosen.value.removeAllTagged || staged !== record?.version,
  };
}

/** Removes one service after the other, dependents first, and gives the failures. */
export async function applyRemovals(
  removals: readonly Removal[],
  ports: ServicePorts,
  waiting: Waiting,
): Promise<RemovalFailure[]> {
  const failures: RemovalFailure[] = [];
  for (const { do: act, name } of removals) {
    try {
      await (act === 'stop' ? ensureStopped : ensureRemoved)(name, ports, waiting);
    } catch (error) {
      waiting.signal.throwIfAborted();
      failures.push({ name, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }
  return failures;
}

async function revertSettings(
  watched: readonly string[],
  known: boolean,
  keep: boolean,
  ports: CleanupPorts,
): Promise<boolean> {
  const [state, bootId] = [await readState(ports.files), await ports.host.bootId()];
  const traces = known || (await ports.files.read(file.importedCerts)) !== undefined;
  // Without a record, all watched variables belong to WMCO on a host with traces of the Go agent, and none elsewhere.
  const owned = ownedVariables(state, bootId) ?? (traces ? undefined : []);
  if (keep) {
    if (owned !== undefined) await changeState(ports.files, { environment: owned });
    return false;
  }
  const environment = await observeEnvironment({ wanted: {}, watched, owned }, ports.environment);
  const certificates = await observeCertificates(undefined, ports, mayBeBack(state, bootId).certificates);
  const changed = environment.changed || certificates.changed;
  await applySettings(environment, certificates, bootId, ports);
  // An interrupted run may have changed variables without reporting the reboot.
  return changed || state.variablesBoot === bootId;
}

function readConfigMap(value: unknown): ServicesConfigMapView {
  const object = readObject(value);
  return {
    name: object.meta.name,
    createdAt: object.meta.creationTimestamp,
    data: object.fields.stringMap('data'),
  };
}
