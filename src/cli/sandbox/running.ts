import type { Log } from '#base/log.ts';

/** What the sandbox shall be. */
export interface SandboxSpec {
  hosts: number;
  machines: number;
  faults: readonly string[];
  speed: number;
  /** Of the API server; any that is free when absent. */
  port: number | undefined;
  /** Where the contents of simulated disks are kept. */
  folder: string;
  /** Of the operator. */
  version: string;
  log: Log;
}

export interface SimulatedMachine {
  name: string;
  address: string;
  dnsName: string | undefined;
  /** Commands and file transfers over SSH. */
  sshSessions: number;
  uploadedBytes: number;
  reboots: number;
}

/** A cluster, an operator and hosts in this process. */
export interface RunningSandbox extends AsyncDisposable {
  kubeconfig: string;
  url: string;
  namespace: string;
  hosts(): readonly SimulatedMachine[];
  /** Aborted, with the reason, when the operator has ended by itself. */
  operatorEnd: AbortSignal;
}

/** What the command line cannot make itself, since it knows neither the sandbox nor the operator. */
export interface SandboxFactory {
  faults: readonly { name: string; description: string }[];
  start(spec: SandboxSpec): Promise<RunningSandbox>;
}
