import { stringify } from 'yaml';
import { toBase64 } from '#base/bytes.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import type { Resource } from '#kube/resource.ts';
import { configMaps, endpointSlices, serviceCidrs, services } from '#kube/resources.ts';
import type { InitialFacts, InitialObject } from './objects.ts';

/** The embedded API server takes addresses of Services from it. */
const serviceNetwork = '172.30.0.0/16';

/** Objects in which a cluster of kubeadm describes itself. */
export function kubeadmObjects({ apiServerUrl, ca }: Pick<InitialFacts, 'apiServerUrl' | 'ca'>): InitialObject[] {
  const port = Number(new URL(apiServerUrl).port);
  return [
    object(configMaps, 'kube-public', 'cluster-info', { data: { kubeconfig: clusterInfo(apiServerUrl, ca) } }),
    object(configMaps, 'kube-system', 'kubeadm-config', { data: { ClusterConfiguration: clusterConfiguration() } }),
    object(serviceCidrs, undefined, 'kubernetes', { spec: { cidrs: [serviceNetwork] } }),
    object(services, 'default', 'kubernetes', {
      spec: { clusterIP: '172.30.0.1', ports: [{ name: 'https', port: 443, targetPort: port }] },
    }),
    object(endpointSlices, 'default', 'kubernetes', {
      addressType: 'IPv4',
      endpoints: [{ addresses: [new URL(apiServerUrl).hostname], conditions: { ready: true } }],
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    }),
    object(services, 'kube-system', 'kube-dns', {
      spec: { clusterIP: '172.30.0.10', ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] },
    }),
  ];
}

function object(resource: Resource, namespace: string | undefined, name: string, members: object): InitialObject {
  return { resource, object: { metadata: { name, ...(namespace !== undefined && { namespace }) }, ...members } };
}

/** The cluster of such a kubeconfig has an empty name. */
function clusterInfo(server: string, ca: string): string {
  const clusters = [{ cluster: { 'certificate-authority-data': toBase64(ca), server }, name: '' }];
  return stringify({ apiVersion: 'v1', clusters, contexts: null, 'current-context': '', kind: 'Config', users: null });
}

function clusterConfiguration(): string {
  return stringify({
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    kind: 'ClusterConfiguration',
    kubernetesVersion: payloadKubeletVersion,
    networking: { dnsDomain: 'cluster.local', serviceSubnet: serviceNetwork },
  });
}
