import { isAppError } from '#base/errors.ts';
import { managedTag, nodeAnnotation, proxyVariables } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { file } from '#contract/paths.ts';
import {
  applySettings,
  observeCertificates,
  observeEnvironment,
  ownedVariables,
  type SettingsPorts,
} from '../host-settings.ts';
import { isApiError } from '#kube/api-error.ts';
import { knownGoodFile, readKnownGood } from '../known-good.ts';
import type { Cluster, Files, HostValues, InstalledService, Waiting } from '../ports.ts';
import { viewOf } from '../reconcile/carry-out.ts';
import { scriptCacheFile } from '../services/cached-scripts.ts';
import { ensureRemoved, ensureStopped, type ServicePorts } from '../services/ensure.ts';
import { changeState, mayBeBack, readState } from '../state.ts';
import {
  chooseServiceData,
  decideEffects,
  planRemoval,
  type Removal,
  type RemovalFailure,
  removalProblem,
  type ServiceData,
  type ServicesConfigMapView,
} from './decide.ts';

export interface CleanupPorts extends ServicePorts, SettingsPorts {
  cluster: Cluster;
  host: HostValues;
}

export interface CleanupOptions {
  /** Before the host is configured again: variables and certificates stay, which saves two reboots. */
  keepSettings: boolean;
  /** Hears of what could not be taken back and keeps nobody from anything. */
  onWarning?(text: string): void;
}

export interface CleanupOutcome {
  removed: string[];
  rebootNeeded: boolean;
}

const shimProcess = 'containerd-shim-runhcs-v1';

/** Takes from the host what the agent has put there: services, variables, certificates; then the mark on the Node. */
export async function cleanUp(ports: CleanupPorts, options: CleanupOptions, waiting: Waiting): Promise<CleanupOutcome> {
  const node = viewOf(await ports.cluster.node());
  const version = node?.annotations[nodeAnnotation.version];
  const data = await findServiceData(version, ports);
  const installed = await ports.services.list();
  const known = version !== undefined || installed.some(isManaged);
  const removals = planRemoval(installed, data.services, data.removeAllTagged);
  const problem = removalProblem(await carryOutRemovals(removals, ports, waiting));
  if (problem !== undefined) throw problem;
  const changed = await takeBackSettings(data.watchedEnvironment, known, options.keepSettings, ports);
  const effects = decideEffects(changed, node !== undefined);
  if (effects.annotateReboot) await mark({ [nodeAnnotation.rebootRequired]: '' }, ports, options);
  // Containers that a drain leaves, such as those of DaemonSets, keep the executable of the shim open.
  await ports.processes.killByName(shimProcess).catch(() => undefined);
  if (effects.removeVersion && version !== undefined) {
    await mark({ [nodeAnnotation.version]: null }, ports, options);
  }
  if (!options.keepSettings) await takeBackPreparations(ports, options, waiting);
  for (const path of [scriptCacheFile, knownGoodFile]) await ports.files.remove(path);
  const removed = removals.filter(removal => removal.do === 'remove').map(removal => removal.name);
  return { removed, rebootNeeded: effects.rebootNeeded };
}

/** The account that brings a host into the cluster may change no Node; whoever has called us learns from the answer what to write there. */
async function mark(
  annotations: Record<string, string | null>,
  { cluster }: Pick<CleanupPorts, 'cluster'>,
  options: CleanupOptions,
): Promise<void> {
  try {
    await cluster.annotateNode(annotations);
  } catch (error) {
    if (!isApiError(error, 'Forbidden')) throw error;
    options.onWarning?.(`The Node keeps ${Object.keys(annotations).join()} as it is: ${error.message}`);
  }
}

async function takeBackPreparations({ host }: CleanupPorts, options: CleanupOptions, waiting: Waiting): Promise<void> {
  try {
    await host.takeBack(waiting.signal);
  } catch (error) {
    waiting.signal.throwIfAborted();
    options.onWarning?.(error instanceof Error ? error.message : String(error));
  }
}

type RemovalData = Pick<ServiceData, 'services' | 'watchedEnvironment' | 'removeAllTagged'>;

/** Where no ConfigMap tells what we have put on the host, our own record and our mark on services do. */
async function findServiceData(
  version: string | undefined,
  { cluster, files }: { cluster: Cluster; files: Files },
): Promise<RemovalData> {
  try {
    return chooseServiceData((await cluster.servicesConfigMaps()).map(readConfigMap), version);
  } catch (error) {
    if (!isAppError(error, 'CLEANUP_NO_SERVICES')) throw error;
    const known = (await readKnownGood(files))?.manifest;
    return {
      services: known?.services ?? [],
      watchedEnvironment: known?.watchedEnvironment ?? [...proxyVariables],
      removeAllTagged: true,
    };
  }
}

/** One service after the other, dependants first; what fails is told at the end. */
export async function carryOutRemovals(
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
