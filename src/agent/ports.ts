import type { Clock } from '#base/clock.ts';
import type { HostVariableSource, Preparation } from '#contract/services/manifest.ts';

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

export interface InstalledService extends ServiceStatus {
  name: string;
  config: ServiceConfig;
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
  /** Replaces the file as a whole or not at all. */
  write(path: string, text: string): Promise<void>;
  /** Absent is fine. */
  remove(path: string): Promise<void>;
}

export interface ScriptRunner {
  /** Runs PowerShell text and gives its standard output; rejects when it fails or takes too long. */
  run(text: string, signal: AbortSignal): Promise<string>;
}

/** What the agent finds out or brings about natively instead of by a script. */
export interface HostValues {
  resolve(source: HostVariableSource, signal: AbortSignal): Promise<string>;
  /** True when a file that a service reads has changed. */
  prepare(preparation: Preparation, signal: AbortSignal): Promise<boolean>;
  /** Changes with every boot of the host and never otherwise. */
  bootId(): Promise<string>;
}

/** The agent's own Node and the services ConfigMaps of its namespace. */
export interface Cluster {
  /** The Node as the API server gives it; undefined when it does not exist. Any other failure rejects. */
  node(): Promise<unknown>;
  /** Sets annotations, and removes those given as null. */
  annotateNode(annotations: Record<string, string | null>): Promise<void>;
  /** All ConfigMaps that describe services. */
  servicesConfigMaps(): Promise<unknown[]>;
}

/** How long to wait for something and how often to look. */
export interface Patience {
  everyMs: number;
  limitMs: number;
}

/** Time and the wish to stop, handed down to everything that waits. */
export interface Waiting {
  clock: Clock;
  signal: AbortSignal;
  patience: Patience;
}
