import { type ListType, type MergeType, type ObjectType, plain } from './merge-type.ts';

/** Merge keys of built-in kinds, from the tags of their Go types. */
export function builtInType(group: string, kind: string): ObjectType {
  const name = group === '' ? kind : `${kind}.${group}`;
  return struct({ metadata: objectMetadata, ...(Object.hasOwn(kinds, name) ? kinds[name] : {}) });
}

function struct(fields: Readonly<Record<string, MergeType>>): ObjectType {
  return { is: 'object', fields };
}

function by(key: string, item: MergeType = struct({})): ListType {
  return { is: 'list', item, mergeBy: key };
}

const scalars: ListType = { is: 'list', item: plain, mergeBy: '' };
const conditions = by('type');
const statusConditions = struct({ conditions });

const objectMetadata = struct({ finalizers: scalars, ownerReferences: by('uid') });

const container = struct({
  env: by('name'),
  ports: by('containerPort'),
  volumeDevices: by('devicePath'),
  volumeMounts: by('mountPath'),
});

const podSpec = struct({
  containers: by('name', container),
  initContainers: by('name', container),
  ephemeralContainers: by('name', container),
  hostAliases: by('ip'),
  imagePullSecrets: by('name'),
  topologySpreadConstraints: by('topologyKey'),
  volumes: by('name'),
});

const podTemplate = struct({ metadata: objectMetadata, spec: podSpec });
const workload = { spec: struct({ template: podTemplate }), status: statusConditions };

const kinds: Readonly<Record<string, Readonly<Record<string, MergeType>>>> = {
  Namespace: { status: statusConditions },
  Node: { spec: struct({ podCIDRs: scalars }), status: struct({ conditions, addresses: by('type') }) },
  Pod: { spec: podSpec, status: struct({ conditions, podIPs: by('ip') }) },
  Service: { spec: struct({ ports: by('port') }), status: statusConditions },
  ServiceAccount: { secrets: by('name') },
  'DaemonSet.apps': workload,
  'Deployment.apps': workload,
  'PodDisruptionBudget.policy': {
    spec: struct({ selector: { is: 'replaced' } }),
    status: statusConditions,
  },
  'ReplicaSet.apps': workload,
};
