import { expect, test } from 'vitest';
import { kubeletConfig } from './kubelet-config.ts';

const config = JSON.parse(kubeletConfig('172.30.0.10')) as Record<string, unknown>;

const members: [string, unknown][] = [
  ['clusterDNS', ['172.30.0.10']],
  ['clusterDomain', 'cluster.local'],
  ['rotateCertificates', true],
  ['serverTLSBootstrap', true],
  ['cgroupsPerQOS', false],
  ['runtimeRequestTimeout', '10m0s'],
  ['maxPods', 250],
  ['kubeAPIQPS', 50],
  ['kubeAPIBurst', 100],
  ['serializeImagePulls', false],
  ['enableSystemLogHandler', true],
  ['enableSystemLogQuery', true],
  ['featureGates', { NodeLogQuery: true, RotateKubeletServerCertificate: true }],
  ['containerLogMaxSize', '50Mi'],
  ['enforceNodeAllocatable', ['none']],
  ['evictionHard', { 'imagefs.available': '15%', 'nodefs.available': '10%' }],
  ['systemReserved', { cpu: '500m', 'ephemeral-storage': '1Gi', memory: '2Gi' }],
  ['containerRuntimeEndpoint', 'npipe://./pipe/containerd-containerd'],
  ['registerNode', true],
  ['registerWithTaints', [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }]],
  ['resolvConf', ''],
];
for (const [member, value] of members) {
  test(`sets ${member}`, () => {
    expect(config[member]).toEqual(value);
  });
}

test('lets no one in without a certificate of the kubelet CA', () => {
  expect(config['authentication']).toMatchObject({
    anonymous: { enabled: false },
    x509: { clientCAFile: 'C:\\k\\kubelet-ca.crt' },
  });
});

test('flushes its log every five seconds', () => {
  expect(config['logging']).toMatchObject({ flushFrequency: '5s', verbosity: 0 });
});

test('is the same text for the same cluster, and differs in nothing but the DNS address', () => {
  expect(kubeletConfig('172.30.0.10')).toBe(kubeletConfig('172.30.0.10'));
  expect(kubeletConfig('10.96.0.10')).toBe(kubeletConfig('172.30.0.10').replace('172.30.0.10', '10.96.0.10'));
});
