import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import type { NodeView } from '#contract/node.ts';
import type { Marks } from '#contract/node-marks.ts';
import type { InstanceTaint } from '#contract/windows-instance/resource.ts';
import type { Connect } from '#host/host.ts';
import type { HostKey } from '#host/host-key.ts';
import type { PrivateKey } from '#host/keys/private-key.ts';
import type { Resolver } from '#host/resolver.ts';
import type { Metrics } from '#kube/controller/metrics.ts';
import type { BundleSeals } from '../bundle-seals.ts';
import type { NodeFiles } from '../desired/files.ts';
import type { PayloadSource } from '../payload-source.ts';
import type { HearName } from './heard-names.ts';
import type { Slots } from './slots.ts';

/** Everything a journey needs from outside, by need. */
export interface LifecycleWorld {
  connect: Connect;
  resolver: Pick<Resolver, 'addresses'>;
  material: MaterialSource;
  payload: PayloadSource;
  nodes: ClusterNodes;
  hostKeys: HostKeyStore;
  slots: LifecycleSlots;
  seals: BundleSeals;
  /** Told before the kubelet of a host is started, which then asks for a certificate in that name. */
  onHostName?: HearName;
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
export interface MaterialSource {
  /** The keys to connect with, in the order in which they are tried. */
  keysFor(instance: InstanceObject, signal: AbortSignal): Promise<readonly PrivateKey[]>;
  /** Asked for once the host answers, for fresh tokens may be made for it. */
  materialFor(instance: InstanceObject, signal: AbortSignal): Promise<HostMaterial>;
}

export interface HostMaterial {
  /** Of this operator. */
  version: string;
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
  /** Told after every change of a Node, and after every new remark of an agent; gives how to end that. */
  onChange(listener: () => void): () => void;
  /** The last thing the agent has said about its Node, if anything. */
  remarkOf(node: string): string | undefined;
  /** Keeps pods away and sets marks and taints, in one write. A Node that somebody has cordoned is left to him. */
  takeIn(node: string, marks: Marks, taints: readonly InstanceTaint[], signal: AbortSignal): Promise<void>;
  annotate(node: string, annotations: Record<string, string | null>, signal: AbortSignal): Promise<void>;
  /** Lets pods come if it was us who kept them away. */
  release(node: string, signal: AbortSignal): Promise<void>;
  /** Takes pods off the Node; fails when some stay. */
  drain(node: string, signal: AbortSignal): Promise<void>;
}

/** Where host keys are kept. */
export interface HostKeyStore {
  /** The key the host must show; undefined when any will do. A stored key that cannot be read is an error. */
  find(instance: InstanceObject, node: NodeView | undefined, signal: AbortSignal): Promise<HostKey | undefined>;
  /** Keeps the key of a host that had none. */
  remember(instance: InstanceObject, node: NodeView | undefined, key: HostKey, signal: AbortSignal): Promise<void>;
  /** Forgets what was kept under the address, now that the Node has the key. */
  forget(instance: InstanceObject, signal: AbortSignal): Promise<void>;
}
