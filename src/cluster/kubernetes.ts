import { AppError, attempt, shown } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { scanPem } from '#base/pem.ts';
import { trustedCaKey } from '#contract/names.ts';
import type { FactsReading } from './facts.ts';
import { isPlainHttps } from './infrastructure.ts';
import { clusterDns } from './network.ts';
import { kubernetesReserved } from './reserved.ts';

/**
 * The ConfigMap in the operator's namespace in which the administrator of a cluster without OpenShift's own objects
 * describes it.
 */
export const clusterDescription = 'windows-cluster';

/** The keys of its data. */
export const descriptionKey = {
  /** Required: the API server as hosts reach it. */
  apiServerUrl: 'apiServerURL',
  /** Required: the service network, such as 10.96.0.0/12. */
  serviceCidr: 'serviceCIDR',
  /** Address of the cluster's DNS service; the tenth of the service network when absent. */
  clusterDns: 'clusterDNS',
  /** Of OVN's hybrid overlay; its usual one when absent. */
  vxlanPort: 'vxlanPort',
  /** None when absent. */
  platform: 'platform',
  /** Value of the kubelet's --cloud-provider; not given when absent. */
  cloudProvider: 'cloudProvider',
  /** Who signs the certificate with which the API server comes to kubelets; the CA of the cluster when absent. */
  kubeletClientCa: 'kubelet-client-ca.crt',
  /** CAs of image registries and proxies that hosts shall trust. */
  trustedCa: trustedCaKey,
} as const;

export interface DescribedCluster {
  /** Names the ConfigMap in messages. */
  label: string;
  /** Undefined when there is no such ConfigMap. */
  data: Readonly<Record<string, string>> | undefined;
  /** The CA of the cluster as every namespace has it; empty while it is not there. */
  clusterCa: string;
}

/** Reads all facts from the description and goes on after a problem, so that all can be fixed at once. */
export function kubernetesFacts({ label, data, clusterCa }: DescribedCluster): FactsReading {
  if (data === undefined) return { facts: undefined, findings: [missing(label)] };
  const findings: AppError[] = [];
  const read = (key: string, reader: (text: string) => string, otherwise = ''): string => {
    const result = attempt(() => reader(ownMember(data, key)?.trim() || otherwise));
    if (result.ok) return result.value;
    findings.push(
      new AppError(result.error.code, `${label}: ${key}: ${result.error.message}`, { remedy: result.error.remedy }),
    );
    return '';
  };
  const serviceCidr = read(descriptionKey.serviceCidr, readCidr);
  const cloudProvider = ownMember(data, descriptionKey.cloudProvider)?.trim();
  const apiServerUrl = read(descriptionKey.apiServerUrl, readUrl);
  const facts = {
    platform: read(descriptionKey.platform, text => text, 'None'),
    apiServerUrl,
    reserved: kubernetesReserved(apiServerUrl, serviceCidr),
    network: {
      serviceCidr,
      clusterDns: read(
        descriptionKey.clusterDns,
        readAddress,
        serviceCidr === '' ? '0.0.0.0' : clusterDns(serviceCidr),
      ),
      vxlanPort: read(descriptionKey.vxlanPort, readPort),
    },
    kubeletArguments: cloudProvider === undefined ? {} : { 'cloud-provider': cloudProvider },
    workerFiles: {},
    kubeletCa: read(descriptionKey.kubeletClientCa, readCertificates, clusterCa),
    registryBundles: [],
    trustedCa: ownMember(data, descriptionKey.trustedCa),
  };
  return { facts: findings.length === 0 ? facts : undefined, findings };
}

function missing(label: string): AppError {
  return new AppError('CLUSTER_UNDESCRIBED', `${label} is missing, and this cluster does not describe itself`, {
    remedy: `Create ${label} with the keys ${descriptionKey.apiServerUrl} and ${descriptionKey.serviceCidr}.`,
  });
}

function readUrl(text: string): string {
  if (isPlainHttps(text)) return text;
  throw new AppError('API_SERVER_URL_MISSING', `${shown(text)} is not an https address`, {
    remedy: 'Give the address at which hosts reach the API server, such as https://api.example.com:6443.',
  });
}

function readCidr(text: string): string {
  clusterDns(text);
  return text;
}

function readAddress(text: string): string {
  if (isIpv4(text)) return text;
  throw invalid(`${shown(text)} is not an IPv4 address`, 'Give the address of the DNS service, such as 10.96.0.10.');
}

function readPort(text: string): string {
  if (text === '' || (/^[1-9]\d{0,4}$/.test(text) && Number(text) < 65_536)) return text;
  throw invalid(`${shown(text)} is not a port`, 'Give the port of the hybrid overlay, or leave the key out.');
}

function readCertificates(text: string): string {
  const { blocks, broken } = scanPem(text);
  if (blocks.length > 0 && broken.length === 0) return text;
  throw new AppError('KUBELET_CA_MISSING', blocks.length === 0 ? 'holds no certificate' : 'holds a damaged one', {
    remedy: 'Give the CA certificates in PEM form, or leave the key out for the CA of the cluster.',
  });
}

function invalid(message: string, remedy: string): AppError {
  return new AppError('FIELD_INVALID', message, { remedy });
}
