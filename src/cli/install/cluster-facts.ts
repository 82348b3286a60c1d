import { operatorName, prefix } from '#contract/names.ts';
import type { PlatformKind } from '#install/namespace.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { apiVersionOf, type KubeResource, type Resource } from '#kube/resource.ts';
import * as kinds from '#kube/resources.ts';
import { prometheusRules, serviceMonitors } from '#kube/resources-openshift.ts';
import { admissionBindings, admissionPolicies } from './kinds.ts';

/** What decides about the objects of an installation in a cluster. */
export interface ClusterFacts {
  platform: PlatformKind;
  hasAdmissionPolicies: boolean;
  hasMonitoring: boolean;
  hasOlm: boolean;
  /** Such as v1.36.2. */
  serverVersion: string;
  /** All namespaces of the cluster. */
  namespaces: ReadonlySet<string>;
  /** That of the operator, if it exists. */
  namespace: kinds.Namespace | undefined;
  definition: kinds.CustomResourceDefinition | undefined;
  deployment: kinds.Deployment | undefined;
  binding: kinds.RoleBindingObject | undefined;
}

interface FactsDeps {
  client: Client;
  namespace: string;
  signal: AbortSignal;
}

export async function readFacts({ client, namespace, signal }: FactsDeps): Promise<ClusterFacts> {
  const { groups } = await client.raw<{ groups: { name: string }[] }>('GET', '/apis', { signal });
  const hasGroup = (name: string) => groups.some(group => group.name === name);
  const serves = async (...resources: readonly Resource[]) => {
    const served = await Promise.all(resources.map(each => isServed(client, each, signal)));
    return served.every(Boolean);
  };
  const isOpenshift = hasGroup('config.openshift.io');
  const all = await client.listAll(kinds.namespaces, { signal });
  return {
    platform: isOpenshift ? 'openshift' : 'kubernetes',
    hasAdmissionPolicies: await serves(admissionPolicies, admissionBindings),
    hasMonitoring: isOpenshift && (await serves(serviceMonitors, prometheusRules)),
    hasOlm: hasGroup('operators.coreos.com'),
    serverVersion: (await client.raw<{ gitVersion: string }>('GET', '/version', { signal })).gitVersion,
    namespaces: new Set(all.items.map(({ metadata }) => metadata.name ?? '')),
    namespace: all.items.find(({ metadata }) => metadata.name === namespace),
    definition: await client.find(kinds.customResourceDefinitions, crdName, { signal }),
    deployment: await client.find(kinds.deployments, operatorName, { namespace, signal }),
    binding: await client.find(kinds.clusterRoleBindings, operatorName, { signal }),
  };
}

export const crdName = `windowsinstances.${prefix}`;

/** Asked of the server's list, because a namespaced kind cannot be listed with few permissions. */
export async function isServed(client: Pick<Client, 'raw'>, resource: Resource, signal: AbortSignal): Promise<boolean> {
  const path = `/apis/${apiVersionOf(resource)}`;
  const list = await client.raw<{ resources?: { name: string }[] }>('GET', path, { signal }).catch(unless(isNotFound));
  return list?.resources?.some(({ name }) => name === resource.plural) ?? false;
}

/** Where the account of a binding is. */
export function namespaceOf(binding: KubeResource & { subjects?: readonly unknown[] | null }): string | undefined {
  const [first] = (binding.subjects ?? []) as readonly { namespace?: string }[];
  return first?.namespace;
}
