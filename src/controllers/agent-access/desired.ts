import { agentName, bootstrapperName, identity, managedByLabel, operatorName } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import {
  clusterRoleBindings,
  clusterRoles,
  type PolicyRule,
  type RoleBindingObject,
  roleBindings,
  roles,
  type RoleObject,
  serviceAccounts,
} from '#kube/resources.ts';
import {
  accountClusterRules,
  accountRules,
  cloudNodeRules,
  formerAccountClusterRules,
  formerNamespaceRules,
  formerNodeRules,
  groupClusterRules,
  groupRules,
  nodeRules,
  reportRules,
} from './rules.ts';

/** A ServiceAccount, a role or a binding of either scope. */
export interface AccessObject extends KubeResource {
  rules?: RoleObject['rules'];
  roleRef?: RoleBindingObject['roleRef'];
  subjects?: RoleBindingObject['subjects'];
}

export interface Wanted {
  resource: Resource<AccessObject>;
  object: AccessObject;
}

/** Role and binding for the group of agents. */
export const groupRoleName = 'system-wicd-nodes';
export const accessLabels: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': operatorName,
  'app.kubernetes.io/part-of': 'wicd',
  [managedByLabel.key]: managedByLabel.value,
};

const apiGroup = 'rbac.authorization.k8s.io';

export interface AccessFacts {
  namespace: string;
  /** Names of the services ConfigMaps that agents read. */
  configMaps: readonly string[];
  /** Agents of the Go operator run on some Nodes, by the records. */
  formerAgents: boolean;
  /** Not OpenShift, which has an account for the first certificate request of kubelets and permissions for kube-proxy. */
  isPlainKubernetes: boolean;
}

/** Objects that all agents share. */
export function sharedAccess({ namespace, configMaps, formerAgents, isPlainKubernetes }: AccessFacts): Wanted[] {
  const account = { kind: 'ServiceAccount', name: agentName, namespace };
  const group = { kind: 'Group', name: identity.agentsGroup, apiGroup };
  return [
    wantedAccount(agentName, namespace),
    ...grant(agentName, account, formerAgents ? formerNamespaceRules : accountRules(configMaps), namespace),
    ...grant(agentName, account, formerAgents ? formerAccountClusterRules : accountClusterRules),
    ...grant(groupRoleName, group, groupRules(configMaps), namespace),
    ...grant(groupRoleName, group, groupClusterRules),
    ...(isPlainKubernetes ? [...bootstrapperAccess(namespace), kubeProxyAccess()] : []),
  ];
}

export interface NodeAccessFacts {
  namespace: string;
  /** An agent of the Go operator runs there. */
  isFormer: boolean;
  hasCloudNodeManager: boolean;
}

/** Objects for the agent of one Node, owned by the Node. */
export function nodeAccess(node: Pick<NodeView, 'name' | 'uid'>, facts: NodeAccessFacts): Wanted[] {
  const { namespace, isFormer, hasCloudNodeManager } = facts;
  const { name } = node;
  const user = { kind: 'User', name: `${identity.agentUserPrefix}${name}`, apiGroup };
  const cloudUser = { kind: 'User', name: `${identity.cloudNodeUserPrefix}${name}`, apiGroup };
  const wanted = [
    ...grant(nodeRoleName(name), user, isFormer ? formerNodeRules(name) : nodeRules(name)),
    ...grant(nodeRoleName(name), user, isFormer ? formerNamespaceRules : reportRules(name), namespace),
    ...(hasCloudNodeManager ? grant(cloudRoleName(name), cloudUser, cloudNodeRules(name)) : []),
  ];
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: node.uid }];
  return wanted.map(({ resource, object }) => ({
    resource,
    object: { ...object, metadata: { ...object.metadata, ownerReferences } },
  }));
}

/** Unique, because names of Nodes have no colon. */
export function nodeRoleName(node: string): string {
  return `${agentName}:${node}`;
}

function cloudRoleName(node: string): string {
  return `${cloudRole}:${node}`;
}

const cloudRole = `${agentName}-cloud`;

/** The Node of a role or binding; undefined for other names. */
export function nodeOfRole(name: string): string | undefined {
  const [head = '', node] = name.split(':', 2);
  return [agentName, cloudRole].includes(head) && node !== '' ? node : undefined;
}

function bootstrapperAccess(namespace: string): Wanted[] {
  const subject = { kind: 'ServiceAccount', name: bootstrapperName, namespace };
  const name = `${agentName}-${bootstrapperName}`;
  // Every cluster has this role; it only allows to request a certificate.
  return [
    wantedAccount(bootstrapperName, namespace),
    binding(
      clusterRoleBindings,
      metadataOf(name),
      { apiGroup, kind: 'ClusterRole', name: 'system:node-bootstrapper' },
      subject,
    ),
  ];
}

/** Role of every cluster with which kube-proxy reads Services and EndpointSlices. */
export const kubeProxyRole = 'system:node-proxier';
export const kubeProxyBinding = 'windows-kube-proxy';

/** kube-proxy on Windows uses the kubelet's kubeconfig. */
function kubeProxyAccess(): Wanted {
  return binding(
    clusterRoleBindings,
    metadataOf(kubeProxyBinding),
    { apiGroup, kind: 'ClusterRole', name: kubeProxyRole },
    { kind: 'Group', name: identity.nodesGroup, apiGroup },
  );
}

type Subject = NonNullable<RoleBindingObject['subjects']>[number];

/** A role and its binding of this name; for the whole cluster without a namespace. */
function grant(name: string, subject: Subject, rules: readonly PolicyRule[], namespace?: string): Wanted[] {
  const metadata = metadataOf(name, namespace);
  const roleRef = { apiGroup, kind: namespace === undefined ? 'ClusterRole' : 'Role', name };
  return [
    { resource: namespace === undefined ? clusterRoles : roles, object: { metadata, rules: [...rules] } },
    binding(namespace === undefined ? clusterRoleBindings : roleBindings, metadata, roleRef, subject),
  ];
}

function binding(
  resource: Resource<RoleBindingObject>,
  metadata: AccessObject['metadata'],
  roleRef: RoleBindingObject['roleRef'],
  subject: Subject,
): Wanted {
  const object: RoleBindingObject = { metadata, roleRef, subjects: [subject] };
  return { resource, object };
}

function wantedAccount(name: string, namespace: string): Wanted {
  return { resource: serviceAccounts, object: { metadata: metadataOf(name, namespace) } };
}

function metadataOf(name: string, namespace?: string): AccessObject['metadata'] {
  return { name, ...(namespace !== undefined && { namespace }), labels: { ...accessLabels } };
}
