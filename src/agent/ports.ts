import type { AgentReport } from '#contract/agent-report.ts';
import type { HostVariableSource, Preparation } from '#contract/services/manifest.ts';
import type { Access, FileEntry } from './access/plan.ts';

/** What the agent needs from Windows and the cluster, as small interfaces; agent/win32 and tests implement them. */

export type ServiceState =
  | 'stopped'
  | 'start-pending'
  | 'stop-pending'
  | 'running'
  | 'continue-pending'
  | 'pause-pending'
  | 'paused';

/** What Windows does when the process of a service dies: restart after each delay in turn, the last one repeated. */
export interface Recovery {
  resetSeconds: number;
  restartDelaysMs: readonly number[];
}

export interface ServiceConfig {
  /** The full command line. */
  command: string;
  description: string;
  dependencies: readonly string[];
  startType: 'automatic' | 'manual' | 'disabled';
  /** Undefined where Windows does nothing. */
  recovery: Recovery | undefined;
}

export interface ServiceStatus {
  state: ServiceState;
  /** 0 without a process, and for a service that shares its process with others: that one is not ours to end. */
  pid: number;
}

/** The configuration as Windows tells it. */
export interface InstalledConfig extends Omit<ServiceConfig, 'recovery'> {
  /** Undefined also where Windows does more than restarting; not every system (Wine does not) tells it at all. */
  recovery: Recovery | undefined | 'unreadable';
}

export interface InstalledService extends ServiceStatus {
  name: string;
  config: InstalledConfig;
}

/** The Windows service control manager. Names are compared without regard to case. */
export interface ServiceManager {
  /** Every Win32 service the agent may open. */
  list(): Promise<InstalledService[]>;
  /** Undefined when there is no such service. */
  query(name: string): Promise<ServiceStatus | undefined>;
  create(name: string, config: ServiceConfig): Promise<void>;
  /** Sets all of the configuration; an empty list of dependencies clears them. */
  configure(name: string, config: ServiceConfig): Promise<void>;
  /** Asks for the start, which brings stopped dependencies along; returns before the service runs. */
  start(name: string): Promise<void>;
  /** Asks for the stop, which fails while dependants run; returns before the service has stopped. */
  stop(name: string): Promise<void>;
  /** Marks the service for deletion; it is gone once its process and the last handle are. */
  remove(name: string): Promise<void>;
}

/** A process held by a handle, so that its number cannot become another process. */
export interface HeldProcess {
  hasExited(): Promise<boolean>;
  /** Ends the process and all it started. */
  killTree(): Promise<void>;
  release(): void;
}

export interface Processes {
  /** Undefined when the process has already gone. */
  hold(pid: number): Promise<HeldProcess | undefined>;
  killByName(name: string): Promise<void>;
}

/** Machine-wide variables of the registry, and those the agent itself was started with. */
export interface Environment {
  /** All machine variables that hold a text. */
  machine(): Promise<Record<string, string>>;
  setMachine(name: string, value: string): Promise<void>;
  /** Absent is fine. */
  removeMachine(name: string): Promise<void>;
  process(): Readonly<Record<string, string | undefined>>;
}

/** LocalMachine\ROOT. Certificates are known by the lower-case hex SHA-256 of their DER form. */
export interface CertStore {
  list(): Promise<string[]>;
  add(der: Uint8Array): Promise<void>;
  /** Absent is fine. */
  remove(sha256: string): Promise<void>;
}

export interface Files {
  /** Undefined when the file does not exist. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file as a whole or not at all, making its directory; `secret` is for SYSTEM and Administrators only. */
  write(path: string, text: string, access?: 'secret'): Promise<void>;
  /** A file, or a link itself and not what it leads to. Absent is fine. */
  remove(path: string): Promise<void>;
}

export interface FileStat {
  bytes: number;
  /** As fine as the file system has it: a fraction of a millisecond counts. */
  modifiedMs: number;
}

/** What staging, checking and pruning need beside small text files. */
export interface HostFiles extends Files {
  /** Names in a directory; none when it does not exist. */
  list(directory: string): Promise<string[]>;
  /** Lower-case hex; undefined when the file does not exist. */
  sha256(path: string): Promise<string | undefined>;
  /** The bytes in order; rejects when the file does not exist. */
  readChunks(path: string): AsyncIterable<Uint8Array>;
  /**
   * Replaces the file as a whole or not at all, making its directory: when the chunks end in an error, it is as it was.
   * A program that runs is moved aside, not waited for. `secret` is for SYSTEM and Administrators only.
   */
  writeChunks(path: string, chunks: AsyncIterable<Uint8Array>, access?: 'secret'): Promise<void>;
  /** Undefined when the file does not exist. */
  stat(path: string): Promise<FileStat | undefined>;
  /** There already is fine. What is made in it later gets the same access. */
  makeDirectory(path: string, access?: Access): Promise<void>;
  /** Makes a directory, and those above it; false when there is something of that name already. */
  createDirectory(path: string, access: Access): Promise<boolean>;
  /** Links in it are removed, not followed. Absent is fine. */
  removeDirectory(path: string): Promise<void>;
  /** What is at the path, with its owner and rights; undefined when nothing is. Links are not followed. */
  inspect(path: string): Promise<FileEntry | undefined>;
  /** Sets owner and rights of this entry alone; rejects for a link. */
  protect(path: string, access: Access): Promise<void>;
  /** Gives a file, directory or link another name on the same disk; false when a program in use keeps it where it is. */
  move(from: string, to: string): Promise<boolean>;
}

export interface ScriptRunner {
  /**
   * Runs PowerShell text and gives its standard output; rejects when it fails or takes too long. What is expected matters
   * to whoever keeps outputs, not to PowerShell.
   */
  run(text: string, signal: AbortSignal, expected?: 'one line'): Promise<string>;
}

/** The Node of this host as the API server gives it, with its name. */
export interface NodeSource {
  name: string;
  object: unknown;
}

/** What the agent finds out or brings about natively instead of by a script. */
export interface HostValues {
  resolve(source: HostVariableSource, signal: AbortSignal): Promise<string>;
  /** True when a file that a service reads has changed. The Node is undefined during bootstrap. */
  prepare(preparation: Preparation, node: NodeSource | undefined, signal: AbortSignal): Promise<boolean>;
  /** Takes back what preparations have changed besides files; nothing to take back is fine. */
  takeBack(signal: AbortSignal): Promise<void>;
  /** Changes with every boot of the host and never otherwise. */
  bootId(): Promise<string>;
}

export interface Adapter {
  name: string;
  index: number;
  /** Lower case, with dashes. */
  mac: string;
  /** IPv4 and IPv6 as `address/length`. */
  addresses: string[];
  isUp: boolean;
  /** Metric of its route to everywhere (route and interface added); undefined without one. The lowest wins. */
  defaultRouteMetric: number | undefined;
}

export interface OperatingSystem {
  /** Such as `Windows Server 2022 Datacenter`. */
  product: string;
  /** Such as `10.0.20348.2700`. */
  build: string;
  /** `Server` or `Server Core`; `Client` is not supported. */
  installationType: string;
}

export type FeatureState = 'enabled' | 'disabled' | 'enable-pending' | 'disable-pending' | 'unknown';

/** The machine as a whole. */
export interface System {
  hostName(): Promise<string>;
  /** Host name with the primary DNS suffix, where there is one. */
  fqdn(): Promise<string>;
  operatingSystem(): Promise<OperatingSystem>;
  /** Changes with every boot of the host and never otherwise. */
  bootId(): Promise<string>;
  /** Why Windows itself wants to be rebooted; empty when it does not. */
  pendingReboot(): Promise<string[]>;
  adapters(): Promise<Adapter[]>;
  freeBytes(path: string): Promise<number>;
  containersFeature(): Promise<FeatureState>;
  /** Done already is fine; true when the host has to be rebooted for it. */
  enableContainers(signal: AbortSignal): Promise<boolean>;
  /** Takes effect at the next boot; true when the host has to be rebooted for it. */
  rename(name: string): Promise<boolean>;
  /** Returns at once; Windows goes down after the delay. */
  reboot(delaySeconds: number, reason: string): Promise<void>;
  isProcessRunning(name: string): Promise<boolean>;
  /** Whether whoever runs the agent has the rights of an administrator. */
  isAdministrator(): Promise<boolean>;
  /** TCP ports on which anybody listens. */
  listeningPorts(): Promise<number[]>;
}

export interface HnsNetwork {
  id: string;
  name: string;
  /** Address prefixes. */
  subnets: string[];
  /** '' when it has none. */
  managementIp: string;
}

export interface HnsEndpoint {
  id: string;
  name: string;
  networkId: string;
  ipAddress: string;
  mac: string;
}

/** Networks of Windows containers, as the Host Networking Service knows them. */
export interface HostNetwork {
  networks(): Promise<HnsNetwork[]>;
  endpoints(): Promise<HnsEndpoint[]>;
  createEndpoint(networkId: string, name: string): Promise<HnsEndpoint>;
  /** Gives the endpoint to the host itself. */
  attachToHost(endpointId: string): Promise<void>;
  /** Absent is fine. */
  removeNetwork(id: string): Promise<void>;
}

/** What a program gets that runs as a Windows service. */
export interface ServiceLife {
  /** Aborted when the service has to stop, also because Windows shuts down. */
  signal: AbortSignal;
  /** Called once the service works; until then, but for a limited time, Windows shows it as starting. */
  ready(): void;
}

/** Everything the agent asks of the machine it runs on; agent/win32 has the one for Windows. */
export interface HostPorts {
  services: ServiceManager;
  processes: Processes;
  environment: Environment;
  certificates: CertStore;
  files: HostFiles;
  scripts: ScriptRunner;
  system: System;
  network: HostNetwork;
}

/** Services ConfigMaps, read by name. */
export interface ManifestSource {
  /** The ConfigMap that describes the services of a version; undefined when it does not exist. Any other failure rejects. */
  servicesConfigMap(version: string): Promise<unknown>;
}

/** What the agent may change of its report; the boot id is set with every write. */
export type ReportChange = Partial<Pick<AgentReport, 'version' | 'rebootRequired'>>;

/** The agent's own Node, its services ConfigMap and its report. The report is all that is written. */
export interface Cluster extends ManifestSource {
  /** The Node as the API server gives it; undefined when it does not exist. Any other failure rejects. */
  node(): Promise<unknown>;
  /** The report as the API server has it. */
  readReport(): Promise<AgentReport>;
  /** Makes the report say this; nothing is written when it does already. */
  report(change: ReportChange): Promise<void>;
}
