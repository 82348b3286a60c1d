import type { Waiting } from '#base/waiting/poll.ts';
import { attempt, messageOf } from '#base/errors.ts';
import { managedTag, proxyVariables } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { file } from '#contract/paths.ts';
import {
  applySettings,
  observeCertificates,
  observeEnvironment,
  ownedVariables,
  type SettingsPorts,
} from '../host-settings.ts';
import { type KnownGood, knownGoodFile, readKnownGood } from '../known-good.ts';
import type { HostValues, InstalledService, ManifestSource } from '../ports.ts';
import { scriptCacheFile } from '../services/cached-scripts.ts';
import { ensureRemoved, ensureStopped, type ServicePorts } from '../services/ensure.ts';
import { readRecord } from '../stage/record.ts';
import { changeState, mayBeBack, readState } from '../state.ts';
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
  /** Before the host is configured again: variables and certificates stay, which saves two reboots. */
  keepSettings: boolean;
  /** Hears of what could not be read or taken back and keeps nobody from anything. */
  onWarning?(text: string): void;
}

export interface CleanupOutcome {
  removed: string[];
  /** Processes still have what was taken away. Whoever runs the command has to act on it. */
  rebootNeeded: boolean;
}

const shimProcess = 'containerd-shim-runhcs-v1';

/** Takes from the host what the agent has put there: services, variables, certificates. It changes nothing in the cluster. */
export async function cleanUp(ports: CleanupPorts, options: CleanupOptions, waiting: Waiting): Promise<CleanupOutcome> {
  const record = await readKnownGood(ports.files);
  const data = await findServiceData(record, ports, options, waiting.signal);
  const installed = await ports.services.list();
  const known = record !== undefined || installed.some(isManaged);
  const removals = planRemoval(installed, data.services, data.removeAllTagged);
  const problem = removalProblem(await applyRemovals(removals, ports, waiting));
  if (problem !== undefined) throw problem;
  const rebootNeeded = await takeBackSettings(data.watchedEnvironment, known, options.keepSettings, ports);
  // Containers that a drain leaves, such as those of DaemonSets, keep the executable of the shim open.
  await ports.processes.killByName(shimProcess).catch(() => undefined);
  if (!options.keepSettings) await takeBackPreparations(ports, options, waiting);
  for (const path of [scriptCacheFile, knownGoodFile]) await ports.files.remove(path);
  const removed = removals.filter(removal => removal.do === 'remove').map(removal => removal.name);
  return { removed, rebootNeeded };
}

async function takeBackPreparations({ host }: CleanupPorts, options: CleanupOptions, waiting: Waiting): Promise<void> {
  try {
    await host.takeBack(waiting.signal);
  } catch (error) {
    waiting.signal.throwIfAborted();
    options.onWarning?.(messageOf(error));
  }
}

type RemovalData = Pick<ServiceData, 'services' | 'watchedEnvironment' | 'removeAllTagged'>;

/**
 * What we have put on the host: by the ConfigMaps of the versions that ran and were staged last, as far as they can be read,
 * by our own record, and by our mark on services.
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
      options.onWarning?.(`The services of version ${version} cannot be read in the cluster: ${why}`);
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

/** One service after the other, dependants first; what fails is told at the end. */
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

async function takeBackSettings(
  watched: readonly string[],
  known: boolean,
  keep: boolean,
  ports: CleanupPorts,
): Promise<boolean> {
  const [state, bootId] = [await readState(ports.files), await ports.host.bootId()];
  const traces = known || (await ports.files.read(file.importedCerts)) !== undefined;
  // Without a record everything watched is ours on a host that bears traces of the Go agent, and nothing on any other.
  const owned = ownedVariables(state, bootId) ?? (traces ? undefined : []);
  if (keep) {
    if (owned !== undefined) await changeState(ports.files, { environment: owned });
    return false;
  }
  const environment = await observeEnvironment({ wanted: {}, watched, owned }, ports.environment);
  const certificates = await observeCertificates(undefined, ports, mayBeBack(state, bootId).certificates);
  const changed = environment.changed || certificates.changed;
  const asked = state.reboot;
  const reboot = changed ? { bootId, variables: Object.keys(environment.expected) } : asked;
  await applySettings(environment, certificates, reboot, ports);
  // A run that was cut short has changed things for which nobody was told to reboot.
  return changed || asked?.bootId === bootId;
}

function isManaged({ config }: InstalledService): boolean {
  return config.description.includes(managedTag);
}

function readConfigMap(value: unknown): ServicesConfigMapView {
  const object = readObject(value);
  return {
    name: object.meta.name,
    createdAt: object.meta.creationTimestamp,
    data: object.fields.stringMap('data'),
  };
}
