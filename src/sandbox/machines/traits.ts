import type { FeatureState, OperatingSystem } from '#agent/ports.ts';

export type Language = 'english' | 'german' | 'french' | 'japanese';

/** A failure injected when an agent verb starts or during an upload. */
export interface Mishap {
  /** `hang`: never answers. `drop`: the connection breaks. `power cut`: the host loses power and boots again. */
  kind: 'hang' | 'drop' | 'power cut';
  /** A verb of the agent, or `upload`. */
  on: string;
  times: number;
  /** Bytes of an upload before it happens. */
  afterBytes?: number;
}

/** Properties of a simulated host. A fault changes some of them. */
export interface Traits {
  /** What answers on the SSH port. */
  network: 'answers' | 'refuses' | 'silent' | 'other protocol';
  login: 'key' | 'password' | 'key and password';
  acceptsKey: boolean;
  /** Whether the host key changes from the second connection on. */
  changesHostKey: boolean;
  hasSftp: boolean;
  isAdministrator: boolean;
  shell: 'cmd' | 'powershell';
  language: Language;
  os: OperatingSystem;
  containersFeature: FeatureState;
  pendingReboot: readonly string[];
  returnsFromReboot: boolean;
  clockOffsetMs: number;
  diskBytes: number;
  /** Overrides the default host name. */
  hostName: string | undefined;
  machineVariables: Readonly<Record<string, string>>;
  mishaps: readonly Mishap[];
  /** Services that exit right after they start. */
  failingServices: readonly string[];
  /** Services that exit only when killed. */
  stubbornServices: readonly string[];
  /** Services that WMCO did not install. */
  foreignServices: readonly string[];
  kubelet: 'works' | 'never ready' | 'never registers';
  /** Whether OVN-Kubernetes assigns a subnet. */
  getsSubnet: boolean;
  /** Whether the host can reach the API server. */
  reachesApi: boolean;
  /** TCP ports used by other programs. */
  busyPorts: readonly number[];
}

/** A fresh Windows Server 2022 with an SSH server and the Containers feature. */
export const defaultTraits: Traits = {
  network: 'answers',
  login: 'key',
  acceptsKey: true,
  changesHostKey: false,
  hasSftp: true,
  isAdministrator: true,
  shell: 'cmd',
  language: 'english',
  os: { product: 'Windows Server 2022 Datacenter', build: '10.0.20348.2700', installationType: 'Server Core' },
  containersFeature: 'enabled',
  pendingReboot: [],
  returnsFromReboot: true,
  clockOffsetMs: 0,
  diskBytes: 80e9,
  hostName: undefined,
  machineVariables: {},
  mishaps: [],
  failingServices: [],
  stubbornServices: [],
  foreignServices: [],
  kubelet: 'works',
  getsSubnet: true,
  reachesApi: true,
  busyPorts: [],
};
