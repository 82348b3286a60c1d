import type { AgentReport } from '#contract/agent-report.ts';
import type { HostVariableSource, Preparation } from '#contract/services/manifest.ts';
import type { Access, FileEntry } from './access/plan.ts';

/** What the agent needs from Windows and the cluster; implemented by agent/win32, the sandbox and tests. */

export type ServiceState =
  | 'stopped'
  | 'start-pending'
  | 'stop-pending'
  | 'running'
  | 'continue-pending'
  | 'pause-pending'
  | 'paused';

/** Restarts after a crash: after each delay in turn, the last one repeated. */
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
  /** Undefined for no restart. */
  recovery: Recovery | undefined;
  /** Its own variables, which Windows adds to those that every service inherits; undefined leaves them as they are. */
  environment?: Readonly<Record<string, string>> | undefined;
}

export interface ServiceStatus {
  state: ServiceState;
  /** 0 without a process, and for a service in a shared process, which must not be ended. */
  pid: number;
}

export interface InstalledConfig extends Omit<ServiceConfig, 'recovery' | 'environment'> {
  /** Undefined also if there are actions other than restarts; unreadable on Wine. */
  recovery: Recovery | undefined | 'unreadable';
  /** Undefined when they cannot be read. */
  environment?: Readonly<Record<string, string>> | undefined;
}

export interface InstalledService extends ServiceStatus {
  name: string;
  config: InstalledConfig;
}

/** The Windows service control manager. Names are not case-sensitive. */
export interface ServiceManager {
  /** Every Win32 service that the agent can open. */
  list(): Promise<InstalledService[]>;
  /** Undefined when the service does not exist. */
  query(name: string): Promise<ServiceStatus | undefined>;
  create(name: string, config: ServiceConfig): Promise<void>;
  /** Sets the whole configuration; an empty list clears the dependencies, and an empty record the variables. */
  configure(name: string, config: ServiceConfig): Promise<void>;
  /** Requests the start of the service and its dependencies; returns before it runs. */
  start(name: string): Promise<void>;
  /** Requests the stop, which fails while dependents run; returns before the service has stopped. */
  stop(name: string): Promise<void>;
  /** Marks the service for deletion; it exists until its process has exited and the last handle is closed. */
  remove(name: string): Promise<void>;
}

/** A process with an open handle, so that its PID is not reused. */
export interface HeldProcess {
  hasExited(): Promise<boolean>;
  /** Ends the process and its children. */
  killTree(): Promise<void>;
  release(): void;
}

export interface Processes {
  /** Undefined when the process has exited. */
  hold(pid: number): Promise<HeldProcess | undefined>;
  killByName(name: string): Promise<void>;
}

/** Machine variables in the registry, and the environment of the agent process. */
export interface Environment {
  /** All machine variables with text values. */
  machine(): Promise<Record<string, string>>;
  setMachine(name: string, value: string): Promise<void>;
  /** Does nothing if it is missing. */
  removeMachine(name: string): Promise<void>;
  process(): Readonly<Record<string, string | undefined>>;
}

/** LocalMachine\ROOT. Certificates are identified by the lower-case hex SHA-256 of their DER form. */
export interface CertStore {
  list(): Promise<string[]>;
  add(der: Uint8Array): Promise<void>;
  /** Does nothing if it is missing. */
  remove(sha256: string): Promise<void>;
}

export interface Files {
  /** Undefined when the file does not exist. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file atomically and creates its directory; `secret` is for SYSTEM and Administrators only. */
  write(path: string, text: string, access?: 'secret'): Promise<void>;
  /** Removes a file, or a link and not its target. Does nothing if it is missing. */
  remove(path: string): Promise<void>;
}

export interface FileStat {
  bytes: number;
  /** With fractions of a millisecond. */
  modifiedMs: number;
}

/** What staging, checking and pruning need besides small text files. */
export interface HostFiles extends Files {
  /** Names in a directory; empty when it does not exist. */
  list(directory: string): Promise<string[]>;
  /** Lower-case hex; undefined when the file does not exist. */
  sha256(path: string): Promise<string | undefined>;
  /** The bytes in order, from an offset; rejects when the file does not exist. */
  readChunks(path: string, from?: number): AsyncIterable<Uint8Array>;
  /**
   * Replaces the file atomically and creates its directory: when the chunks end in an error, it is unchanged. A running
   * program is moved aside. `secret` is for SYSTEM and Administrators only.
   */
  writeChunks(path: string, chunks: AsyncIterable<Uint8Array>, access?: 'secret'): Promise<void>;
  /** Undefined when the file does not exist. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Creates a directory unless it exists. New entries in it inherit its access. */
  makeDirectory(path: string, access?: Access): Promise<void>;
  /** Creates a directory and its parents; false when the path exists. */
  createDirectory(path: string, access: Access): Promise<boolean>;
  /** Links in it are removed, not followed. Does nothing if it is missing. */
  removeDirectory(path: string): Promise<void>;
  /** Removes a directory without content; false when it has some or is missing. */
  removeEmptyDirectory(path: string): Promise<boolean>;
  /** The entry with its owner and rights; undefined when it does not exist. Links are not followed. */
  inspect(path: string): Promise<FileEntry | undefined>;
  /** Sets owner and rights of this entry alone; rejects for a link. */
  protect(path: string, access: Access): Promise<void>;
  /** Renames a file, directory or link on the same disk; false when an open handle blocks it. */
  move(from: string, to: string): Promise<boolean>;
}

export interface ScriptRunner {
  /**
   * Runs a PowerShell script and gives its standard output; rejects when it fails or takes too long. `expected` has no
   * effect on PowerShell, but on what is cached.
   */
  run(text: string, signal: AbortSignal, expected?: 'one line'): Promise<string>;
}

/** The Node of this host as the API server returns it. */
export interface NodeSource {
  name: string;
  object: unknown;
}

/** Values and preparations that are implemented natively instead of by a script. */
export interface HostValues {
  resolve(source: HostVariableSource, signal: AbortSignal): Promise<string>;
  /** True when a file that the service reads has changed. The Node is undefined during bootstrap. */
  prepare(preparation: Preparation, node: NodeSource | undefined, signal: AbortSignal): Promise<boolean>;
  /** Reverts what preparations have changed besides files. */
  revertPreparations(signal: AbortSignal): Promise<void>;
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
  /** Sum of route and interface metric of its default route, undefined without one; the lowest is used. */
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
  /** Host name with the primary DNS suffix, if there is one. */
  fqdn(): Promise<string>;
  operatingSystem(): Promise<OperatingSystem>;
  /** Changes with every boot of the host and never otherwise. */
  bootId(): Promise<string>;
  /** Reasons why Windows needs a reboot. */
  pendingReboot(): Promise<string[]>;
  adapters(): Promise<Adapter[]>;
  freeBytes(path: string): Promise<number>;
  containersFeature(): Promise<FeatureState>;
  /** True when a reboot is required. */
  enableContainers(signal: AbortSignal): Promise<boolean>;
  /** Takes effect at the next boot; true when a reboot is required. */
  rename(name: string): Promise<boolean>;
  /** Returns at once; Windows shuts down after the delay. */
  reboot(delaySeconds: number, reason: string): Promise<void>;
  /** Writes the registry with all services to disk; Windows does so late by itself, and a power cut loses the rest. */
  flushServices(): Promise<void>;
  isProcessRunning(name: string): Promise<boolean>;
  /** True if the agent runs with the rights of an administrator. */
  isAdministrator(): Promise<boolean>;
  /** TCP ports that are listened on. */
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

/** Container networks of the Host Networking Service. */
export interface HostNetwork {
  networks(): Promise<HnsNetwork[]>;
  endpoints(): Promise<HnsEndpoint[]>;
  createEndpoint(networkId: string, name: string): Promise<HnsEndpoint>;
  /** Attaches the endpoint to the host itself. */
  attachToHost(endpointId: string): Promise<void>;
  /** Does nothing if it is missing. */
  removeEndpoint(id: string): Promise<void>;
  /** Removes its endpoints, too. Does nothing if it is missing. */
  removeNetwork(id: string): Promise<void>;
}

/** Locks that Windows releases when their process ends, however it ends. */
export interface HostLocks {
  /** Undefined while another process holds the lock. Creates the file, which no user can open, but not its folder. */
  tryLock(path: string): Promise<Disposable | undefined>;
}

/** An IPv4 route. */
export interface Route {
  /** As `address/length`. */
  destination: string;
  /** `0.0.0.0` when the destination is on the link. */
  gateway: string;
  interfaceIndex: number;
  metric: number;
}

/** The IPv4 routes of the host; added ones last until the next boot. */
export interface Routes {
  list(): Promise<Route[]>;
  /** Does nothing if it exists. */
  add(route: Route): Promise<void>;
  /** Does nothing if it is missing. */
  remove(route: Route): Promise<void>;
}

/** What a program gets that runs as a Windows service. */
export interface ServiceLife {
  /** Aborted when the service has to stop, also because Windows shuts down. */
  signal: AbortSignal;
  /** Called once the service works; until then, but for a limited time, Windows shows it as starting. */
  ready(): void;
}

/** Everything that the agent needs from its host. */
export interface HostPorts {
  services: ServiceManager;
  processes: Processes;
  environment: Environment;
  certificates: CertStore;
  files: HostFiles;
  scripts: ScriptRunner;
  system: System;
  network: HostNetwork;
  locks: HostLocks;
  routes: Routes;
}

/** Services ConfigMaps, read by name. */
export interface ManifestSource {
  /** The services ConfigMap of a version; undefined when it does not exist. */
  servicesConfigMap(version: string): Promise<unknown>;
}

/** The part of the report that the agent changes; the boot ID is set with every write. */
export type ReportChange = Partial<Pick<AgentReport, 'version' | 'rebootRequired' | 'services' | 'variablesBoot'>>;

/** The Node of the agent, its services ConfigMap and its report. Only the report is written. */
export interface Cluster extends ManifestSource {
  /** Undefined when the Node does not exist. */
  node(): Promise<unknown>;
  readReport(): Promise<AgentReport>;
  /** Updates the report; writes only changes. */
  report(change: ReportChange): Promise<void>;
  /** Writes the report without a change, which proves that the API server accepts it. */
  confirm(): Promise<void>;
}
