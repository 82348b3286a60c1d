import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Client } from '#kube/client.ts';
import type { KubeletFlags } from './flags.ts';

/** The machine of a kubelet double: simulated, Windows, or a folder in a test. */
export interface KubeletHost {
  hostName(): string;
  /** Such as 10.0.20348. */
  osBuild(): string;
  osImage(): string;
  bootId(): string;
  /** Of the kubelet itself; default is that of the payload. */
  kubeletVersion?(): string;
  cpus(): number;
  memoryBytes(): number;
  /** Undefined when the file does not exist. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file as a whole. */
  write(path: string, text: string): Promise<void>;
  isServiceRunning(name: string): Promise<boolean>;
  /** A client for the kubeconfig; it reloads files that change. */
  connect(kubeconfigPath: string): Promise<Client>;
  /** Ends the process immediately. */
  crash(): void;
}

/** Injected faults. */
export interface KubeletFaults {
  /** The Node stays NotReady. */
  neverReady: boolean;
  /** The kubelet does not register its Node. */
  noRegister: boolean;
  /** Milliseconds until it crashes; undefined for never. */
  crashAfterMs: number | undefined;
  slowStopMs: number;
}

/** Shared by the parts of a running kubelet. */
export interface Running {
  flags: KubeletFlags;
  host: KubeletHost;
  /** The kubelet is NotReady until this file exists. */
  cniConfig: string;
  faults: KubeletFaults;
  clock: Clock;
  log: Log;
  /** Aborted to stop it. */
  signal: AbortSignal;
}
