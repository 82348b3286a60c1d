import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { printPem } from '#base/pem.ts';
import {
  apiServerSlice,
  clusterInfo,
  dnsService,
  kubeadmConfig,
  kubeadmText,
  serviceCidr,
} from '../../test/kit/kubeadm-objects.ts';
import { type PlainObject, readObjects } from '../../test/kit/openshift-objects.ts';
import { kubernetesFacts } from './kubernetes.ts';

const clusterCa = printPem('CERTIFICATE', new Uint8Array([0x30, 0x03, 0x02, 0x01, 0x2a]));
const read = (objects: readonly PlainObject[], data?: Record<string, string>, denied: string[] = []) =>
  kubernetesFacts({ namespace: 'wmco', data, clusterCa, objects: readObjects([...objects]), denied });

const info = clusterInfo('https://lb.example.com:6443');
const slice = apiServerSlice(['10.0.0.2']);
const cidr = serviceCidr(['10.96.0.0/12']);
const kubeadm = kubeadmConfig('10.97.0.0/16');
const dns = dnsService(['10.96.0.53']);
const all = [info, slice, cidr, kubeadm, dns];

test('a cluster of kubeadm needs no windows-cluster', () => {
  const { facts, findings, origins } = read(all);
  expect(findings).toEqual([]);
  expect(facts).toMatchObject({
    platform: 'None',
    apiServerUrl: 'https://lb.example.com:6443',
    network: { serviceCidr: '10.96.0.0/12', clusterDns: '10.96.0.53', vxlanPort: '' },
    reserved: { networks: ['10.96.0.0/12'], addresses: ['10.0.0.2'], names: ['lb.example.com'] },
  });
  expect(origins).toEqual({
    apiServerUrl: 'ConfigMap kube-public/cluster-info',
    serviceCidr: 'ServiceCIDR kubernetes',
    clusterDns: 'Service kube-system/kube-dns',
  });
});

type Value = 'apiServerUrl' | 'serviceCidr' | 'clusterDns';
/** What is added to, or replaces, a cluster with slice and ServiceCIDR only. */
const orders: [name: string, objects: PlainObject[], data: object, value: Value, want: string][] = [
  ['apiServerURL of windows-cluster first', all, { apiServerURL: 'https://set:1' }, 'apiServerUrl', 'https://set:1'],
  ['cluster-info before the EndpointSlice', all, {}, 'apiServerUrl', 'https://lb.example.com:6443'],
  ['the EndpointSlice without cluster-info', [slice, cidr], {}, 'apiServerUrl', 'https://10.0.0.2:6443'],
  ['a blank apiServerURL as not set', [slice, cidr], { apiServerURL: ' ' }, 'apiServerUrl', 'https://10.0.0.2:6443'],
  ['serviceCIDR of windows-cluster first', all, { serviceCIDR: '10.9.0.0/16' }, 'serviceCidr', '10.9.0.0/16'],
  ['ServiceCIDR before kubeadm-config', all, {}, 'serviceCidr', '10.96.0.0/12'],
  ['kubeadm-config without ServiceCIDR', [slice, kubeadm], {}, 'serviceCidr', '10.97.0.0/16'],
  ['clusterDNS of windows-cluster first', all, { clusterDNS: '10.96.0.9' }, 'clusterDns', '10.96.0.9'],
  ['the address of kube-dns', all, {}, 'clusterDns', '10.96.0.53'],
  ['the tenth address without kube-dns', [slice, cidr], {}, 'clusterDns', '10.96.0.10'],
];
for (const [name, objects, data, value, want] of orders) {
  test(`uses ${name}`, () => {
    const { facts, findings } = read(objects, data as Record<string, string>);
    expect(findings).toEqual([]);
    expect({ ...facts?.network, apiServerUrl: facts?.apiServerUrl }[value]).toBe(want);
  });
}

const accepted: [name: string, objects: PlainObject[], value: Value, want: string][] = [
  [
    'the first of several API servers',
    [apiServerSlice(['10.0.0.10', '10.0.0.9']), cidr],
    'apiServerUrl',
    '10.0.0.9:6443',
  ],
  [
    'an API server that is ready',
    [
      apiServerSlice([], {
        endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }, { addresses: ['10.0.0.2'] }],
      }),
      cidr,
    ],
    'apiServerUrl',
    '10.0.0.2:6443',
  ],
  [
    'the port https among several',
    [
      apiServerSlice(['10.0.0.2'], {
        ports: [
          { name: 'metrics', port: 1 },
          { name: 'https', port: 443 },
        ],
      }),
      cidr,
    ],
    'apiServerUrl',
    '10.0.0.2:443',
  ],
  [
    'the EndpointSlice if cluster-info has no kubeconfig',
    [{ ...info, data: {} }, slice, cidr],
    'apiServerUrl',
    '10.0.0.2:6443',
  ],
  [
    'the IPv4 network of a dual-stack cluster',
    [slice, serviceCidr(['fd00::/108', '10.5.0.0/16'])],
    'serviceCidr',
    '10.5.0.0/16',
  ],
  [
    'the IPv4 network of kubeadm-config',
    [slice, kubeadmConfig('fd00::/108, 10.5.0.0/16')],
    'serviceCidr',
    '10.5.0.0/16',
  ],
  ['the second address of kube-dns', [slice, cidr, dnsService(['fd00::a', '10.96.0.11'])], 'clusterDns', '10.96.0.11'],
  ['no IPv6 address of kube-dns', [slice, cidr, dnsService(['fd00::a'])], 'clusterDns', '10.96.0.10'],
  ['no address of a headless kube-dns', [slice, cidr, dnsService(['None'])], 'clusterDns', '10.96.0.10'],
];
for (const [name, objects, value, want] of accepted) {
  test(`uses ${name}`, () => {
    const { facts, findings } = read(objects);
    expect(findings).toEqual([]);
    expect({ ...facts?.network, apiServerUrl: facts?.apiServerUrl.replace('https://', '') }[value]).toBe(want);
  });
}

test('says that it uses one of several API servers, and reserves the addresses of all', () => {
  const { facts, origins } = read([apiServerSlice(['10.0.0.3', '10.0.0.2', '10.0.0.4']), cidr]);
  expect(origins?.['apiServerUrl']).toBe('EndpointSlice default/kubernetes, first of 3 addresses');
  expect(facts?.reserved.addresses).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4']);
});

const refused: [name: string, objects: PlainObject[], code: string, message: string][] = [
  ['a kubeconfig that is no YAML', [clusterInfo('', () => '{'), cidr], 'KUBECONFIG_MALFORMED', 'neither YAML nor JSON'],
  ['an empty kubeconfig', [clusterInfo('', () => ''), cidr], 'KUBECONFIG_MALFORMED', 'is empty'],
  ['a kubeconfig without cluster', [clusterInfo('', () => 'kind: Config'), cidr], 'KUBECONFIG_MALFORMED', '0 clusters'],
  [
    'a kubeconfig with two clusters',
    [clusterInfo('', () => 'clusters: [{name: a}, {name: b}]'), cidr],
    'KUBECONFIG_MALFORMED',
    'has 2 clusters',
  ],
  ['a kubeconfig without server', [clusterInfo(''), cidr], 'KUBECONFIG_MALFORMED', 'has no server'],
  ['a server with plain HTTP', [clusterInfo('http://api:80'), cidr], 'API_SERVER_URL_MISSING', '"http://api:80"'],
  ['a server that a shell could misread', [clusterInfo('https://a&b'), cidr], 'API_SERVER_URL_MISSING', 'not an https'],
  ['a kubeconfig that is too long', [clusterInfo('', () => 'x'.repeat(70_000)), cidr], 'FIELD_INVALID', 'longer than'],
  [
    'a port that is too high',
    [apiServerSlice(['10.0.0.2'], { ports: [{ name: 'https', port: 65_536 }] }), cidr],
    'FIELD_INVALID',
    'port 65536',
  ],
  ['endpoints that are no list', [apiServerSlice([], { endpoints: 'x' }), cidr], 'FIELD_INVALID', 'not a list'],
  ['a ServiceCIDR of IPv6 only', [slice, serviceCidr(['fd00::/108'])], 'NETWORK_SERVICE_CIDR_INVALID', 'is IPv6'],
  ['a ServiceCIDR that is too small', [slice, serviceCidr(['10.0.0.0/30'])], 'NETWORK_SERVICE_CIDR_INVALID', 'tenth'],
  ['a kubeadm-config that is no YAML', [slice, kubeadmText('a: [')], 'FIELD_INVALID', 'not an object in YAML'],
  ['a kubeadm-config that is a text', [slice, kubeadmText('later')], 'FIELD_INVALID', 'not an object in YAML'],
  [
    'a subnet that is a number',
    [slice, kubeadmText('networking: {serviceSubnet: 10}')],
    'FIELD_INVALID',
    'not a string',
  ],
  ['a subnet that is none', [slice, kubeadmConfig('10.96.0.0')], 'NETWORK_SERVICE_CIDR_INVALID', 'not a CIDR'],
];
for (const [name, objects, code, message] of refused) {
  test(`reports ${name}, and how to set the value`, () => {
    const { facts, findings } = read(objects);
    expect(facts).toBeUndefined();
    expect(findings).toMatchObject([{ code, message: expect.stringContaining(message) }]);
    expect(findings[0]?.remedy).toMatch(/^Fix \w+ [\w/-]+, or run `kubectl create configmap windows-cluster -n wmco /);
    const given = read(objects, { apiServerURL: 'https://api:6443', serviceCIDR: '10.96.0.0/12' });
    expect(given.findings).toEqual([]);
  });
}

const nothingThere: [name: string, objects: PlainObject[], keys: string[]][] = [
  ['no object at all', [], ['apiServerURL', 'serviceCIDR']],
  ['no API server', [cidr], ['apiServerURL']],
  ['an EndpointSlice without addresses', [apiServerSlice([]), cidr], ['apiServerURL']],
  ['an EndpointSlice without port', [apiServerSlice(['10.0.0.2'], { ports: [] }), cidr], ['apiServerURL']],
  ['an EndpointSlice of IPv6', [apiServerSlice(['fd00::2'], { addressType: 'IPv6' }), cidr], ['apiServerURL']],
  ['no service network', [slice], ['serviceCIDR']],
  ['a kubeadm-config without subnet', [slice, kubeadmConfig('')], ['serviceCIDR']],
  [
    'objects of other namespaces',
    [{ ...info, metadata: { namespace: 'x', name: 'cluster-info' } }, cidr],
    ['apiServerURL'],
  ],
];
for (const [name, objects, keys] of nothingThere) {
  test(`asks for what it does not find: ${name}`, () => {
    const { facts, findings } = read(objects);
    expect(facts).toBeUndefined();
    expect(findings).toMatchObject([{ code: 'CLUSTER_UNDESCRIBED' }]);
    const literals = [...(findings[0]?.remedy ?? '').matchAll(/--from-literal=(\w+)=\S/g)].map(match => match[1]);
    expect(literals).toEqual(keys);
    for (const key of keys) expect(findings[0]?.message).toContain(`${key} (in `);
  });
}

test('changes windows-cluster if it exists', () => {
  expect(read([slice], { platform: 'VSphere' }).findings[0]?.remedy).toBe(
    `Run \`kubectl patch configmap windows-cluster -n wmco --type=merge -p '{"data":{"serviceCIDR":"10.96.0.0/12"}}'\` with the value of your cluster.`,
  );
});

test('names the manifest if it is not allowed to read the objects', () => {
  const denied = ['ConfigMap kube-public/cluster-info', 'Service kube-system/kube-dns'];
  expect(read([cidr], undefined, denied).findings).toMatchObject([
    {
      code: 'CLUSTER_UNDESCRIBED',
      message: expect.stringMatching(/; permission denied for ConfigMap kube-public\/cluster-info$/),
      remedy: expect.stringContaining('deploy/rbac/kubernetes.yaml'),
    },
  ]);
  expect(read([slice, cidr], undefined, denied).findings).toEqual([]);
});

test('quotes nothing of a kubeconfig but an invalid server', () => {
  const hidden = 'users: [{name: x, user: {token: [planted]}}]\nclusters: []';
  const { findings } = read([clusterInfo('', () => hidden), cidr]);
  expect(findings[0]?.code).toBe('KUBECONFIG_MALFORMED');
  expect(JSON.stringify(findings.map(({ message, remedy }) => [message, remedy]))).not.toContain('planted');
});

test('has findings or facts, and throws no other error, whatever the objects have', () => {
  const text = fc.oneof(fc.string(), fc.json(), fc.constant('networking: {serviceSubnet: 10.96.0.0/12}'));
  const any = fc.jsonValue();
  fc.assert(
    fc.property(fc.tuple(text, text), fc.tuple(any, any, any), ([kubeconfig, config], [endpoints, ports, spec]) => {
      const { facts, findings } = read([
        clusterInfo('', () => kubeconfig),
        apiServerSlice([], { endpoints, ports }),
        { ...cidr, spec },
        kubeadmText(config),
        { ...dns, spec },
      ]);
      expect(facts === undefined).toBe(findings.length > 0);
    }),
    { numRuns: 1000 },
  );
});
