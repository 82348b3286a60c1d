import { AppError, attempt } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { trustedCaKey } from '#contract/names.ts';
import { type KubeObject, objectLabel } from '#contract/object.ts';
import {
  apiServerAddresses,
  apiServerUrlSources,
  clusterDnsSources,
  type Discovered,
  serviceCidrSources,
  type ValueSource,
} from './discovery.ts';
import type { FactsReading } from './facts.ts';
import { readAddress, readCertificates, readCidr, readPort, readUrl } from './kubernetes-values.ts';
import { clusterDns } from './network.ts';
import { kubernetesReserved } from './reserved.ts';

/** ConfigMap in the operator's namespace in which an administrator sets what the operator cannot discover. */
export const clusterDescription = 'windows-cluster';

/** Keys of its data. */
export const descriptionKey = {
  /** The API server as hosts reach it. */
  apiServerUrl: 'apiServerURL',
  /** The service network, such as 10.96.0.0/12. */
  serviceCidr: 'serviceCIDR',
  /** Address of the cluster's DNS service. */
  clusterDns: 'clusterDNS',
  /** Of OVN's hybrid overlay; not set for its default. */
  vxlanPort: 'vxlanPort',
  /** Defaults to None. */
  platform: 'platform',
  /** Value of the kubelet's --cloud-provider flag. */
  cloudProvider: 'cloudProvider',
  /** CA of the client certificate that the API server shows to kubelets; defaults to the CA of the cluster. */
  kubeletClientCa: 'kubelet-client-ca.crt',
  /** CAs of image registries and proxies that hosts trust. */
  trustedCa: trustedCaKey,
} as const;

/** A value that is discovered unless an administrator sets it. */
interface DiscoverableValue {
  key: string;
  sources: readonly ValueSource[];
  /** Throws an AppError for an invalid value. */
  read: (text: string) => string;
  example: string;
}

const discoverable = {
  apiServerUrl: {
    key: descriptionKey.apiServerUrl,
    sources: apiServerUrlSources,
    read: readUrl,
    example: 'https://api.example.com:6443',
  },
  serviceCidr: {
    key: descriptionKey.serviceCidr,
    sources: serviceCidrSources,
    read: readCidr,
    example: '10.96.0.0/12',
  },
  clusterDns: {
    key: descriptionKey.clusterDns,
    sources: clusterDnsSources,
    read: readAddress,
    example: '10.96.0.10',
  },
} satisfies Record<string, DiscoverableValue>;

export interface KubernetesCluster {
  /** Of the operator. */
  namespace: string;
  /** Of windows-cluster; undefined when the ConfigMap does not exist. */
  data: Readonly<Record<string, string>> | undefined;
  /** From kube-root-ca.crt; empty while that is missing. */
  clusterCa: string;
  /** Objects of `discoveryObject` that exist. */
  objects: readonly KubeObject[];
  /** Labels of those that the operator is not allowed to read. */
  denied: readonly string[];
  /** Proxy variables of the operator's environment. */
  proxy?: Readonly<Record<string, string>>;
  /** Of the payload. */
  kubeletVersion?: string;
}

/** Reads all facts and continues after a problem, so that users can fix all of them at once. */
export function kubernetesFacts(cluster: KubernetesCluster): FactsReading {
  const { data = {}, clusterCa, proxy = {}, kubeletVersion } = cluster;
  const findings: AppError[] = [];
  const collect = <T>(run: () => T): T | undefined => {
    const result = attempt(run);
    if (result.ok) return result.value;
    findings.push(result.error);
    return undefined;
  };
  const read = (key: string, reader: (text: string) => string, fallback = ''): string =>
    collect(() => readKey(cluster, key, reader, fallback)) ?? '';
  const missing: DiscoverableValue[] = [];
  const resolve = (value: DiscoverableValue): Discovered | undefined => {
    const result = attempt(() => resolveValue(cluster, value));
    if (!result.ok) findings.push(result.error);
    else if (result.value === undefined) missing.push(value);
    return result.ok ? result.value : undefined;
  };
  const url = resolve(discoverable.apiServerUrl);
  const cidr = resolve(discoverable.serviceCidr);
  const dns = collect(() => resolveValue(cluster, discoverable.clusterDns) ?? tenthAddress(cidr));
  if (missing.length > 0) findings.push(missingValues(cluster, missing));
  const [apiServerUrl, serviceCidr] = [url?.value ?? '', cidr?.value ?? ''];
  const cloudProvider = ownMember(data, descriptionKey.cloudProvider)?.trim();
  const facts = {
    platform: read(descriptionKey.platform, text => text, 'None'),
    apiServerUrl,
    reserved: kubernetesReserved(apiServerUrl, serviceCidr, apiServerAddresses(cluster.objects)),
    network: {
      serviceCidr,
      clusterDns: dns?.value ?? '',
      vxlanPort: read(descriptionKey.vxlanPort, readPort),
    },
    kubeletArguments: cloudProvider === undefined ? {} : { 'cloud-provider': cloudProvider },
    workerFiles: {},
    kubeletCa: read(descriptionKey.kubeletClientCa, readCertificates, clusterCa),
    registryBundles: [],
    proxy,
    trustedCa: ownMember(data, descriptionKey.trustedCa),
    ...(kubeletVersion !== undefined && { kubeletVersion }),
  };
  if (findings.length > 0) return { facts: undefined, findings };
  return { facts, findings, origins: originsOf({ apiServerUrl: url, serviceCidr: cidr, clusterDns: dns }) };
}

function originsOf(values: Record<keyof typeof discoverable, Discovered | undefined>): Record<string, string> {
  const entries = Object.entries(values).flatMap(([name, found]) => (found === undefined ? [] : [[name, found.from]]));
  return Object.fromEntries(entries) as Record<string, string>;
}

function tenthAddress(serviceCidr: Discovered | undefined): Discovered | undefined {
  return serviceCidr && { value: clusterDns(serviceCidr.value), from: 'tenth address of the service network' };
}

/** A value that only an administrator sets. */
function readKey(
  { namespace, data = {} }: KubernetesCluster,
  key: string,
  reader: (text: string) => string,
  fallback: string,
): string {
  return withLabel(`${descriptionLabel(namespace)}: ${key}`, () => reader(ownMember(data, key)?.trim() || fallback));
}

/** The value of the administrator, or else that of the first object that has one. */
function resolveValue(cluster: KubernetesCluster, value: DiscoverableValue): Discovered | undefined {
  const { key, sources, read } = value;
  const label = descriptionLabel(cluster.namespace);
  const given = ownMember(cluster.data ?? {}, key)?.trim();
  if (given) return { value: withLabel(`${label}: ${key}`, () => read(given)), from: label };
  for (const source of sources) {
    const found = discover(cluster, value, source);
    if (found !== undefined) return found;
  }
  return undefined;
}

function discover(cluster: KubernetesCluster, value: DiscoverableValue, source: ValueSource): Discovered | undefined {
  const result = attempt(() => {
    const found = source.read(cluster.objects);
    return found && { ...found, value: withLabel(source.label, () => value.read(found.value)) };
  });
  if (result.ok) return result.value;
  const { code, message } = result.error;
  throw new AppError(code, message, { remedy: `Fix ${source.label}, or run ${setCommand(cluster, [value])}.` });
}

function missingValues(cluster: KubernetesCluster, missing: readonly DiscoverableValue[]): AppError {
  const labelsOf = ({ sources }: DiscoverableValue) => sources.map(({ label }) => label);
  const places = missing.map(value => `${value.key} (in ${labelsOf(value).join(' or ')})`);
  const message = `not found in this cluster: ${places.join(', ')}`;
  const denied = missing.flatMap(labelsOf).filter(label => cluster.denied.includes(label));
  return denied.length === 0
    ? new AppError('CLUSTER_UNDESCRIBED', message, { remedy: `Run ${setCommand(cluster, missing)}.` })
    : new AppError('CLUSTER_UNDESCRIBED', `${message}; permission denied for ${denied.join(', ')}`, {
        remedy: 'Run `kubectl apply -f deploy/rbac/kubernetes.yaml`, then restart the operator.',
      });
}

/** Creates or changes windows-cluster. */
function setCommand({ namespace, data }: KubernetesCluster, values: readonly DiscoverableValue[]): string {
  const object = `configmap ${clusterDescription} -n ${namespace}`;
  const literals = values.map(({ key, example }) => ` --from-literal=${key}=${example}`).join('');
  const patch = { data: Object.fromEntries(values.map(({ key, example }) => [key, example])) };
  const command =
    data === undefined
      ? `kubectl create ${object}${literals}`
      : `kubectl patch ${object} --type=merge -p '${JSON.stringify(patch)}'`;
  return `\`${command}\` with the ${values.length === 1 ? 'value' : 'values'} of your cluster`;
}

function descriptionLabel(namespace: string): string {
  return objectLabel('ConfigMap', { namespace, name: clusterDescription });
}

/** Puts the label in front of the message. */
function withLabel<T>(label: string, run: () => T): T {
  const result = attempt(run);
  if (result.ok) return result.value;
  const { code, message, remedy } = result.error;
  throw new AppError(code, `${label}: ${message}`, { remedy });
}
