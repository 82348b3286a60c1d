/** How long things take on a simulated host and in its cluster. Milliseconds and bytes per second of sandbox time. */
export interface Times {
  /** From the TCP connection to the first word of the SSH server. */
  greetingMs: number;
  /** From the order to the first instruction of a program: Windows is slow at starting processes. */
  commandMs: number;
  /** The same where PowerShell is needed. */
  scriptMs: number;
  /** Until the Containers feature is installed. */
  featureMs: number;
  /** From the end of the delay of a reboot until nothing answers any more. */
  shutdownMs: number;
  /** From there until the SSH server answers. */
  bootMs: number;
  serviceStartMs: number;
  serviceStopMs: number;
  /** From the start of the kubelet to its first word to the API server. */
  kubeletMs: number;
  /** From the subnet on the Node to the networks on the host. */
  overlayMs: number;
  /** From the Node to the subnet on it. */
  subnetMs: number;
  /** From a Machine to one with an address. */
  provisionMs: number;
  /** How fast the network takes files in. */
  uploadBytesPerSecond: number;
  /** How fast the disk does. */
  diskBytesPerSecond: number;
}

/** A good server in the same data centre, in a hurry: nobody wants to watch a real boot. */
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

/** The model by which the Go operator was measured: what a host takes by itself, and nothing for the network. */
export const measuredTimes: Times = {
  ...defaultTimes,
  greetingMs: 0,
  serviceStartMs: 100,
  serviceStopMs: 100,
  kubeletMs: 2500,
  overlayMs: 200,
  subnetMs: 200,
};
