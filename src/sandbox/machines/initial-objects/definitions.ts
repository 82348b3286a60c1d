import { windowsInstanceCrd } from '#contract/windows-instance/crd.ts';
import type { Resource } from '#kube/resource.ts';
import {
  type CustomResourceDefinition,
  endpointSlices,
  ofCluster,
  ofNamespace,
  serviceCidrs,
} from '#kube/resources.ts';
import {
  apiServerConfigs,
  controllerConfigs,
  imageConfigs,
  imageContentSourcePolicies,
  imageDigestMirrorSets,
  imageTagMirrorSets,
  infrastructures,
  machineConfigs,
  machineSets,
  machines,
  networkConfigs,
  networkOperators,
  operatorConditions,
  proxyConfigs,
  serviceMonitors,
} from '#kube/resources-openshift.ts';

export const clusterVersions = ofCluster('config.openshift.io/v1', 'ClusterVersion', 'clusterversions');
const clusterOperators = ofCluster('config.openshift.io/v1', 'ClusterOperator', 'clusteroperators');
const prometheusRules = ofNamespace('monitoring.coreos.com/v1', 'PrometheusRule', 'prometheusrules');

/** OpenShift kinds that the operator uses. */
const openshiftKinds: readonly Resource[] = [
  infrastructures,
  networkConfigs,
  networkOperators,
  apiServerConfigs,
  clusterVersions,
  clusterOperators,
  proxyConfigs,
  imageConfigs,
  imageContentSourcePolicies,
  imageDigestMirrorSets,
  imageTagMirrorSets,
  machines,
  machineSets,
  machineConfigs,
  controllerConfigs,
  operatorConditions,
  serviceMonitors,
  prometheusRules,
];

/** Built-in kinds that the embedded API server does not have. */
const kubernetesKinds: readonly Resource[] = [endpointSlices, serviceCidrs];

type Column = [name: string, jsonPath: string];

const columns: Readonly<Record<string, readonly Column[]>> = {
  Machine: [
    ['Phase', '.status.phase'],
    ['Address', '.status.addresses[0].address'],
    ['Node', '.status.nodeRef.name'],
  ],
  MachineSet: [
    ['Desired', '.spec.replicas'],
    ['Current', '.status.replicas'],
    ['Ready', '.status.readyReplicas'],
  ],
};

export function definitions(cluster: 'openshift' | 'kubernetes' = 'openshift'): CustomResourceDefinition[] {
  const others = cluster === 'openshift' ? openshiftKinds : kubernetesKinds;
  return [...others.map(definitionOf), windowsInstanceCrd() as CustomResourceDefinition];
}

const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

/** Has no schema. */
function definitionOf({ group, version, kind, plural, namespaced }: Resource): CustomResourceDefinition {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const additionalPrinterColumns = (columns[kind] ?? []).map(([name, jsonPath]) => ({
    name,
    type: 'string',
    jsonPath,
  }));
  // Other kinds have no status subresource, so that they can be written at once.
  const hasOwnStatus = ['Machine', 'MachineSet', 'OperatorCondition'].includes(kind);
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema,
          ...(hasOwnStatus && { subresources: { status: {}, ...(kind === 'MachineSet' && { scale }) } }),
          ...(additionalPrinterColumns.length > 0 ? { additionalPrinterColumns } : {}),
        },
      ],
    },
  };
}
