import type { Condition } from '#base/condition.ts';
import { prefix } from '../names.ts';

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
  'RollingBack',
  'Rebooting',
  'Refreshing',
  'Restarting',
  'Reconnecting',
  'Rekeying',
  'Adopting',
  'Removing',
  'Failed',
  'Paused',
] as const;
export type InstancePhase = (typeof instancePhases)[number];

const settingPhases = ['Refreshing', 'Restarting', 'Rekeying'] as const;
export type SettingPhase = (typeof settingPhases)[number];

/** The host gets new settings or a new key, or waits for the next attempt; its Node stays in service. */
export function isSettingPhase(phase: string | undefined): phase is SettingPhase {
  return settingPhases.some(each => each === phase);
}

/** In the order in which they are considered. */
export const journeyNames = [
  'remove',
  'adopt',
  'configure',
  'rollback',
  'upgrade',
  'reboot',
  'reconnect',
  'rekey',
  'refresh',
  'restart',
] as const;
export type JourneyName = (typeof journeyNames)[number];

export interface InstanceTaint {
  key: string;
  value?: string;
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export interface WindowsInstanceSpec {
  /** IPv4 address or DNS name. */
  address: string;
  /** SSH port; default: 22. */
  port?: number;
  /** Windows user with administrator rights. */
  username: string;
  /** Secret in the operator's namespace; default: cloud-private-key. */
  keySecret?: { name: string; key?: string };
  /** Host key known in advance, as in known_hosts: `<type> <base64>`. */
  hostKey?: string;
  /** New computer name of the host before it joins. */
  hostname?: string;
  source?: { kind: InstanceSource; name?: string };
  labels?: Record<string, string>;
  taints?: InstanceTaint[];
  /** The operator does not change a paused host. */
  paused?: boolean;
  /** Further DNS names and IP addresses for the serving certificate of the kubelet. */
  servingNames?: string[];
}

export interface TimelineStep {
  name: string;
  /** Start of the latest attempt. */
  started: string;
  /** Start of the first attempt; only set when there were several. */
  firstStarted?: string;
  finished?: string;
  attempts: number;
  lastError?: { code: string; message: string; remedy: string };
}

/** The conditions the operator sets. */
export const instanceCondition = {
  /**
   * False when source or spec are invalid, or another instance is the same host; the reason is the error code. Missing
   * means accepted. The operator starts nothing on a rejected host.
   */
  accepted: 'Accepted',
  /**
   * The host of a Machine has rejected the SSH key since the time of transition; after five minutes the Machine is
   * replaced.
   */
  keyRefused: 'KeyRefused',
  /** The host is a Node and the agent has confirmed the version; otherwise the reason is the error code. */
  configured: 'Configured',
  /** Configured, and its Node is ready. */
  ready: 'Ready',
  /** Whether the operator reached the kubelet at the end of the last join. Missing before, and for adopted hosts. */
  kubeletReachable: 'KubeletReachable',
  /** True after an upgrade failed and the host went back to its former version; the reason is the error code. */
  rolledBack: 'RolledBack',
  /** False when changed settings could not be brought to the host; the reason is the error code. Missing means True. */
  settingsApplied: 'SettingsApplied',
  /** False while the host accepts only a former SSH key of the operator; the reason is the error code. Missing means True. */
  keyCurrent: 'KeyCurrent',
} as const;

/** Progress of the current upload. */
export interface InstanceProgress {
  bytes: number;
  totalBytes: number;
  /** When the first byte was sent. */
  started?: string;
}

/** What the current step does, and how long that usually takes. */
export interface InstanceActivity {
  /** Start of this attempt of the step. */
  since: string;
  waitsFor?: string;
  /** Not set for steps whose duration cannot be known, such as waiting in a queue. */
  usualSeconds?: number;
  /** The step fails after this time. */
  limitSeconds: number;
  /** Set when the step has taken more than twice the usual time. */
  remedy?: string;
}

/** A reboot that the operator requested; recorded before the request, so that it is not repeated in another boot. */
export interface InstanceReboot {
  bootId: string;
  because: string;
}

/** The journey that runs, or waits for its next attempt. */
export interface InstanceJourney {
  name: JourneyName;
  /** Why it was started. */
  cause: string;
  started: string;
}

/** The last upgrade of a host, from its first step on the host until the next upgrade. */
export interface InstanceUpgrade {
  /** Versions of the operator. */
  from: string;
  to: string;
  /** SHA-256 of the agent program of `from`, which stays on the host and rolls back. Set before `activated`. */
  fromAgent?: string;
  /** When the files of `to` were complete on the host. */
  staged?: string;
  /** When the host was first ordered to swap its files; from then on a failure is rolled back. */
  activated?: string;
  /** When the Node was in service again; it soaks from then on. */
  ready?: string;
  /** When the soak was over. */
  soaked?: string;
  /** Why the host goes back to `from`. */
  failed?: { code: string; message: string; at: string };
  /** When the host ran `from` again. */
  rolledBack?: string;
  /** Value of the annotation `retry` when it failed or was repeated; another value starts the upgrade again. */
  retry?: string;
  /** When the host was set up again, although it had the version `to` by the record. */
  repeated?: string;
  /** Hashes of the settings that were staged, and whether its services will use a proxy. */
  settings?: { files: string; services: string; proxy?: boolean };
}

/** One group of settings that follow the cluster, by hashes. */
export interface InstanceSetting {
  /** What the host should have, as last seen. */
  desired: string;
  /** What the host has. */
  applied?: string;
  /** When it got that. */
  at?: string;
  /** Why `desired` could not be applied; other hosts do not get it either. */
  failed?: { code: string; message: string; at: string };
}

export interface InstanceSettings {
  /** Files that take effect at once: registries, certificates. */
  files?: InstanceSetting;
  /** Services, and files that they read when they start, as the Node annotation `desired-services`. */
  services?: InstanceSetting;
  /** Mirror files of the host, below the folder of registries; only the first of many. */
  mirrors?: string[];
  /** The services of the host have variables of a proxy. */
  proxy?: boolean;
}

/** The SSH key of the operator that the host accepts. Hashes are those of the annotation pub-key-hash. */
export interface InstanceKey {
  /** Of the key that last worked. */
  hash: string;
  /** Its type and fingerprint, for people. */
  fingerprint?: string;
  /** Of keys that the operator has replaced on the host and is to remove from it; only where it may. */
  former?: string[];
  /** A newer key that the host rejected; the operator asks again. */
  pending?: {
    hash: string;
    /** When the host first and last rejected it. */
    since: string;
    tried: string;
    /** Value of the annotation `retry` then; another value asks again at once. */
    retry?: string;
  };
}

/** Read from the host over the pinned connection. */
export interface InstanceHost {
  /** Name of the Node that the kubelet of this host registers, in lower case. */
  name: string;
  /** The address that was dialed, and that of the default route. */
  addresses: string[];
}

/** A token that was given to the host. An id is not a secret. */
export interface InstanceToken {
  /** As the API server writes it into `spec.extra` of a request: `JTI=…`. */
  id: string;
  /** The certificate that it can request. */
  use: 'kubelet' | 'agent';
  expires: string;
}

/** A key pair of the agent on the host. */
export interface InstanceIdentity {
  /** SHA-256 of the public key (DER of SubjectPublicKeyInfo), lower-case hex. */
  keyHash: string;
  /** When `install` last created or confirmed it. */
  installed: string;
  /** End of its newest certificate. */
  certificateEnds?: string;
}

/** What the operator has observed itself. Decisions are based on it alone. */
export interface InstanceRecord {
  /** When the operator first changed something on the host beside its own program; such a host has to be cleaned. */
  touched?: string;
  nodeUID?: string;
  /** Host key the host must show, as `<type> <base64>`. */
  hostKey?: string;
  key?: InstanceKey;
  host?: InstanceHost;
  /**
   * Node name for which a kubelet certificate of this host was approved. A certificate cannot be revoked, so the host
   * keeps the name, and no other host gets it, as long as the instance exists.
   */
  certifiedName?: string;
  tokens?: InstanceToken[];
  /** Set by the first `install` of our agent; missing while an agent of the Go operator runs. */
  agent?: InstanceIdentity;
  /** Of cloud-node-manager, on Azure. */
  cloudNode?: InstanceIdentity;
  /** Operator version that configured the host. */
  version?: string;
  upgrade?: InstanceUpgrade;
  settings?: InstanceSettings;
  /** When the host was last rebooted on request, at most as many as are allowed in a day. */
  reboots?: string[];
  /** Value of the annotation `reboot` that was carried out last. */
  rebootRequest?: string;
}

export interface WindowsInstanceStatus extends InstanceRecord {
  phase?: InstancePhase;
  step?: string;
  /** When a failed host is retried at the latest. */
  nextAttempt?: string;
  progress?: InstanceProgress;
  activity?: InstanceActivity;
  reboot?: InstanceReboot;
  journey?: InstanceJourney;
  node?: string;
  ipv4?: string;
  observedGeneration?: number;
  conditions?: Condition[];
  timeline?: TimelineStep[];
}
