import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { printPem } from '#base/pem.ts';
import { kubernetesFacts } from './kubernetes.ts';

const label = 'ConfigMap wmco/windows-cluster';
const certificate = printPem('CERTIFICATE', new Uint8Array([0x30, 0x03, 0x02, 0x01, 0x2a]));
const other = printPem('CERTIFICATE', new Uint8Array([0x30, 0x03, 0x02, 0x01, 0x2b]));
const enough = { apiServerURL: 'https://api.example.com:6443', serviceCIDR: '10.96.0.0/12' };
const read = (data: Record<string, string> | undefined, clusterCa = certificate) =>
  kubernetesFacts({ namespace: 'wmco', data, clusterCa, objects: [], denied: [] });

test('needs two keys where no object can be read, and sets defaults for the rest', () => {
  expect(read(enough)).toEqual({
    findings: [],
    origins: { apiServerUrl: label, serviceCidr: label, clusterDns: 'tenth address of the service network' },
    facts: {
      platform: 'None',
      apiServerUrl: 'https://api.example.com:6443',
      network: { serviceCidr: '10.96.0.0/12', clusterDns: '10.96.0.10', vxlanPort: '' },
      kubeletArguments: {},
      workerFiles: {},
      kubeletCa: certificate,
      registryBundles: [],
      proxy: {},
      trustedCa: undefined,
      reserved: { networks: ['10.96.0.0/12'], addresses: [], names: ['api.example.com'], domains: [] },
    },
  });
});

const taken: [name: string, data: Record<string, string>, want: object][] = [
  ['a DNS address', { clusterDNS: '10.96.0.53' }, { network: { clusterDns: '10.96.0.53' } }],
  ['a port', { vxlanPort: '9898' }, { network: { vxlanPort: '9898' } }],
  ['the highest port', { vxlanPort: '65535' }, { network: { vxlanPort: '65535' } }],
  ['a platform', { platform: 'VSphere' }, { platform: 'VSphere' }],
  ['a platform that nobody knows', { platform: 'Toaster' }, { platform: 'Toaster' }],
  ['a cloud provider', { cloudProvider: 'external' }, { kubeletArguments: { 'cloud-provider': 'external' } }],
  ['an empty cloud provider as one', { cloudProvider: '' }, { kubeletArguments: { 'cloud-provider': '' } }],
  ['a CA of kubelets', { 'kubelet-client-ca.crt': other }, { kubeletCa: other.trim() }],
  ['several CAs', { 'kubelet-client-ca.crt': certificate + other }, { kubeletCa: (certificate + other).trim() }],
  ['trusted CAs as they are', { 'ca-bundle.crt': 'anything\n' }, { trustedCa: 'anything\n' }],
  ['values with blanks around them', { platform: ' Nutanix\n', vxlanPort: '\t4800 ' }, { platform: 'Nutanix' }],
  ['empty values as absent', { platform: '', clusterDNS: ' ', vxlanPort: '' }, { platform: 'None' }],
  ['keys that it does not know', { comment: 'made by hand' }, { platform: 'None' }],
  ['an address with a path', { apiServerURL: 'https://lb/api' }, { apiServerUrl: 'https://lb/api' }],
  [
    'an IPv6 address of the server',
    { apiServerURL: 'https://[fd00::1]:6443' },
    { apiServerUrl: 'https://[fd00::1]:6443' },
  ],
];
for (const [name, data, want] of taken) {
  test(`takes ${name}`, () => {
    const { facts, findings } = read({ ...enough, ...data });
    expect(findings).toEqual([]);
    expect(facts).toMatchObject(want);
  });
}

const refused: [name: string, data: Record<string, string>, code: string, key: string][] = [
  ['plain HTTP', { apiServerURL: 'http://api:6443' }, 'API_SERVER_URL_MISSING', 'apiServerURL'],
  ['an address that a shell could misread', { apiServerURL: 'https://a&b' }, 'API_SERVER_URL_MISSING', 'apiServerURL'],
  ['an address with a login', { apiServerURL: 'https://u:p@api' }, 'API_SERVER_URL_MISSING', 'apiServerURL'],
  ['a service network that is none', { serviceCIDR: '10.96.0.0' }, 'NETWORK_SERVICE_CIDR_INVALID', 'serviceCIDR'],
  ['a service network of IPv6', { serviceCIDR: 'fd00::/108' }, 'NETWORK_SERVICE_CIDR_INVALID', 'serviceCIDR'],
  [
    'a service network that is too small',
    { serviceCIDR: '10.96.0.0/30' },
    'NETWORK_SERVICE_CIDR_INVALID',
    'serviceCIDR',
  ],
  ['a name as DNS address', { clusterDNS: 'dns.example.com' }, 'FIELD_INVALID', 'clusterDNS'],
  ['an IPv6 DNS address', { clusterDNS: 'fd00::a' }, 'FIELD_INVALID', 'clusterDNS'],
  ['port nought', { vxlanPort: '0' }, 'FIELD_INVALID', 'vxlanPort'],
  ['a port beyond the last', { vxlanPort: '65536' }, 'FIELD_INVALID', 'vxlanPort'],
  ['a port that is none', { vxlanPort: 'default' }, 'FIELD_INVALID', 'vxlanPort'],
  ['a CA that holds nothing', { 'kubelet-client-ca.crt': 'later' }, 'KUBELET_CA_MISSING', 'kubelet-client-ca.crt'],
  [
    'a CA that was cut off',
    { 'kubelet-client-ca.crt': `${certificate}${other.slice(0, 40)}` },
    'KUBELET_CA_MISSING',
    'kubelet-client-ca.crt',
  ],
];
for (const [name, data, code, key] of refused) {
  test(`refuses ${name}`, () => {
    const { facts, findings } = read({ ...enough, ...data });
    expect(facts).toBeUndefined();
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ code, remedy: expect.stringMatching(/\.$/) });
    expect(findings[0]?.message).toContain(`${label}: ${key}: `);
  });
}

test('shows no login of an address', () => {
  const { findings } = read({ ...enough, apiServerURL: 'https://user:planted@api' });
  expect(findings[0]?.message).not.toContain('planted');
});

test('reports everything that is wrong at once', () => {
  const { findings } = read({ apiServerURL: 'x', serviceCIDR: 'y', vxlanPort: 'z', clusterDNS: 'w' });
  expect(findings.map(({ code }) => code).sort()).toEqual([
    'API_SERVER_URL_MISSING',
    'FIELD_INVALID',
    'FIELD_INVALID',
    'NETWORK_SERVICE_CIDR_INVALID',
  ]);
});

test('waits for the CA of the cluster unless another one is given', () => {
  expect(read(enough, '').findings).toMatchObject([{ code: 'KUBELET_CA_MISSING' }]);
  expect(read({ ...enough, 'kubelet-client-ca.crt': other }, '').findings).toEqual([]);
});

test('has findings or facts, never both and never neither, and throws nothing, whatever the data is', () => {
  const key = fc.constantFrom(
    'apiServerURL',
    'serviceCIDR',
    'clusterDNS',
    'vxlanPort',
    'platform',
    'kubelet-client-ca.crt',
    'toString',
  );
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(key, fc.string()), fc.string()), data => {
      const { facts, findings } = read(data);
      expect(facts === undefined).toBe(findings.length > 0);
    }),
    { numRuns: 2000 },
  );
});
