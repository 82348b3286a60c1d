import type { AppError } from '#base/errors.ts';
import type { Secret } from '#base/secret.ts';
import type { Reserved } from '#contract/reserved.ts';

/** The cluster network as Windows nodes need to know it. */
export interface Network {
  serviceCidr: string;
  /** Tenth address of the service network. */
  clusterDns: string;
  /** Decimal port of the hybrid overlay, or empty for the default. */
  vxlanPort: string;
}

/** Options of the Linux workers' kubelet that Windows nodes must share. A key with an empty value is not an absent key. */
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

/** How logs of the managed services are rotated; an empty text means: not set. */
export interface LogRotation {
  fileSize: string;
  fileAge: string;
  flushInterval: string;
}

/** What the operator is told by its own flags and environment. */
export interface OperatorSettings {
  namespace: string;
  version: string;
  debug: boolean;
  logRotation: LogRotation;
  /** Proxy variables present in the environment, by name. Values may hold a password. */
  proxy: Record<string, string>;
}

/** Everything about the cluster that decides what a Windows node looks like, as one plain value. */
export interface ClusterFacts {
  platform: string;
  apiServerUrl: string;
  network: Network;
  reserved: Reserved;
  kubeletArguments: KubeletArguments;
  /** Files of the Linux workers that Windows nodes get too, decoded, by their path on Linux. */
  workerFiles: Record<string, string>;
  kubeletCa: string;
  /** Users' bundles first, then the cluster's. */
  registryBundles: RegistryBundle[];
  /** Merged bundle of the ConfigMap trusted-ca; undefined without a cluster proxy. */
  trustedCa: string | undefined;
}

/** What reading a cluster gave. */
export interface FactsReading {
  /** Only when nothing was found wrong. */
  facts: ClusterFacts | undefined;
  /** Everything that is wrong, each problem once. */
  findings: AppError[];
}
