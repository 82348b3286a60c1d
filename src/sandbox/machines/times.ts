/** Durations in sandbox time. */
export interface Times {
  /** From the TCP connection to the SSH identification. */
  greetingMs: number;
  /** Process start; slow on Windows. */
  commandMs: number;
  /** PowerShell script. */
  scriptMs: number;
  /** Installation of the Containers feature. */
  featureMs: number;
  /** From the reboot delay until the host is down. */
  shutdownMs: number;
  /** From there until SSH answers. */
  bootMs: number;
  serviceStartMs: number;
  serviceStopMs: number;
  /** From the start of the kubelet to its first request. */
  kubeletMs: number;
  /** From the subnet on the Node to the networks on the host. */
  overlayMs: number;
  /** From the Node to its subnet. */
  subnetMs: number;
  /** From a Machine to its address. */
  provisionMs: number;
  /** Network throughput. */
  uploadBytesPerSecond: number;
  /** Disk throughput. */
  diskBytesPerSecond: number;
}

/** A fast server in the same data center, with a short boot. */
export const defaultTimes: Times = {
  greetingMs: 40,
  commandMs: 150,
  scriptMs: 900,
  featureMs: 5000,
  shutdownMs: 1500,
  bootMs: 8000,
  serviceStartMs: 400,
  serviceStopMs: 200,
  kubeletMs: 1500,
  overlayMs: 1000,
  subnetMs: 1000,
  provisionMs: 5000,
  uploadBytesPerSecond: Infinity,
  diskBytesPerSecond: Infinity,
};

/** The delays used to measure the Go operator: those of the host, no network. */
export const measuredTimes: Times = {
  ...defaultTimes,
  greetingMs: 0,
  serviceStartMs: 100,
  serviceStopMs: 100,
  kubeletMs: 2500,
  overlayMs: 200,
  subnetMs: 200,
};
