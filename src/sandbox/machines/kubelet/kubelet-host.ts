import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Client } from '#kube/client.ts';
import type { KubeletFlags } from './flags.ts';

/** What the double of a kubelet asks of the machine it runs on: a simulated one, Windows itself, or a folder in a test. */
export interface KubeletHost {
  hostName(): string;
  /** Such as 10.0.20348. */
  osBuild(): string;
  osImage(): string;
  bootId(): string;
  cpus(): number;
  memoryBytes(): number;
  /** Undefined when the file does not exist. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file as a whole. */
  write(path: string, text: string): Promise<void>;
  isServiceRunning(name: string): Promise<boolean>;
  /** A client by the kubeconfig at a path; it reads the files that one names when they change. */
  connect(kubeconfigPath: string): Promise<Client>;
  /** Ends the process without a word. */
  crash(): void;
}

/** What goes wrong on purpose. */
export interface KubeletFaults {
  /** The Node is there, but not ready. */
  neverReady: boolean;
  /** The kubelet runs, but no Node appears. */
  noRegister: boolean;
  /** Milliseconds of life; for ever when undefined. */
  crashAfterMs: number | undefined;
  /** How long a stop takes. */
  slowStopMs: number;
}

/** What the parts of one running kubelet share. */
export interface Running {
  flags: KubeletFlags;
  host: KubeletHost;
  /** The kubelet is told by containerd, which reads it. */
  cniConfig: string;
  faults: KubeletFaults;
  clock: Clock;
  log: Log;
  /** Aborted when it has to stop. */
  signal: AbortSignal;
}
