import { defaultNamespace, identity, operatorName } from '#contract/names.ts';

/**
 * Limits which fields agents may change, which RBAC cannot express, on API servers with ValidatingAdmissionPolicy (Kubernetes 1.30).
 * Without it the operator reverts such changes afterwards.
 */

export interface AdmissionManifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: Record<string, unknown>;
}

interface Policy {
  name: string;
  /** CEL expression that selects the requests. */
  requester: string;
  resources: readonly string[];
  namespace?: string;
  variables: Readonly<Record<string, string>>;
  rules: readonly (readonly [expression: string, message: string])[];
}

/** The metadata member, or an empty value of its type. */
const listOf = (object: string, member: string) =>
  `has(${object}.metadata.${member}) ? ${object}.metadata.${member} : []`;
const mapOf = (object: string, member: string) =>
  `has(${object}.metadata.${member}) ? ${object}.metadata.${member} : {}`;

const reportsIn = (namespace: string): Policy => ({
  name: `${operatorName}-agent-reports`,
  requester: `request.userInfo.groups.exists(group, group == '${identity.agentsGroup}')`,
  resources: ['configmaps'],
  namespace,
  variables: {
    finalizers: listOf('object', 'finalizers'),
    owners: listOf('object', 'ownerReferences'),
    labels: mapOf('object', 'labels'),
    oldLabels: mapOf('oldObject', 'labels'),
    annotations: mapOf('object', 'annotations'),
  },
  rules: [
    ['size(variables.finalizers) == 0', 'an agent must not set finalizers'],
    ['size(variables.owners) == 0', 'an agent must not set owner references'],
    ['variables.labels == variables.oldLabels', 'an agent must not change labels'],
    ['size(variables.annotations) == 0', 'an agent must not set annotations'],
    ['!has(object.binaryData) && !has(object.immutable)', 'an agent may write data only'],
  ],
});

const cloudTaint = 'node.cloudprovider.kubernetes.io/uninitialized';
const cloudLabels = [
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'beta.kubernetes.io/instance-type',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.azure.com/cluster',
];
const labelList = `[${cloudLabels.map(label => `'${label}'`).join(', ')}]`;
const unchanged = (member: string) =>
  `(has(object.${member}) ? object.${member} : null) == (has(oldObject.${member}) ? oldObject.${member} : null)`;

const cloudNodes: Policy = {
  name: `${operatorName}-cloud-nodes`,
  requester: `request.userInfo.username.startsWith('${identity.cloudNodeUserPrefix}')`,
  resources: ['nodes', 'nodes/status'],
  variables: {
    labels: mapOf('object', 'labels'),
    oldLabels: mapOf('oldObject', 'labels'),
    taints: 'has(object.spec.taints) ? object.spec.taints : []',
    oldTaints: 'has(oldObject.spec.taints) ? oldObject.spec.taints : []',
  },
  rules: [
    [
      `request.userInfo.username == '${identity.cloudNodeUserPrefix}' + object.metadata.name`,
      'it may write its own Node only',
    ],
    [
      `variables.labels.all(key, (key in variables.oldLabels && variables.oldLabels[key] == variables.labels[key]) || key in ${labelList})`,
      'it may set zone and instance labels only',
    ],
    [`variables.oldLabels.all(key, key in variables.labels || key in ${labelList})`, 'it must not remove labels'],
    ['variables.taints.all(taint, taint in variables.oldTaints)', 'it must not add taints'],
    [
      `variables.oldTaints.all(taint, taint in variables.taints || taint.key == '${cloudTaint}')`,
      'it may remove the cloud taint only',
    ],
    [unchanged('metadata.annotations'), 'it must not change annotations'],
    [unchanged('metadata.finalizers'), 'it must not change finalizers'],
    [unchanged('metadata.ownerReferences'), 'it must not change owner references'],
    [unchanged('spec.unschedulable'), 'it must not cordon or uncordon'],
    [unchanged('spec.podCIDRs'), 'it must not change pod networks'],
    [unchanged('spec.configSource'), 'it must not change the configuration'],
    [unchanged('status.conditions'), 'it must not change conditions'],
    [unchanged('status.capacity'), 'it must not change the capacity'],
    [unchanged('status.allocatable'), 'it must not change what is allocatable'],
    [unchanged('status.nodeInfo'), 'it must not change what the kubelet reports'],
  ],
};

/** Policies with their bindings; a request for which a policy fails to evaluate is denied. */
export function admissionManifests(namespace: string = defaultNamespace): AdmissionManifest[] {
  return [reportsIn(namespace), cloudNodes].flatMap(policy => [policyManifest(policy), bindingManifest(policy)]);
}

const apiVersion = 'admissionregistration.k8s.io/v1';
const labels = { 'app.kubernetes.io/name': operatorName };

function policyManifest({ name, requester, resources, variables, rules }: Policy): AdmissionManifest {
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name, labels },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: [...resources] }],
      },
      matchConditions: [{ name: 'requester', expression: requester }],
      variables: Object.entries(variables).map(([variable, expression]) => ({ name: variable, expression })),
      validations: rules.map(([expression, message]) => ({ expression, message })),
    },
  };
}

function bindingManifest({ name, namespace }: Policy): AdmissionManifest {
  const selector = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } };
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name, labels },
    spec: {
      policyName: name,
      validationActions: ['Deny'],
      ...(namespace !== undefined && { matchResources: selector }),
    },
  };
}
