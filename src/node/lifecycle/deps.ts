import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';
import type { Marks } from '#contract/node-marks.ts';
import type { Reserved } from '#contract/reserved.ts';
import type { InstanceTaint, InstanceToken } from '#contract/windows-instance/resource.ts';
import type { Connect } from '#host/host.ts';
import type { HostKey } from '#host/host-key.ts';
import type { PrivateKey } from '#host/keys/private-key.ts';
import type { Resolver } from '#host/resolver.ts';
import type { Metrics } from '#kube/controller/metrics.ts';
import type { BundleHashCache } from '../bundle-hash-cache.ts';
import type { NodeFiles } from '../desired/files.ts';
import type { PayloadSource } from '../payload-source.ts';
import type { NodeNames } from './node-names.ts';
import type { Slots } from '#base/waiting/slots.ts';

/** Everything a journey needs from outside, by need. */
export interface LifecycleDeps {
  connect: Connect;
  resolver: Pick<Resolver, 'addresses'>;
  inputs: HostInputSource;
  payload: PayloadSource;
  nodes: ClusterNodes;
  hostKeys: HostKeyStore;
  slots: LifecycleSlots;
  bundleHashes: BundleHashCache;
  names: NodeNames;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** How many hosts at once may join, and how many of those may upload. */
export interface LifecycleSlots {
  joins: Slots;
  uploads: Slots;
}

/** What the operator brings to a host. */
export interface HostInputSource {
  /** The keys to connect with, in the order in which they are tried. */
  loadKeys(instance: WindowsInstance, signal: AbortSignal): Promise<readonly PrivateKey[]>;
  /** Asked for once the host answers, for fresh tokens may be made for it. */
  prepareInputs(instance: WindowsInstance, signal: AbortSignal): Promise<HostInputs>;
}

export interface HostInputs {
  /** Of this operator. */
  version: string;
  /** What no host may be called. */
  reserved: Reserved;
  /** Go duration of the agent's certificates. */
  certificateLifetime: string;
  /** Ids of the tokens that are in the files. */
  tokens: readonly InstanceToken[];
  namespace: string;
  platform: string;
  /** The API server as hosts reach it. */
  apiServerUrl: string;
  files: NodeFiles;
  /** Value of the annotation pub-key-hash. */
  publicKeyHash: string;
  /** Value of the annotation username. */
  sealUsername(username: string): string;
  /** Size of one log file of the agent, where one is set. */
  agentLogMegabytes?: number;
}

/** The Nodes of the cluster as watches have brought them, and what a journey does to one. */
export interface ClusterNodes {
  /** All of them, those of other systems too. */
  list(): readonly NodeView[];
  get(name: string): NodeView | undefined;
  /** Called after every change of a Node or of a report of an agent; returns how to end that. */
  onChange(listener: () => void): () => void;
  /** Last event in the report of the agent. */
  remarkOf(node: string): string | undefined;
  /** Clears what the agent has reported, in the report and on the Node: it is about a state that has ended. */
  clearReport(node: string, what: 'version' | 'rebootRequired', signal: AbortSignal): Promise<void>;
  /** Keeps pods away and sets marks and taints, in one write. A Node that somebody has cordoned is left to him. */
  cordonAndLabel(node: string, marks: Marks, taints: readonly InstanceTaint[], signal: AbortSignal): Promise<void>;
  annotate(node: string, annotations: Record<string, string | null>, signal: AbortSignal): Promise<void>;
  /** Lets pods come if it was us who kept them away. */
  release(node: string, signal: AbortSignal): Promise<void>;
  /** Takes pods off the Node; fails when some stay. */
  drain(node: string, signal: AbortSignal): Promise<void>;
}

/** Where host keys were kept before the record of the instance had them. */
export interface HostKeyStore {
  /** The key the host must show; undefined when any will do. A stored key that cannot be read is an error. */
  find(instance: WindowsInstance, node: NodeView | undefined, signal: AbortSignal): Promise<HostKey | undefined>;
  /** Removes what is kept under the address, once the record has the key. */
  forget(instance: WindowsInstance, signal: AbortSignal): Promise<void>;
}
