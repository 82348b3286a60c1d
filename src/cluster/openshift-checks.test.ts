import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import {
  apiServer,
  type ClusterParts,
  controllerConfig,
  hybridOverlay,
  infrastructure,
  kubeletCaPem,
  kubeletUnit,
  linuxNode,
  machineConfig,
  networkConfig,
  networkOperator,
  openshiftCluster,
  readObjects,
  registryCaPem,
  trustedCa,
} from '../../test/kit/openshift-objects.ts';
import type { OperatorSettings } from './facts.ts';
import { checkCluster } from './openshift.ts';

const settings: OperatorSettings = {
  namespace: 'openshift-windows-machine-config-operator',
  version: '11.0.0-abcdef0',
  debug: false,
  logRotation: { fileSize: '', fileAge: '', flushInterval: '' },
  proxy: {},
};
const behindProxy = { ...settings, proxy: { NO_PROXY: '' } };

const checksOf = (overrides: Partial<ClusterParts>, version?: string) =>
  checkCluster(readObjects(openshiftCluster(overrides)), settings, version);
const checkOf = (check: string, overrides: Partial<ClusterParts>, version?: string) =>
  checksOf(overrides, version).find(result => result.check === check);

test('a healthy cluster passes every check and each says what it found', () => {
  expect(checksOf({}, 'v1.37.1').map(({ check, ok, detail }) => [check, ok, detail])).toEqual([
    ['network type', true, 'OVNKubernetes'],
    ['hybrid overlay', true, 'configured'],
    ['service network', true, '172.30.0.0/16, DNS at 172.30.0.10'],
    ['cluster network', true, '10.128.0.0/14, 10.132.0.0/14'],
    ['VXLAN port', true, 'default'],
    ['API server version', true, 'v1.37.1'],
    ['platform', true, 'Azure'],
    ['API server address', true, 'https://api-int.east.example.com:6443'],
    [
      'worker config',
      true,
      'MachineConfig rendered-worker-5d0c8f8b, --cloud-provider=external, --cloud-config=/etc/kubernetes/cloud.conf, /etc/kubernetes/cloud.conf',
    ],
    ['kubelet CA', true, '1 certificate'],
    ['registry CAs', true, '2 bundles'],
    ['trusted CA', true, 'no cluster proxy'],
    ['TLS profile', true, 'VersionTLS12, not applied (adherence "")'],
  ]);
});

test('every check fails by itself when there are no objects', () => {
  const results = checkCluster([], behindProxy);
  expect(results.filter(result => result.ok)).toEqual([]);
  for (const { detail, error } of results) {
    expect(detail).toBe(error?.message);
    expect(error?.remedy).not.toBe('');
  }
});

const details: [name: string, check: string, overrides: Partial<ClusterParts>, detail: string][] = [
  [
    'an unknown platform',
    'platform',
    { infrastructure: infrastructure('BareMetal') },
    'BareMetal (no special handling)',
  ],
  ['platform None', 'platform', { infrastructure: infrastructure('None') }, 'None'],
  [
    'vSphere with its own port',
    'VXLAN port',
    {
      infrastructure: infrastructure('VSphere'),
      networkOperator: networkOperator(hybridOverlay({ hybridOverlayVXLANPort: 9898 })),
    },
    '9898',
  ],
  ['no cloud options', 'worker config', { machineConfig: machineConfig() }, 'MachineConfig rendered-worker-5d0c8f8b'],
  [
    'two CAs',
    'kubelet CA',
    { controllerConfig: controllerConfig({ kubeAPIServerServingCAData: toBase64(kubeletCaPem + registryCaPem) }) },
    '2 certificates',
  ],
  ['one bundle', 'registry CAs', { controllerConfig: controllerConfig({ imageRegistryBundleData: [] }) }, '1 bundle'],
  [
    'a strict policy',
    'TLS profile',
    { apiServer: apiServer({ tlsAdherence: 'StrictAllComponents', tlsSecurityProfile: { type: 'Modern' } }) },
    'VersionTLS13, applied (adherence "StrictAllComponents")',
  ],
  [
    'a newer kubelet',
    'API server version',
    { node: linuxNode('m', 'v1.38.0+a80dac2') },
    'v1.38.0+a80dac2 (from the newest kubelet)',
  ],
];
for (const [name, check, overrides, detail] of details)
  test(`check of the ${check}: ${name}`, () => {
    expect(checkOf(check, overrides)).toEqual({ check, ok: true, detail });
  });

test('the bundle of the proxy is found once it is injected', () => {
  const objects = readObjects([...openshiftCluster(), trustedCa('BUNDLE')]);
  expect(checkCluster(objects, behindProxy).find(({ check }) => check === 'trusted CA')).toMatchObject({
    ok: true,
    detail: 'injected',
  });
});

const vsphere = infrastructure('VSphere');
const failures: [name: string, check: string, overrides: Partial<ClusterParts>, code: string, part: string][] = [
  [
    'the old SDN',
    'network type',
    { networkConfig: networkConfig({ networkType: 'OpenShiftSDN' }) },
    'NETWORK_TYPE_UNSUPPORTED',
    'OpenShiftSDN',
  ],
  [
    'none',
    'hybrid overlay',
    { networkOperator: networkOperator(null) },
    'NETWORK_HYBRID_OVERLAY_MISSING',
    'not configured',
  ],
  [
    'too small',
    'service network',
    { networkConfig: networkConfig({ serviceNetwork: ['10.0.0.0/30'] }) },
    'NETWORK_SERVICE_CIDR_INVALID',
    '10.0.0.0/30',
  ],
  [
    'class E',
    'cluster network',
    { networkConfig: networkConfig({ clusterNetwork: [{ cidr: '240.0.0.0/8' }] }) },
    'NETWORK_CLASS_E',
    '240.0.0.0/8',
  ],
  [
    'class E for Windows',
    'cluster network',
    { networkOperator: networkOperator({ hybridClusterNetwork: [{ cidr: '250.0.0.0/8' }] }) },
    'NETWORK_CLASS_E',
    '250.0.0.0/8',
  ],
  ['the default on vSphere', 'VXLAN port', { infrastructure: vsphere }, 'NETWORK_VXLAN_PORT_TAKEN', 'VSphere'],
  [
    'the default in numbers on vSphere',
    'VXLAN port',
    { infrastructure: vsphere, networkOperator: networkOperator(hybridOverlay({ hybridOverlayVXLANPort: 4789 })) },
    'NETWORK_VXLAN_PORT_TAKEN',
    '4789',
  ],
  ['too old', 'API server version', { node: linuxNode('m', 'v1.35.1') }, 'SERVER_VERSION_UNSUPPORTED', 'v1.35.1'],
  ['too new', 'API server version', { node: linuxNode('m', 'v1.40.0') }, 'SERVER_VERSION_UNSUPPORTED', 'v1.40.0'],
  ['unknown', 'API server version', { node: null }, 'OBJECT_MISSING', 'no Node'],
  ['no version in the Node', 'API server version', { node: linuxNode('m', '') }, 'OBJECT_MISSING', 'no Node'],
  ['none', 'platform', { infrastructure: infrastructure('') }, 'PLATFORM_MISSING', 'Infrastructure cluster'],
  [
    'none',
    'API server address',
    { infrastructure: infrastructure('AWS', { apiServerInternalURI: '' }) },
    'API_SERVER_URL_MISSING',
    'apiServerInternalURI',
  ],
  ['none', 'worker config', { machineConfig: null }, 'RENDERED_WORKER_MISSING', 'rendered-worker-'],
  [
    'a cloud config that nobody writes',
    'worker config',
    { machineConfig: machineConfig({ unit: kubeletUnit(['--cloud-config=/etc/kubernetes/cloud.conf']) }) },
    'IGNITION_MALFORMED',
    'file /etc/kubernetes/cloud.conf is missing',
  ],
  ['none', 'kubelet CA', { controllerConfig: null }, 'KUBELET_CA_MISSING', 'cannot find kubelet-ca'],
  [
    'no certificate',
    'kubelet CA',
    { controllerConfig: controllerConfig({ kubeAPIServerServingCAData: toBase64('hello') }) },
    'CERTIFICATE_BUNDLE_MALFORMED',
    'no certificate found',
  ],
  [
    'a torn certificate',
    'kubelet CA',
    { controllerConfig: controllerConfig({ kubeAPIServerServingCAData: toBase64(kubeletCaPem.slice(0, -10)) }) },
    'CERTIFICATE_BUNDLE_MALFORMED',
    'the block at line 1 has no END line',
  ],
  [
    'a torn certificate after a good one',
    'kubelet CA',
    {
      controllerConfig: controllerConfig({
        kubeAPIServerServingCAData: toBase64(kubeletCaPem + kubeletCaPem.slice(0, -10)),
      }),
    },
    'CERTIFICATE_BUNDLE_MALFORMED',
    'the block at line 4 has no END line',
  ],
  ['no APIServer', 'TLS profile', { apiServer: null }, 'OBJECT_MISSING', 'APIServer cluster'],
  [
    'an empty custom profile',
    'TLS profile',
    { apiServer: apiServer({ tlsSecurityProfile: { type: 'Custom' } }) },
    'TLS_PROFILE_INVALID',
    'Custom',
  ],
];
for (const [name, check, overrides, code, part] of failures)
  test(`check of the ${check} fails: ${name}`, () => {
    const result = checkOf(check, overrides);
    expect(result).toMatchObject({ ok: false, error: { code } });
    expect(result?.detail).toContain(part);
    expect(result?.error?.remedy).not.toBe('');
  });

test('the version given wins over that of the Nodes', () => {
  expect(checkOf('API server version', { node: linuxNode('m', 'v1.36.0') }, 'v1.20.2')).toMatchObject({ ok: false });
  expect(checkOf('API server version', { node: linuxNode('m', 'v1.20.2') }, payloadKubeletVersion)).toMatchObject({
    ok: true,
  });
});

test('of several Nodes the newest kubelet decides the version', () => {
  const nodes = ['v1.33.1', 'v1.36.0', 'v1.9.9'].map((version, index) => linuxNode(`n-${index}`, version));
  const results = checkCluster(readObjects([...openshiftCluster({ node: null }), ...nodes]), settings);
  expect(results.find(({ check }) => check === 'API server version')?.detail).toBe('v1.36.0 (from the newest kubelet)');
});

test('one broken object fails only the checks that need it', () => {
  const bad = checksOf({ infrastructure: null }, 'v1.36.2').filter(({ ok }) => !ok);
  expect(bad.map(({ check }) => check)).toEqual(['VXLAN port', 'platform', 'API server address']);
});
