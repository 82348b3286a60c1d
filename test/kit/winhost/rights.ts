import { agentName } from '../../../src/contract/names.ts';
import type { Client } from '../../../src/kube/client.ts';
import {
  clusterRoleBindings,
  clusterRoles,
  namespaces,
  type PolicyRule,
  type RoleBindingObject,
  serviceAccounts,
} from '../../../src/kube/resources.ts';

type Subject = RoleBindingObject['subjects'] extends (infer T)[] | undefined ? T : never;

/** Where the operator would be. */
export const namespace = 'windows-operator';
export const bootstrapperName = 'node-bootstrapper';

const apiGroup = 'rbac.authorization.k8s.io';
const rule = (group: string, resources: string[], verbs: string[]) => ({ apiGroups: [group], resources, verbs });

/** Namespace, accounts, and rights of kubelets that have no certificate yet; once per cluster. Those of agents are made per host. */
export async function installRights(client: Client): Promise<void> {
  await client.create(namespaces, { metadata: { name: namespace } });
  for (const name of [agentName, bootstrapperName]) {
    await client.create(serviceAccounts, { metadata: { name, namespace } });
  }
  const requests = rule('certificates.k8s.io', ['certificatesigningrequests'], ['create', 'get', 'list', 'watch']);
  await grant(client, bootstrapperName, [account(bootstrapperName)], [requests]);
}

async function grant(client: Client, name: string, subjects: Subject[], rules: PolicyRule[]): Promise<void> {
  await client.create(clusterRoles, { metadata: { name }, rules });
  const roleRef = { apiGroup, kind: 'ClusterRole', name };
  await client.create(clusterRoleBindings, { metadata: { name }, roleRef, subjects });
}

function account(name: string): Subject {
  return { kind: 'ServiceAccount', name, namespace };
}
