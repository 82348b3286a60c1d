import type { Condition } from '#base/condition.ts';
import type { KubeResource } from './resource.ts';
import { type ObjectReference, ofCluster, ofNamespace } from './resources.ts';

/** The OpenShift kinds in use, with the members in use. */

export interface Infrastructure extends KubeResource {
  status?: { platformStatus?: { type?: string }; platform?: string; apiServerInternalURI?: string };
}

export interface NetworkConfig extends KubeResource {
  spec?: { networkType?: string; serviceNetwork?: string[]; clusterNetwork?: { cidr: string; hostPrefix?: number }[] };
}

export interface NetworkOperator extends KubeResource {
  spec?: {
    defaultNetwork?: {
      type?: string;
      ovnKubernetesConfig?: {
        hybridOverlayConfig?: {
          hybridClusterNetwork?: { cidr: string; hostPrefix?: number }[];
          hybridOverlayVXLANPort?: number;
        };
      };
    };
  };
}

export interface ApiServerConfig extends KubeResource {
  spec?: { tlsSecurityProfile?: Record<string, unknown>; tlsAdherence?: string };
}

export interface ProxyConfig extends KubeResource {
  spec?: { trustedCA?: { name?: string }; [member: string]: unknown };
  /** What is in force; addresses may hold a password. */
  status?: { httpProxy?: string; httpsProxy?: string; noProxy?: string };
}

export interface MirrorEntry {
  source: string;
  mirrors?: string[];
  mirrorSourcePolicy?: string;
}

export interface ImageDigestMirrorSet extends KubeResource {
  spec?: { imageDigestMirrors?: MirrorEntry[] };
}

export interface ImageTagMirrorSet extends KubeResource {
  spec?: { imageTagMirrors?: MirrorEntry[] };
}

export interface ImageConfig extends KubeResource {
  spec?: { registrySources?: Record<string, string[]>; [member: string]: unknown };
}

/** The former kind of mirror set, which Windows nodes do not use. */
export interface ImageContentSourcePolicy extends KubeResource {
  spec?: { repositoryDigestMirrors?: MirrorEntry[] };
}

export interface Machine extends KubeResource {
  spec?: { providerID?: string; [member: string]: unknown };
  status?: {
    phase?: string;
    addresses?: { type: string; address: string }[];
    nodeRef?: ObjectReference;
    [member: string]: unknown;
  };
}

export interface MachineSet extends KubeResource {
  spec?: { replicas?: number; [member: string]: unknown };
}

export interface MachineConfig extends KubeResource {
  spec?: { config?: Record<string, unknown>; [member: string]: unknown };
}

export interface ControllerConfig extends KubeResource {
  spec?: {
    kubeAPIServerServingCAData?: string;
    imageRegistryBundleUserData?: { file: string; data: string }[];
    imageRegistryBundleData?: { file: string; data: string }[];
    [member: string]: unknown;
  };
}

export interface OperatorCondition extends KubeResource {
  spec?: { conditions?: Condition[]; [member: string]: unknown };
  status?: { conditions?: Condition[] };
}

export interface ServiceMonitor extends KubeResource {
  spec: Record<string, unknown>;
}

const config = 'config.openshift.io/v1';
const machineApi = 'machine.openshift.io/v1beta1';
const machineConfiguration = 'machineconfiguration.openshift.io/v1';

export const infrastructures = ofCluster<Infrastructure>(config, 'Infrastructure', 'infrastructures');
export const networkConfigs = ofCluster<NetworkConfig>(config, 'Network', 'networks');
export const networkOperators = ofCluster<NetworkOperator>('operator.openshift.io/v1', 'Network', 'networks');
export const apiServerConfigs = ofCluster<ApiServerConfig>(config, 'APIServer', 'apiservers');
export const proxyConfigs = ofCluster<ProxyConfig>(config, 'Proxy', 'proxies');
export const imageDigestMirrorSets = ofCluster<ImageDigestMirrorSet>(
  config,
  'ImageDigestMirrorSet',
  'imagedigestmirrorsets',
);
export const imageTagMirrorSets = ofCluster<ImageTagMirrorSet>(config, 'ImageTagMirrorSet', 'imagetagmirrorsets');
export const imageConfigs = ofCluster<ImageConfig>(config, 'Image', 'images');
export const imageContentSourcePolicies = ofCluster<ImageContentSourcePolicy>(
  'operator.openshift.io/v1alpha1',
  'ImageContentSourcePolicy',
  'imagecontentsourcepolicies',
);
export const machines = ofNamespace<Machine>(machineApi, 'Machine', 'machines');
export const machineSets = ofNamespace<MachineSet>(machineApi, 'MachineSet', 'machinesets');
export const machineConfigs = ofCluster<MachineConfig>(machineConfiguration, 'MachineConfig', 'machineconfigs');
export const controllerConfigs = ofCluster<ControllerConfig>(
  machineConfiguration,
  'ControllerConfig',
  'controllerconfigs',
);
export const operatorConditions = ofNamespace<OperatorCondition>(
  'operators.coreos.com/v2',
  'OperatorCondition',
  'operatorconditions',
);
export const serviceMonitors = ofNamespace<ServiceMonitor>(
  'monitoring.coreos.com/v1',
  'ServiceMonitor',
  'servicemonitors',
);
export const prometheusRules = ofNamespace<KubeResource>(
  'monitoring.coreos.com/v1',
  'PrometheusRule',
  'prometheusrules',
);
