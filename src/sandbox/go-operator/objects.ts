import { toBase64 } from '#base/bytes.ts';
import {
  agentName,
  configMapName,
  identity,
  managedByLabel,
  namespaceName,
  operatorName,
  secretKey,
  secretName,
} from '#contract/names.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import * as kinds from '#kube/resources.ts';
import { type GoServiceFacts, goServicesData } from './services.ts';

/** Version of the Go operator whose state is left; it differs from that of any operator here. */
export const goVersion = '10.20.0-0123abc';

/** Pod of the Go operator; it leads as long as it exists. */
export const goPodName = `${operatorName}-5f7d8c9b64-q8x2v`;

export interface GoClusterFacts extends GoServiceFacts {
  /** Of the operator. */
  namespace: string;
  /** Host keys by address, as `windows-ssh-host-keys` has them; no ConfigMap when empty. */
  hostKeys?: Readonly<Record<string, string>>;
  /** Authorized_keys line of the private key, for Machines; no user data without it. */
  authorizedKey?: string;
}

export interface GoObject {
  resource: Resource;
  object: KubeResource;
}

const apiGroup = 'rbac.authorization.k8s.io';
const labels = { 'app.kubernetes.io/name': operatorName, 'app.kubernetes.io/part-of': 'wicd' };
const groupRole = 'system-wicd-nodes';
const reading = ['get', 'list'];
const requests = rule('certificates.k8s.io', ['certificatesigningrequests'], ['create', 'get', 'list', 'watch']);

function rule(group: string, resources: readonly string[], verbs: readonly string[]): object {
  return { apiGroups: [group], resources, verbs };
}

/** Every object that the Go operator, its bundle or its boot has made in the cluster, but for pod and lock. */
export function goClusterObjects(facts: GoClusterFacts): GoObject[] {
  const { namespace, hostKeys = {}, authorizedKey } = facts;
  const inNamespace = (resource: Resource, name: string, rest: object): GoObject => ({
    resource,
    object: { metadata: { name, namespace }, ...rest },
  });
  return [
    ...agentAccess(namespace),
    {
      resource: kinds.secrets,
      object: {
        metadata: { name: secretName.agentToken, namespace, annotations: { [accountAnnotation]: agentName } },
        type: tokenType,
      } as KubeResource,
    },
    inNamespace(kinds.configMaps, `${configMapName.servicesPrefix}${goVersion}`, {
      immutable: true,
      data: goServicesData(facts),
    }),
    ...(Object.keys(hostKeys).length === 0 ? [] : [hostKeyMap(namespace, hostKeys)]),
    ...(authorizedKey === undefined ? [] : [userData(authorizedKey)]),
  ];
}

const accountAnnotation = 'kubernetes.io/service-account.name';
const tokenType = 'kubernetes.io/service-account-token';

/** Wide: any agent may write any Node. The bindings of the account have no labels, because the Go operator makes them itself. */
function agentAccess(namespace: string): GoObject[] {
  const account = { kind: 'ServiceAccount', name: agentName, namespace };
  const group = { kind: 'Group', name: identity.agentsGroup, apiGroup };
  const clusterRole = (name: string, rules: readonly object[]): GoObject => ({
    resource: kinds.clusterRoles,
    object: { metadata: { name, labels }, rules } as KubeResource,
  });
  const binding = (
    resource: Resource,
    metadata: KubeResource['metadata'],
    kind: string,
    subject: object,
  ): GoObject => ({
    resource,
    object: { metadata, roleRef: { apiGroup, kind, name: metadata.name }, subjects: [subject] } as KubeResource,
  });
  return [
    { resource: kinds.serviceAccounts, object: { metadata: { name: agentName, namespace } } },
    {
      resource: kinds.roles,
      object: {
        metadata: { name: agentName, namespace },
        rules: [rule('', ['configmaps'], ['list', 'watch', 'get'])],
      } as KubeResource,
    },
    clusterRole(agentName, [
      rule('', ['configmaps'], reading),
      rule('', ['nodes'], [...reading, 'patch', 'update']),
      requests,
    ]),
    clusterRole(groupRole, [
      rule('', ['configmaps'], reading),
      rule('', ['nodes'], ['list']),
      rule('', ['nodes', 'nodes/status'], ['get', 'patch', 'update', 'watch']),
      requests,
    ]),
    binding(kinds.clusterRoleBindings, { name: groupRole, labels }, 'ClusterRole', group),
    binding(kinds.roleBindings, { name: agentName, namespace }, 'Role', account),
    binding(kinds.clusterRoleBindings, { name: agentName }, 'ClusterRole', account),
  ];
}

function hostKeyMap(namespace: string, data: Readonly<Record<string, string>>): GoObject {
  const name = configMapName.hostKeys;
  const object = { metadata: { name, namespace, labels: { [managedByLabel.key]: managedByLabel.value } }, data };
  return { resource: kinds.configMaps, object };
}

/** The text of another operator for the same key. */
function userData(authorizedKey: string): GoObject {
  const script = `# prepares sshd\n$key = @'\n${authorizedKey}'@\nSet-Content C:\\ProgramData\\ssh\\administrators_authorized_keys $key\n`;
  const text = `<powershell>${script}</powershell>\n<persist>true</persist>\n`;
  return {
    resource: kinds.secrets,
    object: {
      metadata: { name: secretName.userData, namespace: namespaceName.machineApi },
      data: { [secretKey.userData]: toBase64(text) },
    } as KubeResource,
  };
}

/** The pod that leads, and, by its UID, the lock. */
export function goPod(namespace: string): kinds.Pod {
  const container = { name: 'manager', image: 'go-operator', command: [operatorName] };
  const metadata = { name: goPodName, namespace, labels: { name: operatorName } };
  return { metadata, spec: { containers: [container], terminationGracePeriodSeconds: 0 } };
}

export function goLock(namespace: string, podUid: string): kinds.ConfigMap {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: goPodName, uid: podUid };
  return { metadata: { name: configMapName.leaderLock, namespace, ownerReferences: [owner] } };
}
