import { managedTag, nodeAnnotation } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { file } from '#contract/paths.ts';
import type { OwnedVariable } from '../environment/plan.ts';
import { applySettings, observeCertificates, observeEnvironment, type SettingsPorts } from '../host-settings.ts';
import type { Cluster, HostValues, InstalledService, Waiting } from '../ports.ts';
import { viewOf } from '../reconcile/carry-out.ts';
import { ensureRemoved, ensureStopped, type ServicePorts } from '../services/ensure.ts';
import { changeState, readState } from '../state.ts';
import {
  chooseServiceData,
  decideEffects,
  planRemoval,
  type Removal,
  type RemovalFailure,
  removalProblem,
  type ServicesConfigMapView,
} from './decide.ts';

export interface CleanupPorts extends ServicePorts, SettingsPorts {
  cluster: Cluster;
  host: HostValues;
}

export interface CleanupOptions {
  /** Before the host is configured again: variables and certificates stay, which saves two reboots. */
  keepSettings: boolean;
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
  const data = chooseServiceData((await ports.cluster.servicesConfigMaps()).map(readConfigMap), version);
  const installed = await ports.services.list();
  const known = version !== undefined || installed.some(isManaged);
  const removals = planRemoval(installed, data.services, data.removeAllTagged);
  const problem = removalProblem(await carryOutRemovals(removals, ports, waiting));
  if (problem !== undefined) throw problem;
  const changed = await takeBackSettings(data.watchedEnvironment, known, options.keepSettings, ports);
  const effects = decideEffects(changed, node !== undefined);
  if (effects.annotateReboot) await ports.cluster.annotateNode({ [nodeAnnotation.rebootRequired]: '' });
  // Containers that a drain leaves, such as those of DaemonSets, keep the executable of the shim open.
  await ports.processes.killByName(shimProcess).catch(() => undefined);
  if (effects.removeVersion && version !== undefined) {
    await ports.cluster.annotateNode({ [nodeAnnotation.version]: null });
  }
  const removed = removals.filter(removal => removal.do === 'remove').map(removal => removal.name);
  return { removed, rebootNeeded: effects.rebootNeeded };
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
  const owned = await ownedVariables(known, ports);
  if (keep) {
    if (owned !== undefined) await changeState(ports.files, { environment: owned });
    return false;
  }
  const environment = await observeEnvironment({ wanted: {}, watched, owned }, ports.environment);
  const certificates = await observeCertificates(undefined, ports);
  const changed = environment.changed || certificates.changed;
  const reboot = changed
    ? { bootId: await ports.host.bootId(), variables: Object.keys(environment.expected) }
    : (await readState(ports.files)).reboot;
  await applySettings(environment, certificates, reboot, ports);
  return changed;
}

/** Without a record everything watched is ours on a host that bears traces of the Go agent, and nothing on any other. */
async function ownedVariables(known: boolean, ports: CleanupPorts): Promise<OwnedVariable[] | undefined> {
  const { environment } = await readState(ports.files);
  if (environment !== undefined) return environment;
  const traces = known || (await ports.files.read(file.importedCerts)) !== undefined;
  return traces ? undefined : [];
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
