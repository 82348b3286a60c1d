import { isReportName } from '#contract/agent-report.ts';
import {
  agentName,
  bootstrapperName,
  configMapName,
  exporterService,
  managedByLabel,
  namespaceName,
  operatorName,
  secretName,
} from '#contract/names.ts';
import { payloadKeySecret } from '#install/deployment.ts';
import { rulesName } from '#install/monitoring.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import * as kinds from '#kube/resources.ts';
import { prometheusRules, serviceMonitors } from '#kube/resources-openshift.ts';
import { admissionBindings, admissionPolicies } from '../install/kinds.ts';
import { listLabelled } from '../install/labelled-objects.ts';

export interface OwnObject {
  resource: Resource;
  object: KubeResource;
}

interface ListDeps {
  client: Client;
  namespace: string;
  signal: AbortSignal;
}

const accountsAndRoles: readonly Resource[] = [
  kinds.clusterRoleBindings,
  kinds.roleBindings,
  kinds.clusterRoles,
  kinds.roles,
  kinds.serviceAccounts,
];
/** Limits of agents, and metrics of nodes: both of use without the operator. */
const ofNodes: readonly Resource[] = [serviceMonitors, prometheusRules, admissionBindings, admissionPolicies];
const monitoringAccount = 'prometheus-k8s';

/** What the operator is and may do, in the order of deletion, without what nodes use. Its Deployment comes first. */
export async function operatorObjects({ client, namespace, signal }: ListDeps): Promise<OwnObject[]> {
  const place = { namespace, signal };
  const [deployment, lease, lock] = await Promise.all([
    client.find(kinds.deployments, operatorName, place),
    client.find(kinds.leases, operatorName, place),
    client.find(kinds.configMaps, configMapName.leaderLock, place),
  ]);
  const granted = await labelled(accountsAndRoles, { client, namespace, signal });
  return [
    ...one(kinds.deployments, deployment),
    ...granted.filter(({ object }) => !isOfAgents(object) && !isOfMonitoring(object)),
    ...one(kinds.leases, lease),
    ...one(kinds.configMaps, lock),
  ];
}

/** Everything else that an installation has made, or that only the operator reads; without CRD and namespace. */
export async function nodeObjects({ client, namespace, signal }: ListDeps): Promise<OwnObject[]> {
  const all = await labelled([...ofNodes, ...accountsAndRoles], { client, namespace, signal });
  const granted = all.filter(
    ({ resource, object }) => ofNodes.includes(resource) || isOfAgents(object) || isOfMonitoring(object),
  );
  const copies = await Promise.all(
    [namespaceName.machineApi, namespaceName.clusterApi].map(place =>
      client.find(kinds.secrets, secretName.userData, { namespace: place, signal }),
    ),
  );
  const inNamespace = await Promise.all(
    [kinds.services, kinds.configMaps, kinds.secrets].map(resource => namedIn(client, resource, { namespace, signal })),
  );
  return [...granted, ...copies.flatMap(copy => one(kinds.secrets, copy)), ...inNamespace.flat()];
}

function one(resource: Resource, object: KubeResource | undefined): OwnObject[] {
  return object === undefined ? [] : [{ resource, object: { ...object, kind: resource.kind } }];
}

async function labelled(resources: readonly Resource[], { client, namespace, signal }: ListDeps): Promise<OwnObject[]> {
  const lists = await Promise.all(resources.map(resource => listLabelled(client, resource, signal)));
  return lists
    .flatMap((objects, index) => objects.flatMap(object => one(resources[index] as Resource, object)))
    .filter(({ object }) => isInstalled(object, namespace));
}

const monitoringNames: readonly string[] = [monitoringAccount, exporterService.name, rulesName];

/** Users may have the label on objects of their own, in any namespace; the names are those of installations. */
export function isInstalled(object: KubeResource, namespace: string): boolean {
  const { kind, metadata } = object;
  const { name = '', labels = {} } = metadata;
  if (kind === 'ServiceAccount' && metadata.namespace !== namespace) return false;
  if (isOfAgents(object)) return labels[managedByLabel.key] === managedByLabel.value;
  if (name === operatorName || name.startsWith(`${operatorName}-`)) return true;
  return metadata.namespace === namespace && monitoringNames.includes(name);
}

function isOfAgents({ metadata }: KubeResource): boolean {
  return metadata.labels?.['app.kubernetes.io/part-of'] === 'wicd';
}

function isOfMonitoring({ metadata }: KubeResource): boolean {
  return metadata.name === monitoringAccount;
}

async function namedIn(
  client: Client,
  resource: Resource,
  place: { namespace: string; signal: AbortSignal },
): Promise<OwnObject[]> {
  const items = await client.listAll(resource, place).catch(noneWithoutNamespace);
  return items.items.filter(object => isOwn(resource, object)).flatMap(object => one(resource, object));
}

function noneWithoutNamespace(error: unknown): { items: KubeResource[] } {
  if (error instanceof ApiError && error.code === 404) return { items: [] };
  throw error;
}

const ownSecrets: readonly string[] = [
  secretName.privateKey,
  secretName.privateKeys,
  secretName.tls,
  secretName.agentToken,
  secretName.bootstrapToken,
  payloadKeySecret.name,
];
const ownMaps: readonly string[] = Object.values(configMapName).filter(name => name !== configMapName.servicesPrefix);
const ownAccounts: readonly string[] = [operatorName, agentName, bootstrapperName];
/** OpenShift before and since 4.16, for the pull secrets that it makes for each account. */
const accountAnnotations = [
  'kubernetes.io/service-account.name',
  'openshift.io/internal-registry-auth-token.service-account',
] as const;

/** Of a Secret that the cluster has made for an account. */
export function accountOf({ metadata: { annotations = {} } }: KubeResource): string {
  return accountAnnotations.map(name => annotations[name] ?? '').find(account => account !== '') ?? '';
}

/** Objects in the namespace of the operator that have no other use: what it writes, and what users write for it. */
export function isOwn({ kind }: Pick<Resource, 'kind'>, object: KubeResource): boolean {
  const { name = '' } = object.metadata;
  if (kind === 'Service') return name === exporterService.name;
  if (kind === 'ConfigMap')
    return ownMaps.includes(name) || name.startsWith(configMapName.servicesPrefix) || isReportName(name);
  if (kind !== 'Secret') return false;
  return ownSecrets.includes(name) || ownAccounts.includes(accountOf(object));
}
