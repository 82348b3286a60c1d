import type { Log } from '#base/log.ts';

export interface SandboxSpec {
  hosts: number;
  machines: number;
  faults: readonly string[];
  speed: number;
  /** Of the API server; any free port when not set. */
  port: number | undefined;
  /** For the content of simulated disks. */
  folder: string;
  /** Version of the operator. */
  version: string;
  log: Log;
}

export interface SimulatedMachine {
  /** The same as in `windows-instances`, or that of the Machine. */
  name: string;
  /** Those that have not ended. */
  faults: readonly string[];
  /** Commands and file transfers over SSH. */
  sshSessions: number;
  uploadedBytes: number;
  reboots: number;
  /** What the operator installed and has not removed. */
  installed: { services: readonly string[]; networks: readonly string[] };
}

/** A version of the operator with its programs for hosts. */
export interface SandboxRelease {
  version: string;
  /** The version from which it differs in a few programs; otherwise all are new. */
  since?: string;
  kubelet?: 'broken';
}

/** The operator that this one replaces, as far as the sandbox has it. */
export interface GoOperator {
  version: string;
  /** Its pod, which leads as long as it exists. */
  pod: string;
}

/** A cluster, an operator and hosts in this process. */
export interface RunningSandbox extends AsyncDisposable {
  kubeconfig: string;
  url: string;
  namespace: string;
  hosts(): readonly SimulatedMachine[];
  /** A text file on the disk of a host; undefined if it does not exist. */
  readFile(host: string, path: string): Promise<string | undefined>;
  /** Replaces the keys that the SSH server of a host accepts. */
  setAuthorizedKeys(host: string, lines: readonly string[]): Promise<void>;
  /** Stops the operator and starts that of another version, as an update of its Deployment does. */
  replaceOperator(release: SandboxRelease): Promise<void>;
  /** Stops the operator, and gives hosts and cluster the state in which the Go operator leaves them, which then runs. */
  becomeGoCluster(): Promise<GoOperator>;
  /** Aborted with the reason when the operator exits by itself. */
  operatorExit: AbortSignal;
}

/** Implemented in `bin`: the layer `cli` must not import the sandbox or the operator. */
export interface SandboxFactory {
  faults: readonly { name: string; description: string }[];
  /** Annotation of a WindowsInstance that ends a fault of its host. */
  endFaultAnnotation: string;
  start(spec: SandboxSpec): Promise<RunningSandbox>;
}
