/** What the double asks of the machine it runs on: of Windows, or of a folder in a test. */
export interface KubeletHost {
  hostName(): string;
  /** Such as 10.0.20348. */
  osBuild(): string;
  osImage(): string;
  cpus(): number;
  memoryBytes(): number;
  /** Undefined when the file does not exist. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file as a whole. */
  write(path: string, text: string): Promise<void>;
  isServiceRunning(name: string): Promise<boolean>;
  /** Ends the process without a word. */
  crash(): void;
}

/** Files that a real kubelet would find by other means. */
export interface Places {
  /** The kubelet is told by containerd, which reads it. */
  cniConfig: string;
  /** A fault is a file `kubelet.<name>` in it. */
  faults: string;
}
