import { expect, test } from 'vitest';
import { readObject } from '#contract/object.ts';
import { kubernetesReserved, openshiftReserved } from './reserved.ts';

const config = (spec: object) => object('Network', { spec });
const infrastructure = (status: object) => object('Infrastructure', { status });
const object = (kind: string, more: object) =>
  readObject({ apiVersion: 'config.openshift.io/v1', kind, metadata: { name: 'cluster' }, ...more });

const network = config({ serviceNetwork: ['172.30.0.0/16'], clusterNetwork: [{ cidr: '10.128.0.0/14' }] });
const urls = {
  apiServerURL: 'https://api.demo.example.com:6443',
  apiServerInternalURI: 'https://api-int.demo.example.com:6443',
};

test('reserves networks, names of the API server and the domain of the ingress', () => {
  expect(openshiftReserved(network, undefined, infrastructure(urls))).toEqual({
    networks: ['172.30.0.0/16', '10.128.0.0/14'],
    addresses: [],
    names: ['api.demo.example.com', 'api-int.demo.example.com'],
    domains: ['apps.demo.example.com'],
  });
});

test('reserves the pod network of Windows nodes', () => {
  const hybridClusterNetwork = [{ cidr: '10.132.0.0/14', hostPrefix: 23 }];
  const ovnKubernetesConfig = { hybridOverlayConfig: { hybridClusterNetwork } };
  const operator = object('Network', { spec: { defaultNetwork: { ovnKubernetesConfig } } });
  expect(openshiftReserved(network, operator, infrastructure(urls)).networks).toContain('10.132.0.0/14');
});

const platforms: [string, object, string[]][] = [
  [
    'one address each',
    { vsphere: { apiServerInternalIP: '10.0.0.2', ingressIP: '10.0.0.3' } },
    ['10.0.0.2', '10.0.0.3'],
  ],
  [
    'lists of addresses',
    { baremetal: { apiServerInternalIPs: ['10.0.0.2', 'fd00::2'], ingressIPs: ['10.0.0.3'] } },
    ['10.0.0.2', 'fd00::2', '10.0.0.3'],
  ],
  ['what is no address', { nutanix: { apiServerInternalIPs: ['x', 5, ''], ingressIP: null } }, []],
  ['no addresses', { type: 'AWS', aws: { region: 'eu' } }, []],
];
for (const [title, platformStatus, want] of platforms) {
  test(`reserves addresses of API server and ingress: ${title}`, () => {
    const { addresses } = openshiftReserved(network, undefined, infrastructure({ ...urls, platformStatus }));
    expect(addresses).toEqual(want);
  });
}

test('an API server that is known by its address reserves the address', () => {
  const { addresses, names, domains } = openshiftReserved(
    network,
    undefined,
    infrastructure({ apiServerURL: 'https://10.0.0.2:6443', apiServerInternalURI: 'https://[fd00::2]:6443' }),
  );
  expect({ addresses, names, domains }).toEqual({ addresses: ['10.0.0.2', 'fd00::2'], names: [], domains: [] });
});

test('reads a cluster that says nothing about itself', () => {
  const empty = { networks: [], addresses: [], names: [], domains: [] };
  expect(openshiftReserved(config({}), undefined, infrastructure({}))).toEqual(empty);
});

test('in a plain cluster the service network and the API server are reserved', () => {
  expect(kubernetesReserved('https://k8s.example.com:6443', '10.96.0.0/12')).toEqual({
    networks: ['10.96.0.0/12'],
    addresses: [],
    names: ['k8s.example.com'],
    domains: [],
  });
  expect(kubernetesReserved('https://10.0.0.2:6443', '10.96.0.0/12').addresses).toEqual(['10.0.0.2']);
  const { addresses } = kubernetesReserved('https://10.0.0.2:6443', '10.96.0.0/12', ['10.0.0.2', '10.0.0.3']);
  expect(addresses).toEqual(['10.0.0.2', '10.0.0.3']);
  expect(kubernetesReserved('no URL', '10.96.0.0/12')).toMatchObject({ addresses: [], names: [] });
});
