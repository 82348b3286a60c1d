import { parse as parseToml } from 'smol-toml';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { cniConfig, kubeProxyConfig } from '#contract/network-config.ts';
import { caBundle, caBundleEntry } from './ca-bundle.ts';
import { containerdConfig } from './containerd-config.ts';
import { exporterWebConfig } from './exporter-web-config.ts';
import { joinMarks } from './marks.ts';

type Tree = { [key: string]: Tree };
const containerd = parseToml(containerdConfig()) as unknown as Tree;
const cri = containerd['plugins']?.['io.containerd.grpc.v1.cri'];

const containerdSettings: [string, unknown, unknown][] = [
  ['format version', containerd['version'], 2],
  ['data folder', containerd['root'], 'C:\\ProgramData\\containerd\\root'],
  ['state folder', containerd['state'], 'C:\\ProgramData\\containerd\\state'],
  ['pipe', containerd['grpc']?.['address'], '\\\\.\\pipe\\containerd-containerd'],
  ['message limit', containerd['grpc']?.['max_recv_message_size'], 16 * 1024 * 1024],
  ['sandbox image', cri?.['sandbox_image'], 'mcr.microsoft.com/oss/kubernetes/pause:3.9'],
  ['pull progress time-out', cri?.['image_pull_progress_timeout'], '30m0s'],
  ['downloads at once', cri?.['max_concurrent_downloads'], 3],
  ['stream server', cri?.['stream_server_address'], '127.0.0.1'],
  ['no TCP service', cri?.['disable_tcp_service'], true],
  ['CNI binaries', cri?.['cni']?.['bin_dir'], 'C:\\k\\cni'],
  ['CNI configuration', cri?.['cni']?.['conf_dir'], 'C:\\k\\cni\\config'],
  ['one CNI file', cri?.['cni']?.['max_conf_num'], 1],
  ['runtime', cri?.['containerd']?.['default_runtime_name'], 'runhcs-wcow-process'],
  [
    'runtime type',
    cri?.['containerd']?.['runtimes']?.['runhcs-wcow-process']?.['runtime_type'],
    'io.containerd.runhcs.v1',
  ],
  ['registries', cri?.['registry']?.['config_path'], 'C:\\k\\containerd\\registries'],
  ['NRI off', containerd['plugins']?.['io.containerd.nri.v1.nri']?.['disable'], true],
  ['layer sharing', containerd['plugins']?.['io.containerd.metadata.v1.bolt']?.['content_sharing_policy'], 'shared'],
  [
    'differs',
    containerd['plugins']?.['io.containerd.service.v1.diff-service']?.['default'],
    ['windows', 'windows-lcow'],
  ],
  [
    'platforms',
    containerd['plugins']?.['io.containerd.runtime.v2.task']?.['platforms'],
    ['windows/amd64', 'linux/amd64'],
  ],
  ['shim clean-up', containerd['timeouts']?.['io.containerd.timeout.shim.cleanup'], '5s'],
  ['garbage collection', containerd['plugins']?.['io.containerd.gc.v1.scheduler']?.['mutation_threshold'], 100],
];
for (const [name, actual, wanted] of containerdSettings) {
  test(`containerd configuration: ${name}`, () => {
    expect(actual).toEqual(wanted);
  });
}

test('containerd decrypts layers with and without compression', () => {
  const decoders = containerd['stream_processors'] ?? {};
  expect(Object.keys(decoders)).toEqual([
    'io.containerd.ocicrypt.decoder.v1.tar',
    'io.containerd.ocicrypt.decoder.v1.tar.gzip',
  ]);
});

test('the exporter serves TLS with the pair we copy', () => {
  expect(parseYaml(exporterWebConfig())).toEqual({
    tls_server_config: { cert_file: 'C:\\k\\tls\\certs\\tls.crt', key_file: 'C:\\k\\tls\\certs\\tls.key' },
  });
});

test('the CNI configuration routes services through the overlay and everything else through NAT', () => {
  const config = JSON.parse(cniConfig({ subnet: '10.132.1.0/24', managementIp: '10.0.0.4' }, '172.30.0.0/16')) as Tree;
  expect(config).toMatchObject({
    cniVersion: '0.2.0',
    name: 'OVNKubernetesHybridOverlayNetwork',
    type: 'win-overlay',
    apiVersion: 2,
    capabilities: { portMappings: true, dns: true },
    ipam: { type: 'host-local', subnet: '10.132.1.0/24' },
  });
  const settings = (config['policies'] as unknown as { name: string; value: { type: string; settings: object } }[]).map(
    policy => [policy.name, policy.value.type, policy.value.settings],
  );
  expect(settings).toEqual([
    ['EndpointPolicy', 'OutBoundNAT', { exceptionList: ['172.30.0.0/16'], destinationPrefix: '', needEncap: false }],
    ['EndpointPolicy', 'SDNRoute', { exceptionList: [], destinationPrefix: '172.30.0.0/16', needEncap: true }],
    ['EndpointPolicy', 'ProviderAddress', { providerAddress: '10.0.0.4' }],
  ]);
});

test('kube-proxy works in the kernel, on the overlay network, for its own node', () => {
  const facts = { nodeName: 'win1', clusterCidr: '10.132.1.0/24', sourceVip: '10.132.1.2', verbosity: 4 };
  expect(JSON.parse(kubeProxyConfig({ ...facts, featureGates: ['WinDSR', 'WinOverlay'] }))).toEqual({
    kind: 'KubeProxyConfiguration',
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    featureGates: { WinDSR: true, WinOverlay: true },
    clientConnection: { kubeconfig: 'C:\\k\\kubeconfig' },
    mode: 'kernelspace',
    hostnameOverride: 'win1',
    clusterCIDR: '10.132.1.0/24',
    logging: { verbosity: 4 },
    winkernel: { networkName: 'OVNKubernetesHybridOverlayNetwork', sourceVip: '10.132.1.2', enableDSR: true },
  });
});

const bundles: [string, Parameters<typeof caBundle>[0], string][] = [
  ['is empty without CAs', { registryBundles: [], trustedCa: undefined }, ''],
  ['is the proxy bundle alone', { registryBundles: [], trustedCa: 'PROXY\n' }, 'PROXY\n'],
  [
    'has registries first, in order, then the proxy',
    {
      registryBundles: [
        { file: 'a', data: 'A' },
        { file: 'b..5000', data: 'B' },
      ],
      trustedCa: 'PROXY',
    },
    '# a\nA\n\n# b:5000\nB\n\nPROXY',
  ],
];
for (const [name, facts, wanted] of bundles) {
  test(`the CA bundle ${name}`, () => {
    expect(caBundle(facts)).toBe(wanted);
  });
}

test('every encoded colon in a registry name is decoded', () => {
  expect(caBundleEntry({ file: 'a..1..2', data: 'X' })).toBe('# a:1:2\nX\n\n');
});

test('a listed host gets the labels of a worker, a Machine does not', () => {
  const marks = { pubKeyHash: 'h', sealedUsername: 'u' };
  expect(joinMarks({ ...marks, byoh: true }).labels).toEqual({
    'windowsmachineconfig.openshift.io/byoh': 'true',
    'node-role.kubernetes.io/worker': '',
  });
  expect(joinMarks({ ...marks, byoh: false }).labels).toEqual({});
});

test('key hash, user name and a host key to be moved are annotations', () => {
  const hostKey = { type: 'ssh-ed25519', base64: 'AAAA' };
  expect(joinMarks({ byoh: false, pubKeyHash: 'h', sealedUsername: 'u', hostKey }).annotations).toEqual({
    'windowsmachineconfig.openshift.io/pub-key-hash': 'h',
    'windowsmachineconfig.openshift.io/username': 'u',
    'windowsmachineconfig.openshift.io/ssh-host-key': 'AAAA',
    'windowsmachineconfig.openshift.io/ssh-host-key-type': 'ssh-ed25519',
  });
});
