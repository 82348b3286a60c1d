import type { Condition } from '#base/condition.ts';
import type { KubeResource, Resource } from './resource.ts';

/** The kinds in use, with the members in use. */

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export interface Node extends KubeResource {
  spec?: { unschedulable?: boolean; providerID?: string; podCIDR?: string; taints?: Taint[] };
  status?: {
    addresses?: { type: string; address: string }[];
    conditions?: Condition[];
    nodeInfo?: Record<string, string>;
    allocatable?: Record<string, string>;
    capacity?: Record<string, string>;
  };
}

export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
}

export interface Pod extends KubeResource {
  spec?: {
    nodeName?: string;
    serviceAccountName?: string;
    terminationGracePeriodSeconds?: number;
    containers?: Container[];
    volumes?: Record<string, unknown>[];
    tolerations?: Record<string, unknown>[];
  };
  status?: {
    phase?: string;
    reason?: string;
    conditions?: Condition[];
    podIP?: string;
    containerStatuses?: ContainerStatus[];
  };
}

export interface ContainerStatus {
  name?: string;
  ready?: boolean;
  restartCount?: number;
  state?: ContainerState;
  lastState?: ContainerState;
}

interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  /** The message is the end of the log, if the container asks for that. */
  terminated?: { reason?: string; exitCode?: number; message?: string };
}

export interface Deployment extends KubeResource {
  spec?: { replicas?: number; template?: { spec?: Pod['spec'] }; [member: string]: unknown };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    conditions?: Condition[];
  };
}

export interface ConfigMap extends KubeResource {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

/** The values of `data` are base64. */
export interface SecretObject extends KubeResource {
  type?: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  immutable?: boolean;
}

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  name?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

export interface KubeEvent extends KubeResource {
  involvedObject: ObjectReference;
  reason?: string;
  message?: string;
  type?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  source?: { component?: string; host?: string };
  action?: string;
  reportingComponent?: string;
  reportingInstance?: string;
  series?: { count?: number; lastObservedTime?: string };
}

export interface Namespace extends KubeResource {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

export interface ServicePort {
  name?: string;
  port: number;
  protocol?: string;
  targetPort?: number | string;
}

export interface Service extends KubeResource {
  spec?: {
    ports?: ServicePort[];
    selector?: Record<string, string> | null;
    clusterIP?: string;
    clusterIPs?: string[];
    type?: string;
  };
}

export interface EndpointSlice extends KubeResource {
  addressType?: string;
  endpoints?: { addresses?: string[]; conditions?: { ready?: boolean } }[];
  ports?: { name?: string; protocol?: string; port?: number }[];
}

/** A range of cluster IPs. */
export interface ServiceCidr extends KubeResource {
  spec?: { cidrs?: string[] };
}

export interface ServiceAccount extends KubeResource {
  secrets?: ObjectReference[];
  automountServiceAccountToken?: boolean;
}

export interface Lease extends KubeResource {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export interface CertificateSigningRequest extends KubeResource {
  spec: {
    /** The request in PEM form, base64. */
    request: string;
    signerName: string;
    usages?: string[];
    username?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
    expirationSeconds?: number;
  };
  status?: { conditions?: Condition[]; certificate?: string };
}

export interface PodDisruptionBudget extends KubeResource {
  spec?: { minAvailable?: number | string; maxUnavailable?: number | string; selector?: LabelSelector };
  status?: {
    disruptionsAllowed?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    expectedPods?: number;
    observedGeneration?: number;
    disruptedPods?: Record<string, string>;
  };
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface RoleObject extends KubeResource {
  rules?: PolicyRule[] | null;
}

export interface RoleBindingObject extends KubeResource {
  roleRef: { apiGroup: string; kind: string; name: string };
  subjects?: { kind: string; name: string; namespace?: string; apiGroup?: string }[];
}

export interface CustomResourceDefinition extends KubeResource {
  spec: {
    group: string;
    scope: 'Namespaced' | 'Cluster';
    names: Record<string, unknown>;
    versions: { name: string; served: boolean; storage: boolean; [member: string]: unknown }[];
  };
  status?: { conditions?: Condition[] };
}

export interface TokenReview extends KubeResource {
  spec: { token: string; audiences?: string[] };
  status?: { authenticated?: boolean; error?: string; user?: { username?: string; uid?: string; groups?: string[] } };
}

export interface ResourceAttributes {
  namespace?: string;
  verb?: string;
  group?: string;
  resource?: string;
  subresource?: string;
  name?: string;
}

export interface RuntimeClass extends KubeResource {
  handler: string;
  scheduling?: {
    nodeSelector?: Record<string, string>;
    tolerations?: { key?: string; operator?: 'Equal' | 'Exists'; value?: string; effect?: string }[];
  };
}

export interface SubjectAccessReview extends KubeResource {
  spec: {
    user?: string;
    groups?: string[];
    uid?: string;
    resourceAttributes?: ResourceAttributes;
    nonResourceAttributes?: { path?: string; verb?: string };
  };
  status?: { allowed?: boolean; denied?: boolean; reason?: string };
}

const rbac = 'rbac.authorization.k8s.io/v1';
const policy = ['PodDisruptionBudget', 'poddisruptionbudgets'] as const;
const slice = ['EndpointSlice', 'endpointslices'] as const;
const serviceCidr = ['ServiceCIDR', 'servicecidrs'] as const;

export const nodes = ofCluster<Node>('v1', 'Node', 'nodes');
export const namespaces = ofCluster<Namespace>('v1', 'Namespace', 'namespaces');
export const pods = ofNamespace<Pod>('v1', 'Pod', 'pods');
export const configMaps = ofNamespace<ConfigMap>('v1', 'ConfigMap', 'configmaps');
export const secrets = ofNamespace<SecretObject>('v1', 'Secret', 'secrets');
export const services = ofNamespace<Service>('v1', 'Service', 'services');
/** Since Kubernetes 1.21; older versions have only v1beta1, which 1.25 removed. */
export const endpointSlices = ofNamespace<EndpointSlice>('discovery.k8s.io/v1', ...slice);
export const endpointSlicesV1beta1 = ofNamespace<EndpointSlice>('discovery.k8s.io/v1beta1', ...slice);
/** Since Kubernetes 1.33; 1.31 and 1.32 have v1beta1, where it is enabled. */
export const serviceCidrs = ofCluster<ServiceCidr>('networking.k8s.io/v1', ...serviceCidr);
export const serviceCidrsV1beta1 = ofCluster<ServiceCidr>('networking.k8s.io/v1beta1', ...serviceCidr);
export const events = ofNamespace<KubeEvent>('v1', 'Event', 'events');
export const serviceAccounts = ofNamespace<ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts');
export const leases = ofNamespace<Lease>('coordination.k8s.io/v1', 'Lease', 'leases');
export const certificateSigningRequests = ofCluster<CertificateSigningRequest>(
  'certificates.k8s.io/v1',
  'CertificateSigningRequest',
  'certificatesigningrequests',
);
/** Since Kubernetes 1.21; older versions have only v1beta1, which 1.25 removed. */
export const podDisruptionBudgets = ofNamespace<PodDisruptionBudget>('policy/v1', ...policy);
export const podDisruptionBudgetsV1beta1 = ofNamespace<PodDisruptionBudget>('policy/v1beta1', ...policy);
export const deployments = ofNamespace<Deployment>('apps/v1', 'Deployment', 'deployments');
export const replicaSets = ofNamespace<KubeResource>('apps/v1', 'ReplicaSet', 'replicasets');
export const roles = ofNamespace<RoleObject>(rbac, 'Role', 'roles');
export const roleBindings = ofNamespace<RoleBindingObject>(rbac, 'RoleBinding', 'rolebindings');
export const clusterRoles = ofCluster<RoleObject>(rbac, 'ClusterRole', 'clusterroles');
export const clusterRoleBindings = ofCluster<RoleBindingObject>(rbac, 'ClusterRoleBinding', 'clusterrolebindings');
export const customResourceDefinitions = ofCluster<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);
export const runtimeClasses = ofCluster<RuntimeClass>('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses');
export const tokenReviews = ofCluster<TokenReview>('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews');
export const subjectAccessReviews = ofCluster<SubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
);

export function ofCluster<T extends KubeResource>(apiVersion: string, kind: string, plural: string): Resource<T> {
  return { ...groupVersion(apiVersion), kind, plural, namespaced: false };
}

export function ofNamespace<T extends KubeResource>(apiVersion: string, kind: string, plural: string): Resource<T> {
  return { ...groupVersion(apiVersion), kind, plural, namespaced: true };
}

function groupVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}
