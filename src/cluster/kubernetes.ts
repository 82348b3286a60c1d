import { AppError, attempt, shown } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { scanPem } from '#base/pem.ts';
import { trustedCaKey } from '#contract/names.ts';
import type { FactsReading } from './facts.ts';
import { isPlainHttps } from './infrastructure.ts';
import { clusterDns } from './network.ts';
import { kubernetesReserved } from './reserved.ts';

/** ConfigMap in the operator's namespace in which an administrator describes a cluster that is not OpenShift. */
export const clusterDescription = 'windows-cluster';

/** Keys of its data. */
export const descriptionKey = {
  /** Required: the API server as hosts reach it. */
  apiServerUrl: 'apiServerURL',
  /** Required: the service network, such as 10.96.0.0/12. */
  serviceCidr: 'serviceCIDR',
  /** Address of the cluster's DNS service; defaults to the tenth of the service network. */
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

export interface DescribedCluster {
  /** Names the ConfigMap in messages. */
  label: string;
  /** Undefined when the ConfigMap does not exist. */
  data: Readonly<Record<string, string>> | undefined;
  /** From kube-root-ca.crt; empty while that is missing. */
  clusterCa: string;
  /** Of the payload. */
  kubeletVersion?: string;
}

/** Reads all facts and continues after a problem, so that users can fix all of them at once. */
export function kubernetesFacts({ label, data, clusterCa, kubeletVersion }: DescribedCluster): FactsReading {
  if (data === undefined) return { facts: undefined, findings: [missingDescription(label)] };
  const findings: AppError[] = [];
  const read = (key: string, reader: (text: string) => string, fallback = ''): string => {
    const result = attempt(() => reader(ownMember(data, key)?.trim() || fallback));
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
    ...(kubeletVersion !== undefined && { kubeletVersion }),
  };
  return { facts: findings.length === 0 ? facts : undefined, findings };
}

function missingDescription(label: string): AppError {
  return new AppError('CLUSTER_UNDESCRIBED', `${label} is missing, and this cluster is not OpenShift`, {
    remedy: `Create ${label} with the keys ${descriptionKey.apiServerUrl} and ${descriptionKey.serviceCidr}.`,
  });
}

function readUrl(text: string): string {
  if (isPlainHttps(text)) return text;
  throw new AppError('API_SERVER_URL_MISSING', `${shown(text)} is not an https URL`, {
    remedy: 'Set it to the URL at which hosts reach the API server, such as https://api.example.com:6443.',
  });
}

function readCidr(text: string): string {
  clusterDns(text);
  return text;
}

function readAddress(text: string): string {
  if (isIpv4(text)) return text;
  throw invalid(
    `${shown(text)} is not an IPv4 address`,
    'Set it to the address of the DNS service, such as 10.96.0.10.',
  );
}

function readPort(text: string): string {
  if (text === '' || (/^[1-9]\d{0,4}$/.test(text) && Number(text) < 65_536)) return text;
  throw invalid(`${shown(text)} is not a port`, 'Set it to the VXLAN port of the hybrid overlay, or remove the key.');
}

function readCertificates(text: string): string {
  const { blocks, broken } = scanPem(text);
  if (blocks.length > 0 && broken.length === 0) return text;
  throw new AppError(
    'KUBELET_CA_MISSING',
    blocks.length === 0 ? 'no certificate found' : 'a certificate is malformed',
    {
      remedy: 'Set it to CA certificates in PEM format, or remove the key to use the CA of the cluster.',
    },
  );
}

function invalid(message: string, remedy: string): AppError {
  return new AppError('FIELD_INVALID', message, { remedy });
}
