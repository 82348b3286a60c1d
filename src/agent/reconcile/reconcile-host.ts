import { AppError } from '#base/errors.ts';
import { type AgentReport, failureIn } from '#contract/agent-report.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { file, orderedRebootFile } from '#contract/paths.ts';
import type { Service, ServicesManifest } from '#contract/services/manifest.ts';
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
import type { Cluster, Files, HostFiles, System } from '../ports.ts';
import { pruneOvnkubeCertificates } from '../prune-certificates.ts';
import { cachedScripts } from '../services/cached-scripts.ts';
import type { ServiceNotices, ServicePorts } from '../services/ensure.ts';
import { variablesFor, type WantedVariables } from '../services/environment.ts';
import { reconcileServices, type ServicesWork } from '../services/reconcile.ts';
import type { VariablePorts } from '../services/variables.ts';
import { readNotes, takeNotes } from '../stage/change-notes.ts';
import type { HashOf } from '../stage/hash-cache.ts';
import { readRecord } from '../stage/record.ts';
import { repairFiles } from '../stage/repair.ts';
import { changeState, mayBeBack, readState } from '../state.ts';
import { appliedServices, chooseContent, type Content } from './content.ts';
import { decideStart, describeSettings, isStillDesired, isUnplannedReboot, needsVersion } from './decide.ts';

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
  /** Called with the changed variables and certificates, without values. */
  onSettings?(changes: readonly string[]): void;
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
  | { did: 'configure'; version: string };

/** One pass of the controller: from the annotations of the Node to the configured host. */
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
  const content = await chooseContent(start.version, node?.annotations[nodeAnnotation.desiredServices], ports);
  const { manifest } = content;
  const source = { name: node?.name ?? '', object };
  // Before the settings, because the CA bundle is one of the files.
  const damage = await reconcileFiles(manifest, ports.files, options, waiting.signal);
  const settings = await reconcileSettings(manifest, options, ports);
  const { services, awaits } = await startable(manifest.services, ports.files);
  const work = servicesWork(ports, start.version, options.serviceNotices, settings.variables);
  await reconcileServices(services, source, work, waiting);
  if (awaits === undefined) await options.onServicesSettled?.({ version: start.version, manifest, node: source });
  for (const warning of await pruneOvnkubeCertificates(ports.files)) options.onWarning?.(warning);
  const problem = settings.problem ?? damage;
  if (problem !== undefined) throw problem;
  if (awaits !== undefined) return { did: 'wait', for: awaits };
  const report = await reported();
  await finish({ content, setVersion, report }, ports, { ...waiting, patience: options.readyPatience });
  await removeLeftovers(manifest.services, ports, text => options.onWarning?.(text));
  if (failureIn(report.events) !== undefined) options.onRecovered?.();
  return { did: 'configure', version: start.version };
}

/** The report at the start of the pass; rejects when it could not be read or written. */
type Reported = () => Promise<AgentReport>;

/**
 * Reads the report, and updates what a reboot or a former pass has changed. The pass does not wait for it, because services
 * are reconciled without the API server, too.
 */
async function startReport(ports: AgentPorts): Promise<Reported> {
  const { cluster } = ports;
  const variablesBoot = await changedVariablesIn(ports);
  const reporting = cluster.readReport().then(async report => {
    // Earlier agents required one.
    await cluster.report({ rebootRequired: false, variablesBoot });
    return report;
  });
  reporting.catch(() => undefined);
  return () => reporting;
}

/** This boot if machine variables were changed in it; '' after a reboot. */
async function changedVariablesIn({ files, host }: AgentPorts): Promise<string> {
  const bootId = await host.bootId();
  return (await readState(files)).variablesBoot === bootId ? bootId : '';
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
  ports: ServicePorts & VariablePorts & { files: HostFiles; system: Pick<System, 'flushServices'> },
  version: string,
  notices?: ServiceNotices,
  variables?: WantedVariables,
): ServicesWork {
  const { services, processes, scripts, host, files, system } = ports;
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
    environment: variables && {
      ...variables,
      recorded: async () => (await readState(files)).serviceEnvironment,
      record: all => changeState(files, { serviceEnvironment: [...all] }),
      flush: () => system.flushServices(),
    },
  };
}

export function viewOf(node: unknown): NodeView | undefined {
  return node === undefined ? undefined : readNode(readObject(node));
}

interface SettingsResult {
  /** What services must see. */
  variables: WantedVariables;
  /** A failure that prevents completion of the node, but not its services from running. */
  problem: AppError | undefined;
}

/** Machine variables and certificates. No reboot is needed for services, which have variables of their own. */
async function reconcileSettings(
  { environment: wanted, watchedEnvironment: watched }: ServicesManifest,
  options: PassOptions,
  ports: AgentPorts,
): Promise<SettingsResult> {
  const [state, bootId] = [await readState(ports.files), await ports.host.bootId()];
  const owned = ownedVariables(state, bootId);
  const environment = await observeEnvironment({ wanted, watched, owned }, ports.environment);
  const certificates = await resultOf(async () => {
    const bundle = await readBundle(options.caBundle, ports.files);
    return observeCertificates(bundle, ports, mayBeBack(state, bootId).certificates);
  });
  await applySettings(environment, certificates.value, bootId, ports);
  const changes = describeSettings(environment, certificates.value);
  if (changes.length > 0) options.onSettings?.(changes);
  const variables = variablesFor(wanted, environment.expected, ports.environment.process());
  return { variables, problem: certificates.problem };
}

/** Returns the failure that prevents completion of the node; its services are reconciled nevertheless. */
async function reconcileFiles(
  manifest: ServicesManifest,
  files: HostFiles,
  options: PassOptions,
  signal: AbortSignal,
): Promise<AppError | undefined> {
  const hashOf = options.hashOf ?? (path => files.sha256(path));
  const notes = await readNotes(files);
  const unsafe = await tryToSecure(files, options, signal);
  const { repaired, problems } = await repairFiles(manifest.files, hashOf, files, signal);
  await takeNotes(notes, problems.length === 0, files);
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
  { content, setVersion, report }: { content: Content; setVersion: string; report: AgentReport },
  ports: AgentPorts,
  waiting: Waiting,
): Promise<void> {
  const { cluster, host } = ports;
  const node = await poll(async () => {
    const seen = viewOf(await cluster.node());
    return seen === undefined || seen.ready ? { seen } : undefined;
  }, waiting);
  if (node === undefined) {
    throw new AppError('NODE_NOT_READY', `the Node did not become ready within ${waiting.patience.limitMs / 1000} s`, {
      remedy: `Run \`kubectl describe node\` for the reason, and \`Get-Content ${file.kubeletLog} -Tail 20\` on the host; if the kubelet hangs, run \`Restart-Service -Force kubelet\` there.`,
    });
  }
  const { version } = content;
  if (!isStillDesired(node.seen, { version, setVersion })) return;
  await cluster.report({
    variablesBoot: await changedVariablesIn(ports),
    services: appliedServices(content, report.services),
    ...(needsVersion(report, { version, bootId: await host.bootId() }) && { version }),
  });
}
