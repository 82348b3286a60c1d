import { type FreeType, type LeafType, type ListType, leaf, type MergeType, type ObjectType } from './merge-type.ts';

/** Members that no table mentions: lists are replaced, objects merged, and all names are those of fields. */
const field: FreeType = { is: 'free', named: true };

/** How a built-in kind is merged, as its Go types say in their tags. Kinds without an entry have only what all have. */
export function builtInType(group: string, kind: string): ObjectType {
  const name = group === '' ? kind : `${kind}.${group}`;
  return struct({ metadata: objectMetadata, ...(Object.hasOwn(kinds, name) ? kinds[name] : {}) });
}

/**
 * What a new object of a kind holds before anybody writes to it: members the server always sends. Nobody owns those as
 * such, only what is in them.
 */
export function emptyObject(group: string, kind: string): Record<string, unknown> {
  const name = group === '' ? kind : `${kind}.${group}`;
  const paths = Object.hasOwn(alwaysThere, name) ? (alwaysThere[name] ?? '') : '';
  const object: Record<string, unknown> = { metadata: {} };
  for (const path of paths.split(' ').filter(text => text !== '')) {
    let place = object;
    for (const member of path.split('.')) {
      if (member.endsWith('[]')) place[member.slice(0, -2)] = null;
      else place = (place[member] ??= {}) as Record<string, unknown>;
    }
  }
  return object;
}

function struct(fields: Readonly<Record<string, MergeType>>): ObjectType {
  return { is: 'object', fields, others: field };
}

function by(key: string, item: MergeType = struct({})): ListType {
  return { is: 'list', item, keys: [key], mergeBy: key };
}

/** Ports count as the same only when their protocols agree too; without one it is TCP. */
function portsBy(key: string): ListType {
  return { is: 'list', item: struct({}), keys: [key, 'protocol'], defaults: { protocol: 'TCP' }, mergeBy: key };
}

const scalars: ListType = { is: 'list', item: leaf, keys: [], mergeBy: '' };
const selector: LeafType = leaf;
const conditions = by('type');
const statusConditions = struct({ conditions });

export const objectMetadata = struct({ finalizers: scalars, ownerReferences: by('uid') });

const container = struct({
  env: by('name'),
  ports: portsBy('containerPort'),
  volumeDevices: by('devicePath'),
  volumeMounts: by('mountPath'),
});

const podSpec = struct({
  containers: by('name', container),
  initContainers: by('name', container),
  ephemeralContainers: by('name', container),
  hostAliases: by('ip'),
  imagePullSecrets: by('name'),
  topologySpreadConstraints: {
    is: 'list',
    item: struct({ labelSelector: selector }),
    keys: ['topologyKey', 'whenUnsatisfiable'],
    mergeBy: 'topologyKey',
  },
  volumes: by('name'),
});

const podTemplate = struct({ metadata: objectMetadata, spec: podSpec });
const workload = { spec: struct({ selector, template: podTemplate }), status: statusConditions };

const kinds: Readonly<Record<string, Readonly<Record<string, MergeType>>>> = {
  Namespace: { status: statusConditions },
  Node: { spec: struct({ podCIDRs: scalars }), status: struct({ conditions, addresses: by('type') }) },
  PersistentVolumeClaim: { spec: struct({ selector }), status: statusConditions },
  Pod: { spec: podSpec, status: struct({ conditions, podIPs: by('ip') }) },
  PodTemplate: { template: podTemplate },
  ReplicationController: { spec: struct({ template: podTemplate }), status: statusConditions },
  Service: { spec: struct({ ports: portsBy('port') }), status: statusConditions },
  ServiceAccount: { secrets: by('name') },
  'APIService.apiregistration.k8s.io': { status: statusConditions },
  // Strategic merge patch replaces these conditions, because their tags were forgotten.
  'CertificateSigningRequest.certificates.k8s.io': {
    status: struct({ conditions: { is: 'list', item: struct({}), keys: ['type'] } }),
  },
  'CronJob.batch': { spec: struct({ jobTemplate: struct({ metadata: objectMetadata, ...workload }) }) },
  'DaemonSet.apps': workload,
  'Deployment.apps': workload,
  'Job.batch': workload,
  'NetworkPolicy.networking.k8s.io': { spec: struct({ podSelector: selector }) },
  'PodDisruptionBudget.policy': {
    spec: struct({ selector: { is: 'leaf', replaced: true } }),
    status: statusConditions,
  },
  'ReplicaSet.apps': workload,
  'StatefulSet.apps': workload,
};

/** Paths of objects, or of lists where they end in brackets. */
const alwaysThere: Readonly<Record<string, string>> = {
  Event: 'involvedObject source',
  Namespace: 'spec status',
  Node: 'spec status.daemonEndpoints.kubeletEndpoint status.nodeInfo',
  PersistentVolume: 'spec status',
  PersistentVolumeClaim: 'spec.resources status',
  Pod: 'spec.containers[] status',
  PodTemplate: 'template.metadata template.spec.containers[]',
  ReplicationController: 'spec status',
  Service: 'spec status.loadBalancer',
  'CertificateSigningRequest.certificates.k8s.io': 'spec status',
  'ClusterRoleBinding.rbac.authorization.k8s.io': 'roleRef',
  'CronJob.batch':
    'spec.jobTemplate.metadata spec.jobTemplate.spec.template.metadata spec.jobTemplate.spec.template.spec.containers[] status',
  'CustomResourceDefinition.apiextensions.k8s.io': 'spec.names status.acceptedNames',
  'DaemonSet.apps': 'spec.template.metadata spec.template.spec.containers[] spec.updateStrategy status',
  'Deployment.apps': 'spec.strategy spec.template.metadata spec.template.spec.containers[] status',
  'Ingress.networking.k8s.io': 'spec status.loadBalancer',
  'Job.batch': 'spec.template.metadata spec.template.spec.containers[] status',
  'Lease.coordination.k8s.io': 'spec',
  'NetworkPolicy.networking.k8s.io': 'spec.podSelector',
  'PodDisruptionBudget.policy': 'spec status',
  'ReplicaSet.apps': 'spec.template.metadata spec.template.spec.containers[] status',
  'RoleBinding.rbac.authorization.k8s.io': 'roleRef',
  'StatefulSet.apps': 'spec.template.metadata spec.template.spec.containers[] spec.updateStrategy status',
};
