import { AppError, shown } from '#base/errors.ts';
import type { AgentReport } from '#contract/agent-report.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import { file } from '#contract/paths.ts';
import type { Service, ServicesManifest } from '#contract/services/manifest.ts';
import { parseManifest } from '#contract/services/parse.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import { secureFolders } from '../access/secure-folders.ts';
import type { CertificatePlan } from '../certificates/plan.ts';
import {
  applySettings,
  observeCertificates,
  observeEnvironment,
  ownedVariables,
  readBundle,
  type SettingsPorts,
} from '../host-settings.ts';
import type { KnownGood } from '../known-good.ts';
import { poll, type Patience, type Waiting } from '#base/waiting/poll.ts';
import type { Cluster, Files, HostFiles, ManifestSource } from '../ports.ts';
import { pruneOvnkubeCertificates } from '../prune-certificates.ts';
import { cachedScripts } from '../services/cached-scripts.ts';
import type { ServicePorts } from '../services/ensure.ts';
import { reconcileServices, type ServicesWork } from '../services/reconcile.ts';
import type { VariablePorts } from '../services/variables.ts';
import type { HashOf } from '../stage/hash-cache.ts';
import { repairFiles } from '../stage/repair.ts';
import { changeState, mayBeBack, readState } from '../state.ts';
import { decideReboot, decideStart, isRebootRequired, needsVersion } from './decide.ts';

export interface AgentPorts extends ServicePorts, VariablePorts, SettingsPorts {
  cluster: Cluster;
  files: HostFiles;
}

export interface PassOptions {
  /** Path of the trusted CA bundle; '' when none is expected. */
  caBundle: string;
  /** The only version this agent may apply, if it was told one. */
  launchedFor?: string;
  readyPatience: Patience;
  /** How files are compared with what they should be: by reading them all, unless somebody remembers. */
  hashOf?: HashOf;
  /** Hears of files that were not as they should be and have been put right. */
  onRepaired?(paths: readonly string[]): void;
  /** Hears of files and folders whose owner or rights were wrong, one sentence for each. */
  onSecured?(events: readonly string[]): void;
  /** Hears of what went wrong without keeping the host from being as wanted. */
  onWarning?(text: string): void;
  /** Called when all services are as wanted. */
  onServicesSettled?(known: KnownGood): Promise<void>;
}

export type PassOutcome =
  | { did: 'nothing'; why: string }
  | { did: 'wait'; for: string }
  | { did: 'ask for a reboot'; because: string[] }
  | { did: 'configure'; version: string };

/** One pass of the controller: from the marks on the Node to a host as wanted, or as far as it gets before a reboot. */
export async function reconcileOnce(ports: AgentPorts, options: PassOptions, waiting: Waiting): Promise<PassOutcome> {
  const object = await ports.cluster.node();
  const node = viewOf(object);
  const reported = await startReport(ports);
  const start = decideStart(node, options.launchedFor);
  if (!start.go) {
    await reported();
    return { did: 'nothing', why: start.why };
  }
  const manifest = await readManifest(start.version, ports.cluster);
  const settings = await reconcileSettings(manifest, options.caBundle, reported, ports);
  if (settings.because.length > 0) {
    if (settings.problem !== undefined) throw settings.problem;
    return { did: 'ask for a reboot', because: settings.because };
  }
  const source = { name: node?.name ?? '', object };
  const damage = await reconcileFiles(manifest, ports.files, options, waiting.signal);
  const { services, awaits } = await startable(manifest.services, ports.files);
  await reconcileServices(services, source, servicesWork(ports, start.version, waiting), waiting);
  if (awaits === undefined) await options.onServicesSettled?.({ version: start.version, manifest, node: source });
  for (const warning of await pruneOvnkubeCertificates(ports.files)) options.onWarning?.(warning);
  const problem = settings.problem ?? damage;
  if (problem !== undefined) throw problem;
  if (awaits !== undefined) return { did: 'wait', for: awaits };
  await finish(start.version, await reported(), ports.cluster, { ...waiting, patience: options.readyPatience });
  return { did: 'configure', version: start.version };
}

/** Gives the report as it was at the beginning; rejects when it could not be read or written. */
type Reported = () => Promise<AgentReport>;

/**
 * Reads the report, and corrects it when a reboot that was asked for is over. The need of one is reported only when all
 * settings have been changed. The pass does not wait for it: services are looked after without the API server, too.
 */
async function startReport({ cluster, files, host }: AgentPorts): Promise<Reported> {
  const isOver = !isRebootRequired((await readState(files)).reboot, await host.bootId());
  const reporting = cluster.readReport().then(async report => {
    if (isOver) await cluster.report({ rebootRequired: false });
    return report;
  });
  reporting.catch(() => undefined);
  return () => reporting;
}

/** Without those that would only fail until the agent has a certificate for cloud-node-manager. */
async function startable(
  services: readonly Service[],
  files: Files,
): Promise<{ services: Service[]; awaits?: string }> {
  const kept = services.filter(({ command }) => !command.includes(file.cloudNodeKubeconfig));
  if (kept.length === services.length) return { services: kept };
  if ((await files.read(file.cloudNodeCertificate)) !== undefined) return { services: [...services] };
  return { services: kept, awaits: 'a client certificate for cloud-node-manager' };
}

/** What reconcileServices needs, with its memory kept in files. */
export function servicesWork(
  ports: ServicePorts & VariablePorts & { files: Files },
  version: string,
  { clock }: Pick<Waiting, 'clock'>,
): ServicesWork {
  const { services, processes, scripts, host, files } = ports;
  return {
    services,
    processes,
    scripts: cachedScripts(scripts, { files, clock, version, bootId: () => host.bootId() }),
    host,
    remembered: async () => (await readState(files)).stoppedServices,
    remember: names => changeState(files, { stoppedServices: [...names] }),
    changedFiles: async () => (await readState(files)).changedFiles,
    keepChangedFiles: paths => changeState(files, { changedFiles: [...paths] }),
  };
}

/** The manifest of one version, parsed and validated. */
export async function readManifest(version: string, cluster: ManifestSource): Promise<ServicesManifest> {
  const object = await cluster.servicesConfigMap(version);
  if (object !== undefined) {
    const { fields, label } = readObject(object);
    return parseManifest(fields.stringMap('data'), label);
  }
  throw new AppError('OBJECT_MISSING', `ConfigMap ${shown(servicesConfigMapName(version))} does not exist`, {
    remedy: 'Nothing to do at once: the operator writes it for every version in use.',
  });
}

export function viewOf(node: unknown): NodeView | undefined {
  return node === undefined ? undefined : readNode(readObject(node));
}

interface SettingsResult {
  /** Reasons for the reboot that was asked for; none when the host can go on. */
  because: string[];
  /** A failure that keeps the node from being finished but not its services from running. */
  problem: AppError | undefined;
}

/** Environment and certificates. The need of a reboot is decided before anything is changed. */
async function reconcileSettings(
  manifest: ServicesManifest,
  caBundle: string,
  reported: Reported,
  ports: AgentPorts,
): Promise<SettingsResult> {
  const state = await readState(ports.files);
  const bootId = await ports.host.bootId();
  const { environment: wanted, watchedEnvironment: watched } = manifest;
  const owned = ownedVariables(state, bootId);
  const environment = await observeEnvironment({ wanted, watched, owned }, ports.environment);
  const certificates = await tryCertificates(caBundle, ports, mayBeBack(state, bootId).certificates);
  const decision = decideReboot({
    environment,
    certificates: certificates.plan,
    processEnvironment: ports.environment.process(),
    asked: state.reboot,
    bootId,
  });
  const problem = certificates.problem ?? decision.problem;
  if (decision.needed) {
    const reboot = { bootId, variables: decision.variables };
    await applySettings(environment, certificates.plan, reboot, ports);
    await reported();
    await ports.cluster.report({ rebootRequired: true });
  } else if (decision.problem === undefined) {
    await applySettings(environment, certificates.plan, undefined, ports);
  }
  return { because: decision.because, problem };
}

/** Returns what keeps the node from being finished; its services are looked after all the same. */
async function reconcileFiles(
  manifest: ServicesManifest,
  files: HostFiles,
  options: PassOptions,
  signal: AbortSignal,
): Promise<AppError | undefined> {
  const hashOf = options.hashOf ?? (path => files.sha256(path));
  const unsafe = await tryToSecure(files, options, signal);
  const { repaired, problems } = await repairFiles(manifest.files, hashOf, files, signal);
  if (repaired.length > 0) options.onRepaired?.(repaired);
  const [first, ...others] = problems;
  for (const problem of others) options.onWarning?.(problem.message);
  return unsafe ?? first;
}

/** Owner and rights of our folders and of what is in them. */
async function tryToSecure(files: HostFiles, options: PassOptions, signal: AbortSignal): Promise<AppError | undefined> {
  try {
    const { events } = await secureFolders(files, signal);
    if (events.length > 0) options.onSecured?.(events);
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** A bundle that is missing or damaged changes no certificate, but nothing else waits for it. */
async function tryCertificates(
  caBundle: string,
  ports: SettingsPorts,
  removed: readonly string[],
): Promise<{ plan?: CertificatePlan; problem?: AppError }> {
  try {
    return { plan: await observeCertificates(await readBundle(caBundle, ports.files), ports, removed) };
  } catch (error) {
    if (error instanceof AppError) return { problem: error };
    throw error;
  }
}

async function finish(version: string, report: AgentReport, cluster: Cluster, waiting: Waiting): Promise<void> {
  const node = await poll(async () => {
    const seen = viewOf(await cluster.node());
    return seen === undefined || seen.ready ? { seen } : undefined;
  }, waiting);
  if (node === undefined) {
    throw new AppError('NODE_NOT_READY', `the Node did not become ready within ${waiting.patience.limitMs / 1000} s`, {
      remedy: 'See the conditions of the Node and the log of the kubelet.',
    });
  }
  if (needsVersion(node.seen, report, version)) await cluster.report({ version });
}
