import type { Condition } from '#base/condition.ts';
import { prefix } from '../names.ts';

/** One Windows host the operator looks after: a view for people and a work item for the lifecycle. */
export const windowsInstanceGroup = prefix;
export const windowsInstanceVersion = 'v1alpha1';
export const windowsInstanceKind = 'WindowsInstance';

export const instanceSources = ['Machine', 'ConfigMap', 'Direct'] as const;
export type InstanceSource = (typeof instanceSources)[number];

export const instancePhases = [
  'Pending',
  'Configuring',
  'Ready',
  'Upgrading',
  'Rebooting',
  'Refreshing',
  'Reconnecting',
  'Removing',
  'Failed',
  'Paused',
] as const;
export type InstancePhase = (typeof instancePhases)[number];

export interface InstanceTaint {
  key: string;
  value?: string;
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export interface WindowsInstanceSpec {
  /** IPv4 address or DNS name. */
  address: string;
  /** SSH port; 22 when absent. */
  port?: number;
  username?: string;
  /** Secret in the operator's namespace; cloud-private-key when absent. */
  keySecret?: { name: string; key?: string };
  /** Host key supplied in advance, as in known_hosts: `<type> <base64>`. */
  hostKey?: string;
  /** Computer name the host is given before it joins. */
  hostname?: string;
  source?: { kind: InstanceSource; name?: string };
  labels?: Record<string, string>;
  taints?: InstanceTaint[];
  /** Nothing is done to a paused host. */
  paused?: boolean;
  /** Further DNS names and IP addresses for the serving certificate of the kubelet. */
  servingNames?: string[];
}

export interface TimelineStep {
  name: string;
  started: string;
  finished?: string;
  attempts: number;
  lastError?: { code: string; message: string; remedy: string };
}

/** The conditions the operator sets. */
export const instanceCondition = {
  /**
   * Whether the host may be set up at all: its source and its spec can be used, and no other instance is the same host. The reason
   * is the code of what is wrong; absent means that nothing is. While it is False the host is left alone.
   */
  accepted: 'Accepted',
  /** The host of a Machine has not let the operator in since the time of transition; after five minutes the Machine is replaced. */
  keyRefused: 'KeyRefused',
  /** The host has become a Node and the agent has confirmed the version; otherwise the reason is the code of what is wrong. */
  configured: 'Configured',
  /** Configured, and its Node is ready. */
  ready: 'Ready',
} as const;

/** How far the upload under way has come. */
export interface InstanceProgress {
  bytes: number;
  totalBytes: number;
}

/** A reboot the operator has asked for, written down before it does: in another boot it is not asked for again. */
export interface InstanceReboot {
  bootId: string;
  because: string;
}

/** What the operator has read from the host over the pinned connection. */
export interface InstanceHost {
  /** Name of the Node that the kubelet of this host registers, in lower case. */
  name: string;
  /** The address that was dialed, and that of the default route. */
  addresses: string[];
}

/** A token that was handed to the host. An id is not a secret. */
export interface InstanceToken {
  /** As the API server writes it into `spec.extra` of a request: `JTI=…`. */
  id: string;
  /** For which certificate it may ask. */
  use: 'kubelet' | 'agent';
  expires: string;
}

/** A key pair that the agent keeps on the host. */
export interface InstanceIdentity {
  /** SHA-256 of the public key (DER of SubjectPublicKeyInfo), lower-case hex. */
  keyHash: string;
  /** When `install` last made or confirmed it. */
  installed: string;
  /** End of the newest certificate that was issued for it. */
  certificateEnds?: string;
}

/** Written by the operator alone: what it knows about the host from its own observation. Decisions are made from this. */
export interface InstanceRecord {
  nodeUID?: string;
  /** Host key the host must show, as `<type> <base64>`. */
  hostKey?: string;
  host?: InstanceHost;
  /**
   * Node name for which a kubelet certificate of this host was approved. Such a certificate cannot be taken back, so the host keeps
   * the name, and no other host gets it, for as long as the instance exists.
   */
  certifiedName?: string;
  tokens?: InstanceToken[];
  /** Set by the first `install` of our agent; missing while an agent of the Go operator runs. */
  agent?: InstanceIdentity;
  /** Of cloud-node-manager, on Azure. */
  cloudNode?: InstanceIdentity;
}

export interface WindowsInstanceStatus extends InstanceRecord {
  phase?: InstancePhase;
  step?: string;
  /** When a host that has failed is tried again, at the latest. */
  nextAttempt?: string;
  progress?: InstanceProgress;
  reboot?: InstanceReboot;
  node?: string;
  ipv4?: string;
  version?: string;
  observedGeneration?: number;
  conditions?: Condition[];
  timeline?: TimelineStep[];
}
