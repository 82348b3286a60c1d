import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { parseIpv4, printIpv4 } from '#base/ipv4.ts';
import { readObject } from '#contract/object.ts';
import { hybridOverlay, networkConfig, networkOperator, type PlainObject } from '../../test/kit/openshift-objects.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import {
  checkHybridOverlay,
  clusterDns,
  readNetwork,
  readNetworkType,
  readPodNetworks,
  readServiceCidr,
  vxlanPort,
} from './network.ts';

const config = (spec: PlainObject = {}) => readObject(networkConfig(spec));
const operator = (overlay: PlainObject | null = hybridOverlay()) => readObject(networkOperator(overlay));
const operatorSpec = (spec: unknown) =>
  readObject({ apiVersion: 'operator.openshift.io/v1', kind: 'Network', metadata: { name: 'cluster' }, spec });

test('reads the network of a cluster with a hybrid overlay', () => {
  expect(readNetwork(config(), operator(hybridOverlay({ hybridOverlayVXLANPort: 9898 })))).toEqual({
    serviceCidr: '172.30.0.0/16',
    clusterDns: '172.30.0.10',
    vxlanPort: '9898',
  });
});

test('has no VXLAN port when the operator object is not at hand', () => {
  expect(readNetwork(config(), undefined).vxlanPort).toBe('');
});

test('uses only the first service network of a dual-stack cluster', () => {
  const network = readNetwork(config({ serviceNetwork: ['10.96.0.0/12', 'fd02::/112'] }), operator());
  expect(network).toEqual({ serviceCidr: '10.96.0.0/12', clusterDns: '10.96.0.10', vxlanPort: '' });
});

test('reports an unsupported network type before an unusable service network', () => {
  const error = errorOf(() => readNetwork(config({ networkType: 'OpenShiftSDN', serviceNetwork: [] }), operator()));
  expect(error?.code).toBe('NETWORK_TYPE_UNSUPPORTED');
});

const badTypes: [name: string, type: unknown, shown: string][] = [
  ['the old SDN', 'OpenShiftSDN', 'OpenShiftSDN : network type not supported'],
  ['a plug-in of a vendor', 'Calico', 'Calico : network type not supported'],
  ['another spelling', 'ovnkubernetes', 'ovnkubernetes : network type not supported'],
  ['an empty type', '', '(none) : network type not supported'],
  ['no type', undefined, '(none) : network type not supported'],
  ['null', null, '(none) : network type not supported'],
];
for (const [name, networkType, shown] of badTypes)
  test(`refuses as network type ${name}`, () => {
    const error = errorOf(() => readNetworkType(config({ networkType })));
    expect(error).toMatchObject({ code: 'NETWORK_TYPE_UNSUPPORTED', message: `Network cluster: ${shown}` });
    expect(error?.remedy).toContain('OVNKubernetes');
  });

test('names field and value when the network type is no text', () => {
  const error = errorOf(() => readNetworkType(config({ networkType: 7 })));
  expect(error).toMatchObject({
    code: 'FIELD_INVALID',
    message: 'Network cluster: spec.networkType is 7, not a string',
  });
});

const badServiceNetworks: [name: string, serviceNetwork: unknown, part: string][] = [
  ['absent', undefined, 'is missing'],
  ['null', null, 'is missing'],
  ['an empty list', [], 'is missing'],
  ['a list with an empty text', [''], 'is missing'],
  ['IPv6 first', ['fd02::/112', '172.30.0.0/16'], '"fd02::/112" is IPv6'],
  ['no CIDR', ['172.30.0.0'], '"172.30.0.0" is not a CIDR'],
  ['too small', ['172.30.0.0/29'], 'has no tenth address'],
];
for (const [name, serviceNetwork, part] of badServiceNetworks)
  test(`refuses a service network that is ${name}`, () => {
    const error = errorOf(() => readServiceCidr(config({ serviceNetwork })));
    expect(error?.code).toBe('NETWORK_SERVICE_CIDR_INVALID');
    expect(error?.message).toContain('Network cluster: spec.serviceNetwork');
    expect(error?.message).toContain(part);
    expect(error?.remedy).not.toBe('');
  });

test('refuses a service network that is a text instead of a list', () => {
  expect(errorOf(() => readServiceCidr(config({ serviceNetwork: '172.30.0.0/16' })))?.code).toBe('FIELD_INVALID');
});

const dnsCases: [cidr: string, dns: string][] = [
  ['172.30.0.0/16', '172.30.0.10'],
  ['10.0.128.8/24', '10.0.128.10'],
  ['10.0.128.255/24', '10.0.128.10'],
  ['10.96.0.0/12', '10.96.0.10'],
  ['192.168.1.16/28', '192.168.1.26'],
  ['192.168.1.31/28', '192.168.1.26'],
  ['255.255.255.240/28', '255.255.255.250'],
  ['128.0.0.0/1', '128.0.0.10'],
  ['0.0.0.0/0', '0.0.0.10'],
];
for (const [cidr, dns] of dnsCases) test(`finds the DNS address of ${cidr}`, () => expect(clusterDns(cidr)).toBe(dns));

const badCidrs: [cidr: string, why: string][] = [
  ['', 'is missing'],
  ['invalid', 'is not a CIDR'],
  ['172.30.0.0', 'is not a CIDR'],
  ['172.30.0.0/', 'is not a CIDR'],
  ['172.30.0.0/33', 'is not a CIDR'],
  ['172.30.0.0/-1', 'is not a CIDR'],
  ['172.30.0.0/16/8', 'is not a CIDR'],
  ['172.30.0/16', 'is not a CIDR'],
  ['172.30.0.256/16', 'is not a CIDR'],
  ['172.30.000.0/16', 'is not a CIDR'],
  [' 172.30.0.0/16', 'is not a CIDR'],
  ['fd02::/112', 'is IPv6'],
  ['::/0', 'is IPv6'],
  ['::ffff:172.30.0.0/112', 'is IPv6'],
  ['172.30.0.0/32', 'has no tenth address'],
  ['172.30.0.0/31', 'has no tenth address'],
  ['192.168.1.0/29', 'has no tenth address'],
];
for (const [cidr, why] of badCidrs)
  test(`finds no DNS address in ${JSON.stringify(cidr)}`, () => {
    const error = errorOf(() => clusterDns(cidr));
    expect(error).toMatchObject({ code: 'NETWORK_SERVICE_CIDR_INVALID' });
    expect(error?.message).toContain(JSON.stringify(cidr));
    expect(error?.message).toContain(why);
    expect(error?.remedy).toContain('spec.serviceNetwork');
  });

test('the DNS address lies ten above the base of every network that is large enough', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 28 }), (address, length) => {
      const size = 2 ** (32 - length);
      const dns = parseIpv4(clusterDns(`${printIpv4(address)}/${length}`)) ?? -1;
      expect(dns % size).toBe(10);
      expect(Math.floor(dns / size)).toBe(Math.floor(address / size));
    }),
    { numRuns: 500 },
  );
});

test('throws only AppErrors for any text as service network', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.ipV6(),
    fc.tuple(fc.ipV4(), fc.integer()).map(parts => parts.join('/')),
  );
  fc.assert(
    fc.property(texts, cidr => {
      attempt(() => clusterDns(cidr));
    }),
    { numRuns: 2000 },
  );
});

test('accepts a hybrid overlay with a cluster network', () => {
  expect(() => checkHybridOverlay(operator())).not.toThrow();
});

const missingOverlays: [name: string, spec: unknown][] = [
  ['no spec', undefined],
  ['an empty spec', {}],
  ['no ovnKubernetesConfig', { defaultNetwork: { type: 'OVNKubernetes' } }],
  ['ovnKubernetesConfig null', { defaultNetwork: { ovnKubernetesConfig: null } }],
  ['an empty ovnKubernetesConfig', { defaultNetwork: { ovnKubernetesConfig: {} } }],
  ['hybridOverlayConfig null', { defaultNetwork: { ovnKubernetesConfig: { hybridOverlayConfig: null } } }],
];
for (const [name, spec] of missingOverlays)
  test(`misses the hybrid overlay with ${name}`, () => {
    const error = errorOf(() => checkHybridOverlay(operatorSpec(spec)));
    expect(error?.code).toBe('NETWORK_HYBRID_OVERLAY_MISSING');
    expect(error?.message).toBe('Network cluster: cluster is not configured for OVN hybrid networking');
    expect(error?.remedy).toContain('hybridClusterNetwork');
    expect(vxlanPort(operatorSpec(spec))).toBe('');
  });

const emptyOverlays: [name: string, overlay: PlainObject][] = [
  ['without hybridClusterNetwork', {}],
  ['with hybridClusterNetwork null', { hybridClusterNetwork: null }],
  ['with an empty hybridClusterNetwork', { hybridClusterNetwork: [] }],
  ['with only a port', { hybridOverlayVXLANPort: 9898 }],
];
for (const [name, overlay] of emptyOverlays)
  test(`refuses a hybrid overlay ${name}`, () => {
    const error = errorOf(() => checkHybridOverlay(operator(overlay)));
    expect(error?.code).toBe('NETWORK_HYBRID_OVERLAY_INVALID');
    expect(error?.message).toBe('Network cluster: invalid OVN hybrid networking configuration');
    expect(error?.remedy).toContain('networks.operator.openshift.io');
  });

test('names the field when the cluster networks are no list', () => {
  const error = errorOf(() => checkHybridOverlay(operator({ hybridClusterNetwork: '10.132.0.0/14' })));
  expect(error?.code).toBe('FIELD_INVALID');
  expect(error?.message).toContain('spec.defaultNetwork.ovnKubernetesConfig.hybridOverlayConfig.hybridClusterNetwork');
});

const ports: [port: unknown, want: string][] = [
  [4800, '4800'],
  [9898, '9898'],
  [4789, '4789'],
  [1, '1'],
  [65_535, '65535'],
  [undefined, ''],
  [null, ''],
];
for (const [port, want] of ports)
  test(`prints the VXLAN port ${JSON.stringify(port)} as ${JSON.stringify(want)}`, () =>
    expect(vxlanPort(operator(hybridOverlay({ hybridOverlayVXLANPort: port })))).toBe(want));

for (const port of [0, -1, 65_536, 48.5])
  test(`refuses the VXLAN port ${port}`, () => {
    const error = errorOf(() => vxlanPort(operator(hybridOverlay({ hybridOverlayVXLANPort: port }))));
    expect(error?.code).toBe('NETWORK_HYBRID_OVERLAY_INVALID');
    expect(error?.message).toContain(`hybridOverlayVXLANPort is ${port}`);
  });

test('refuses a VXLAN port that is a text', () => {
  expect(errorOf(() => vxlanPort(operator({ hybridOverlayVXLANPort: '9898' })))?.message).toContain('"9898"');
});

test('lists the pod networks of Linux and of Windows nodes', () => {
  expect(readPodNetworks(config(), operator())).toEqual(['10.128.0.0/14', '10.132.0.0/14']);
  expect(readPodNetworks(config(), operator(null))).toEqual(['10.128.0.0/14']);
  expect(readPodNetworks(config({ clusterNetwork: [{ cidr: 'fd01::/48' }] }), operator(null))).toEqual(['fd01::/48']);
});

const classE: [cidr: string, refused: boolean][] = [
  ['240.0.0.0/4', true],
  ['240.1.0.0/16', true],
  ['255.255.0.0/16', true],
  ['128.0.0.0/1', true],
  ['0.0.0.0/0', true],
  ['239.0.0.0/8', false],
  ['224.0.0.0/4', false],
  ['100.64.0.0/10', false],
];
for (const [cidr, refused] of classE)
  test(`${refused ? 'refuses' : 'accepts'} ${cidr} as cluster network of Windows nodes`, () => {
    const linux = attempt(() => readPodNetworks(config({ clusterNetwork: [{ cidr }] }), operator()));
    const windows = attempt(() => readPodNetworks(config(), operator({ hybridClusterNetwork: [{ cidr }] })));
    expect([linux.ok, windows.ok]).toEqual([!refused, !refused]);
    if (!linux.ok) {
      expect(linux.error?.code).toBe('NETWORK_CLASS_E');
      expect(linux.error?.message).toContain(cidr);
      expect(linux.error?.remedy).not.toBe('');
    }
  });

test('refuses a cluster network without a CIDR', () => {
  const error = errorOf(() => readPodNetworks(config({ clusterNetwork: [{ hostPrefix: 23 }] }), operator()));
  expect(error?.message).toBe('Network cluster: spec.clusterNetwork[0].cidr is missing; expected a string');
});

for (const cidr of [
  '',
  'nonsense',
  '10.0.0.0',
  '10.0.0.0/33',
  '10.0.0.0/14/2',
  'fd01::',
  'fd01::/x',
  'http://u:hunter2@h',
]) {
  test(`refuses ${JSON.stringify(cidr)} as cluster network, which is not a CIDR`, () => {
    const hybrid = operator({ hybridClusterNetwork: [{ cidr }] });
    const error = errorOf(() => readPodNetworks(config(), hybrid));
    expect(error).toMatchObject({ code: 'FIELD_INVALID' });
    expect(error?.message).toContain('hybridOverlayConfig.hybridClusterNetwork[0].cidr is "');
    expect(error?.message).not.toContain('hunter2');
    expect(error?.remedy).toContain('10.128.0.0/14');
  });
}
