import type { AppError } from '#base/errors.ts';
import type { Secret } from '#base/secret.ts';
import type { Reserved } from '#contract/reserved.ts';

/** The cluster network as Windows nodes need to know it. */
export interface Network {
  serviceCidr: string;
  /** Address of the DNS service; on OpenShift the tenth of the service network. */
  clusterDns: string;
  /** Decimal port of the hybrid overlay, or empty for the default. */
  vxlanPort: string;
}

/** Flags of the kubelet on Linux workers that Windows nodes share. An empty value is not the same as a missing key. */
export type KubeletArguments = Partial<Record<'cloud-provider' | 'cloud-config', string>>;

/** A CA bundle for image registries; `file` names the registry as the machine config operator encodes it. */
export interface RegistryBundle {
  file: string;
  data: string;
}

/** CA and token of a service account. */
export interface ServiceAccountToken {
  ca: string;
  token: Secret;
}

/** How logs of the managed services are rotated; an empty string is not set. */
export interface LogRotation {
  fileSize: string;
  fileAge: string;
  flushInterval: string;
}

/** Flags and environment of the operator. */
export interface OperatorSettings {
  namespace: string;
  version: string;
  debug: boolean;
  logRotation: LogRotation;
  /** Proxy variables in the environment of the operator, by name; they count in clusters without a Proxy object. */
  proxy: Record<string, string>;
  /** Of the payload; missing if it is not known. */
  kubeletVersion?: string;
  /** Names of the optional programs in the payload. */
  optionalPrograms?: readonly string[];
}

/** Everything about the cluster that the configuration of a Windows node depends on. */
export interface ClusterFacts {
  platform: string;
  apiServerUrl: string;
  network: Network;
  reserved: Reserved;
  kubeletArguments: KubeletArguments;
  /** Decoded files of the Linux workers that Windows nodes get as well, by their path on Linux. */
  workerFiles: Record<string, string>;
  kubeletCa: string;
  /** Bundles of users first, then those of the cluster. */
  registryBundles: RegistryBundle[];
  /** Proxy variables of hosts, by name; empty without a proxy. Values may hold a password. */
  proxy: Readonly<Record<string, string>>;
  /** Merged bundle of the ConfigMap trusted-ca; undefined without a cluster proxy. */
  trustedCa: string | undefined;
  /** Of the payload: newer kubelets reject flags and feature gates that older ones need. Missing if it is not known. */
  kubeletVersion?: string;
  /** Names of the optional programs in the payload. */
  optionalPrograms?: readonly string[];
}

export interface FactsReading {
  /** Undefined when there are findings. */
  facts: ClusterFacts | undefined;
  /** Of clusters other than OpenShift: the object that each discovered value was read from, for the log. */
  origins?: Readonly<Record<string, string>>;
  /** Each problem once. */
  findings: AppError[];
}
