import { apiVersionOf, type KubeResource, type Resource } from '#kube/resource.ts';
import * as kinds from '#kube/resources.ts';
import { prometheusRules, serviceMonitors } from '#kube/resources-openshift.ts';

const admission = 'admissionregistration.k8s.io/v1';
export const admissionPolicies = kinds.ofCluster<KubeResource>(
  admission,
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
);
export const admissionBindings = kinds.ofCluster<KubeResource>(
  admission,
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
);

/** Every kind that an installation consists of. */
export const installedKinds: readonly Resource[] = [
  kinds.customResourceDefinitions,
  kinds.namespaces,
  kinds.secrets,
  kinds.serviceAccounts,
  kinds.clusterRoles,
  kinds.clusterRoleBindings,
  kinds.roles,
  kinds.roleBindings,
  admissionPolicies,
  admissionBindings,
  serviceMonitors,
  prometheusRules,
  kinds.deployments,
];

export function resourceOf({ apiVersion, kind }: KubeResource): Resource {
  const found = installedKinds.find(each => each.kind === kind && apiVersionOf(each) === apiVersion);
  if (found === undefined) throw new Error(`no installation has a ${apiVersion} ${kind}`);
  return found;
}

/** `Role ns/name`, for messages. */
export function nameOf({ kind = '', metadata: { name = '', namespace } }: KubeResource): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
