import { AppError, shown } from '#base/errors.ts';
import { type AgentReport, failureIn } from '#contract/agent-report.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import { file, orderedRebootFile } from '#contract/paths.ts';
import type { Service, ServicesManifest } from '#contract/services/manifest.ts';
import { parseManifest } from '#contract/services/parse.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import { secureFolders } from '../access/secure-folders.ts';
import { removeLeftovers } from '../activation/leftover-services.ts';
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
import type { Cluster, Files, HostFiles, ManifestSource, System } from '../ports.ts';
import { pruneOvnkubeCertificates } from '../prune-certificates.ts';
import { cachedScripts } from '../services/cached-scripts.ts';
import type { ServiceNotices, ServicePorts } from '../services/ensure.ts';
import { reconcileServices, type ServicesWork } from '../services/reconcile.ts';
import type { VariablePorts } from '../services/variables.ts';
import type { HashOf } from '../stage/hash-cache.ts';
import { readRecord } from '../stage/record.ts';
import { repairFiles } from '../stage/repair.ts';
import { changeState, mayBeBack, readState } from '../state.ts';
import { decideReboot, decideStart, isRebootRequired, isUnplannedReboot, needsVersion } from './decide.ts';

export interface AgentPorts extends ServicePorts, VariablePorts, SettingsPorts {
  cluster: Cluster;
  files: HostFiles;
  system: Pick<System, 'flushServices'>;
}

export interface PassOptions {
  /** Path of the trusted CA bundle; '' when none is expected. */
  caBundle: string;
  readyPatience: Patience;
  /** Reads the files by default. */
  hashOf?: HashOf;
  /** Called with restored files. */
  onRepaired?(paths: readonly string[]): void;
  /** Called with one sentence for each file or folder whose owner or rights were fixed. */
  onSecured?(events: readonly string[]): void;
  /** Called when the host is configured again after a failure that was reported. */
  onRecovered?(): void;
  /** Called in the first pass after a reboot that the operator did not order. */
  onUnplannedReboot?(): void;
  /** Called for failures that do not matter for the state of the host. */
  onWarning?(text: string): void;
  /** Called when a service was started or its process ended without a change of the manifest. */
  serviceNotices?: ServiceNotices;
  /** Called when all services run as desired. */
  onServicesSettled?(known: KnownGood): Promise<void>;
}

export type PassOutcome =
  | { did: 'skip'; why: string }
  | { did: 'wait'; for: string }
  | { did: 'request reboot'; because: string[] }
  | { did: 'configure'; version: string };

/** One pass of the controller: from the annotations of the Node to the configured host, or up to a required reboot. */
export async function reconcileHost(ports: AgentPorts, options: PassOptions, waiting: Waiting): Promise<PassOutcome> {
  const object = await ports.cluster.node();
  const node = viewOf(object);
  const reported = await startReport(ports);
  const { version: setVersion } = await readRecord(ports.files);
  const start = decideStart(node, setVersion);
  if (!start.go) {
    await reported();
    return { did: 'skip', why: start.why };
  }
  await noticeReboot(ports, options);
  const manifest = await readManifest(start.version, ports.cluster);
  const settings = await reconcileSettings(manifest, options.caBundle, reported, ports);
  if (settings.because.length > 0) {
    if (settings.problem !== undefined) throw settings.problem;
    return { did: 'request reboot', because: settings.because };
  }
  const source = { name: node?.name ?? '', object };
  const damage = await reconcileFiles(manifest, ports.files, options, waiting.signal);
  const { services, awaits } = await startable(manifest.services, ports.files);
  await reconcileServices(services, source, servicesWork(ports, start.version, options.serviceNotices), waiting);
  if (awaits === undefined) await options.onServicesSettled?.({ version: start.version, manifest, node: source });
  for (const warning of await pruneOvnkubeCertificates(ports.files)) options.onWarning?.(warning);
  const problem = settings.problem ?? damage;
  if (problem !== undefined) throw problem;
  if (awaits !== undefined) return { did: 'wait', for: awaits };
  const versions = { version: start.version, setVersion };
  const report = await reported();
  await finish(versions, report, ports, { ...waiting, patience: options.readyPatience });
  await removeLeftovers(manifest.services, ports, text => options.onWarning?.(text));
  if (failureIn(report.events) !== undefined) options.onRecovered?.();
  return { did: 'configure', version: start.version };
}

/** The report at the start of the pass; rejects when it could not be read or written. */
type Reported = () => Promise<AgentReport>;

/**
 * Reads the report, and updates it after a requested reboot. A required reboot is reported only when all settings have been
 * changed. The pass does not wait for it, because services are reconciled without the API server, too.
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

/** The event is lost if the agent ends before it is reported; the reboot itself is healed in any case. */
async function noticeReboot({ files, host }: AgentPorts, options: PassOptions): Promise<void> {
  const [state, bootId] = [await readState(files), await host.bootId()];
  if (state.lastBoot === bootId) return;
  if (isUnplannedReboot(state, { bootId, ordered: await files.read(orderedRebootFile) })) options.onUnplannedReboot?.();
  await changeState(files, { lastBoot: bootId });
}

/** Without services that would fail until the agent has a certificate for cloud-node-manager. */
async function startable(
  services: readonly Service[],
  files: Files,
): Promise<{ services: Service[]; awaits?: string }> {
  const kept = services.filter(({ command }) => !command.includes(file.cloudNodeKubeconfig));
  if (kept.length === services.length) return { services: kept };
  if ((await files.read(file.cloudNodeCertificate)) !== undefined) return { services: [...services] };
  return { services: kept, awaits: 'a client certificate for cloud-node-manager' };
}

/** What reconcileServices needs, with its state in files. */
export function servicesWork(
  ports: ServicePorts & VariablePorts & { files: HostFiles },
  version: string,
  notices?: ServiceNotices,
): ServicesWork {
  const { services, processes, scripts, host, files } = ports;
  return {
    services,
    processes,
    ...(notices && { notices }),
    files,
    scripts: cachedScripts(scripts, { files, version, bootId: () => host.bootId() }),
    host,
    remembered: async () => (await readState(files)).stoppedServices,
    remember: names => changeState(files, { stoppedServices: [...names] }),
    changedFiles: async () => (await readState(files)).changedFiles,
    keepChangedFiles: paths => changeState(files, { changedFiles: [...paths] }),
  };
}

export async function readManifest(version: string, cluster: ManifestSource): Promise<ServicesManifest> {
  const object = await cluster.servicesConfigMap(version);
  if (object !== undefined) {
    const { fields, label } = readObject(object);
    return parseManifest(fields.stringMap('data'), label);
  }
  throw new AppError('OBJECT_MISSING', `ConfigMap ${shown(servicesConfigMapName(version))} does not exist`, {
    remedy: 'Restore it, or install the operator of that version, which creates it. A newer one upgrades the host.',
  });
}

export function viewOf(node: unknown): NodeView | undefined {
  return node === undefined ? undefined : readNode(readObject(node));
}

interface SettingsResult {
  /** Reasons for a requested reboot; empty if none is required. */
  because: string[];
  /** A failure that prevents completion of the node, but not its services from running. */
  problem: AppError | undefined;
}

/** Environment and certificates. The reboot is decided before anything is changed. */
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
  const certificates = await resultOf(async () => {
    const bundle = await readBundle(caBundle, ports.files);
    return observeCertificates(bundle, ports, mayBeBack(state, bootId).certificates);
  });
  const decision = decideReboot({
    environment,
    certificates: certificates.value,
    processEnvironment: ports.environment.process(),
    requested: state.reboot,
    bootId,
  });
  const problem = certificates.problem ?? decision.problem;
  if (decision.needed) {
    const reboot = { bootId, variables: decision.variables };
    await applySettings(environment, certificates.value, reboot, ports);
    await reported();
    await ports.cluster.report({ rebootRequired: true });
  } else if (decision.problem === undefined) {
    await applySettings(environment, certificates.value, undefined, ports);
  }
  return { because: decision.because, problem };
}

/** Returns the failure that prevents completion of the node; its services are reconciled nevertheless. */
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

async function tryToSecure(files: HostFiles, options: PassOptions, signal: AbortSignal): Promise<AppError | undefined> {
  const { value, problem } = await resultOf(() => secureFolders(files, signal));
  if (value !== undefined && value.events.length > 0) options.onSecured?.(value.events);
  return problem;
}

/** The value, or the AppError as a value: the pass continues without it. */
async function resultOf<T>(act: () => Promise<T>): Promise<{ value?: T; problem?: AppError }> {
  try {
    return { value: await act() };
  } catch (error) {
    if (error instanceof AppError) return { problem: error };
    throw error;
  }
}

async function finish(
  versions: { version: string; setVersion: string },
  report: AgentReport,
  { cluster, host }: Pick<AgentPorts, 'cluster' | 'host'>,
  waiting: Waiting,
): Promise<void> {
  const node = await poll(async () => {
    const seen = viewOf(await cluster.node());
    return seen === undefined || seen.ready ? { seen } : undefined;
  }, waiting);
  if (node === undefined) {
    throw new AppError('NODE_NOT_READY', `the Node did not become ready within ${waiting.patience.limitMs / 1000} s`, {
      remedy: `Run \`kubectl describe node\` for the reason, and \`Get-Content ${file.kubeletLog} -Tail 20\` on the host; if the kubelet hangs, run \`Restart-Service -Force kubelet\` there.`,
    });
  }
  const confirmed = { ...versions, bootId: await host.bootId() };
  if (needsVersion(node.seen, report, confirmed)) await cluster.report({ version: versions.version });
}
