import { stringify } from 'yaml';
import { toBase64 } from '../../src/base/bytes.ts';
import type { PlainObject } from './openshift-objects.ts';

/** Objects in which a cluster of kubeadm describes itself. */

const configMap = (namespace: string, name: string, data: Record<string, string>): PlainObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  data,
});

/** As kubeadm writes it: the cluster has an empty name. */
export function clusterInfo(server: string, change: (kubeconfig: string) => string = text => text): PlainObject {
  const cluster = { 'certificate-authority-data': toBase64('CA'), server };
  const kubeconfig = {
    apiVersion: 'v1',
    clusters: [{ cluster, name: '' }],
    contexts: null,
    'current-context': '',
    kind: 'Config',
    preferences: {},
    users: null,
  };
  const data = { 'jws-kubeconfig-abcdef': 'eyJhbGciOiJIUzI1NiJ9..sig', kubeconfig: change(stringify(kubeconfig)) };
  return configMap('kube-public', 'cluster-info', data);
}

/** As API servers write it. */
export function apiServerSlice(addresses: readonly string[], change: object = {}): PlainObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name: 'kubernetes', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: addresses.map(address => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
    ...change,
  };
}

export function serviceCidr(cidrs: readonly string[]): PlainObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'kubernetes' },
    spec: { cidrs: [...cidrs] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

export function kubeadmConfig(serviceSubnet: string): PlainObject {
  const config = {
    apiServer: { timeoutForControlPlane: '4m0s' },
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    clusterName: 'kubernetes',
    controlPlaneEndpoint: 'api.example.com:6443',
    kind: 'ClusterConfiguration',
    kubernetesVersion: 'v1.36.2',
    networking: { dnsDomain: 'cluster.local', podSubnet: '10.244.0.0/16', serviceSubnet },
  };
  return kubeadmText(stringify(config));
}

export function kubeadmText(text: string): PlainObject {
  return configMap('kube-system', 'kubeadm-config', { ClusterConfiguration: text });
}

export function dnsService(clusterIPs: readonly string[]): PlainObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'kube-system', name: 'kube-dns' },
    spec: {
      clusterIP: clusterIPs[0],
      clusterIPs: [...clusterIPs],
      ports: [{ name: 'dns', port: 53, protocol: 'UDP' }],
    },
  };
}
