import type { Clock } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';
import type { Marks } from '#contract/node-marks.ts';
import type { Reserved } from '#contract/reserved.ts';
import type { DaemonSetName } from '#contract/rollout.ts';
import type { InstanceTaint, InstanceToken } from '#contract/windows-instance/resource.ts';
import type { DialTcp } from '#host/dial-tcp.ts';
import type { Connect } from '#host/host.ts';
import type { HostKey } from '#host/host-key.ts';
import type { PrivateKey } from '#host/keys/private-key.ts';
import type { Resolver } from '#host/resolver.ts';
import type { Metrics } from '#kube/controller/metrics.ts';
import type { Leader } from '#kube/leader/leader.ts';
import type { BundleHashCache } from '../bundle-hash-cache.ts';
import type { NodeFiles } from '../desired/files.ts';
import type { PackedFile } from '../pack-files.ts';
import type { PayloadSource } from '../payload-source.ts';
import type { Grants } from '../rollout/grants.ts';
import type { NodeNames } from './node-names.ts';
import type { Slots } from '#base/waiting/slots.ts';

/** Everything a journey needs from outside. */
export interface LifecycleDeps {
  connect: Connect;
  dialTcp: DialTcp;
  resolver: Pick<Resolver, 'addresses'>;
  inputs: HostInputSource;
  payload: PayloadSource;
  /** Hosts refuse commands of a former leader. */
  leader: Leader;
  nodes: ClusterNodes;
  grants: Grants;
  hostKeys: HostKeyStore;
  slots: LifecycleSlots;
  bundleHashes: BundleHashCache;
  names: NodeNames;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** Limits how many hosts join at once, and how many of those upload. */
export interface LifecycleSlots {
  joins: Slots;
  uploads: Slots;
}

export interface HostInputSource {
  /** The keys to connect with, in the order to try them: the current one first, unless it has a problem. Never empty. */
  loadKeys(instance: WindowsInstance, signal: AbortSignal): Promise<readonly PrivateKey[]>;
  /** Why the current key of all hosts cannot be used; hosts that accepted a former one are reached with that. */
  keyProblem?(instance: WindowsInstance): AppError | undefined;
  /** Value of the annotation pub-key-hash for the current key of the host; undefined while it is not known. */
  currentKeyHash?(instance: WindowsInstance): string | undefined;
  /** Looks whether a key of its own has changed, which no watch reports. */
  lookAtKey?(instance: WindowsInstance, signal: AbortSignal): Promise<void>;
  /** Keeps a key that a host accepts, or is told to accept, beyond its replacement. */
  keepKey?(key: PrivateKey, signal: AbortSignal): Promise<void>;
  /** Whether the operator adds its new public key to hosts that accept a former one. */
  authorizesKeys?: boolean;
  /** What is needed to identify a host. */
  readFacts(): HostFacts;
  /** Called once the host answers, because it issues new tokens. */
  prepareInputs(instance: WindowsInstance, signal: AbortSignal): Promise<HostInputs>;
  /** What the host should have while it works; undefined while something in the cluster is missing. */
  desiredSettings?(instance: WindowsInstance): HostSettings | undefined;
  /** Why hosts keep what they have; undefined when everything is there. */
  settingsProblem?(): AppError | undefined;
  /** Calls the listener when what hosts should have has changed; returns the function that removes it. */
  onSettingsChange?(listener: () => void): () => void;
}

/** Settings of a host that follow the cluster. */
export interface HostSettings {
  /** Of files that take effect at once. */
  liveHash: string;
  /** The services and the files that they read when they start, as the annotation `desired-services`. */
  services: string;
  /** Services have variables of a proxy. */
  hasProxy: boolean;
  /** Mirror files, by path below the folder of registries. */
  mirrors: readonly string[];
  /** Unlisted files in these directories are removed. */
  ownedDirectories: readonly string[];
  /** All files that are no credentials. */
  texts(): Promise<readonly PackedFile[]>;
}

/** What the operator knows about the cluster without creating or reading anything for a host. */
export interface HostFacts {
  /** Of this operator. */
  version: string;
  /** Names that no host may have. */
  reserved: Reserved;
  platform: string;
  /** URL at which hosts reach the API server. */
  apiServerUrl: string;
}

export interface HostInputs extends HostFacts {
  /** Go duration of the agent's certificates. */
  certificateLifetime: string;
  /** The tokens in the files. */
  tokens: readonly InstanceToken[];
  namespace: string;
  /** VXLAN port of the hybrid overlay; empty for the default. */
  vxlanPort: string;
  files: NodeFiles;
  /** What `files` and services are without credentials. */
  settings: Pick<HostSettings, 'liveHash' | 'services' | 'mirrors' | 'hasProxy'>;
  /** Value of the annotation pub-key-hash. */
  publicKeyHash: string;
  /** Value of the annotation username. */
  sealUsername(username: string): string;
  /** Size of one log file of the agent, if set. */
  agentLogMegabytes?: number;
}

/** The Nodes of the cluster, read from caches, and what a journey does to one. */
export interface ClusterNodes {
  /** Nodes that report one of the addresses, in lower case; Linux Nodes as well. */
  withAddress(addresses: Iterable<string>): readonly NodeView[];
  get(name: string): NodeView | undefined;
  /** Calls the listener after every change of the Node or the report of its agent; returns the function that removes it. */
  follow(name: string, listener: () => void): () => void;
  /** The last event in the report of the agent, unless it is older or about an earlier Node or boot. */
  lastEvent(node: Pick<NodeView, 'name' | 'uid'>, limits?: EventLimits): string | undefined;
  /** The failure in the report of the agent that has not been followed by a success, with the same limits. */
  agentFailure(node: Pick<NodeView, 'name' | 'uid'>, limits?: EventLimits): string | undefined;
  /** What the agent has reported in this boot. */
  bootReport(node: Pick<NodeView, 'name' | 'uid'>, bootId: string): BootReport;
  /** The annotation `desired-services` that the agent has applied by its report; '' when it has reported none. */
  appliedServices(node: Pick<NodeView, 'name' | 'uid'>): string;
  /** Whether a pod of the DaemonSet is ready on the Node, and so has its images. */
  runsPodOf(node: string, daemonSet: DaemonSetName, signal: AbortSignal): Promise<boolean>;
  /** Clears an outdated value in the report of the agent and on the Node. */
  clearReport(node: string, what: 'version' | 'rebootRequired', signal: AbortSignal): Promise<void>;
  /** Cordons the Node and sets labels, annotations and taints, in one write. A Node that a user cordoned stays theirs. */
  cordonAndLabel(node: string, marks: Marks, taints: readonly InstanceTaint[], signal: AbortSignal): Promise<void>;
  annotate(node: string, annotations: Record<string, string | null>, signal: AbortSignal): Promise<void>;
  /** Uncordons the Node if the operator cordoned it. */
  release(node: string, signal: AbortSignal): Promise<void>;
  /**
   * Cordons the Node, also again when a user uncordons it meanwhile, and evicts its pods. Fails with DRAIN_BLOCKED when some stay. A
   * missing Node is drained.
   */
  drain(node: string, options: NodeDrainOptions): Promise<void>;
}

export interface NodeDrainOptions {
  signal: AbortSignal;
  timeoutMs?: number;
  /** Reports which pods are left. */
  note?: (text: string) => void;
  /** What else helps when pods stay. */
  remedy?: string;
}

/** `confirmed`: all services run. */
export type BootReport = 'nothing' | 'confirmed' | 'requires reboot';

/** Which events of an agent are about the present state. */
export interface EventLimits {
  /** Time of the host. */
  sinceMs?: number;
  /** Of the host now, if it is known. */
  bootId?: string;
}

/** Host keys, also those of earlier operators, which did not record them in the instance. */
export interface HostKeyStore {
  /** The key that the host must show; undefined to accept any. Fails for a stored key that cannot be read. */
  find(instance: WindowsInstance, node: NodeView | undefined, signal: AbortSignal): Promise<HostKey | undefined>;
  /** Removes the key stored under the address, once it is recorded. */
  forget(instance: WindowsInstance, signal: AbortSignal): Promise<void>;
}
