import type { FeatureState, OperatingSystem } from '#agent/ports.ts';

export type Language = 'english' | 'german' | 'french' | 'japanese';

/** Something that happens once or a few times, when a verb of the agent begins or in the middle of an upload. */
export interface Mishap {
  /** `hang`: no answer, ever. `drop`: the connection breaks. `power cut`: the host dies and boots anew. */
  kind: 'hang' | 'drop' | 'power cut';
  /** A verb of the agent, or `upload`. */
  on: string;
  times: number;
  /** Of an upload, until it happens. */
  afterBytes?: number;
}

/** What sets one simulated host apart from others. Data only: a fault is a part of it. */
export interface Traits {
  /** What a connection to the SSH port meets. */
  network: 'answers' | 'refuses' | 'silent' | 'other protocol';
  login: 'key' | 'password' | 'key and password';
  acceptsKey: boolean;
  /** Whether the host shows another host key from its second connection on. */
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
  /** In the place of the name it would have. */
  hostName: string | undefined;
  machineVariables: Readonly<Record<string, string>>;
  mishaps: readonly Mishap[];
  /** Services whose process ends as soon as it is started. */
  failingServices: readonly string[];
  /** Services that end only when they are killed. */
  stubbornServices: readonly string[];
  /** Services of somebody else that run when we come. */
  foreignServices: readonly string[];
  kubelet: 'works' | 'never ready' | 'never registers';
  /** Whether the cluster network gives it a subnet. */
  getsSubnet: boolean;
  /** Whether the host finds its way to the API server. */
  reachesApi: boolean;
  /** TCP ports on which something listens beside what Windows and our services do. */
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
