import { expect, test } from 'vitest';
import { hnsNetwork, nodeAnnotation, vipEndpoint } from '#contract/names.ts';
import { cniConfig, kubeProxyConfig } from '#contract/network-config.ts';
import { file } from '#contract/paths.ts';
import { adapter, ModelHost, overlayNetwork } from '../../../test/kit/model-host.ts';
import type { HnsEndpoint, NodeSource } from '../ports.ts';
import { readState } from '../state.ts';
import { writeNetworkFiles } from './network-files.ts';

const given = {
  serviceCIDR: '172.30.0.0/16',
  subnetAnnotation: nodeAnnotation.hybridOverlaySubnet,
  verbosity: '4',
  featureGates: 'WinDSR,WinOverlay',
};
const nodeWith = (annotations: Record<string, string>): NodeSource => ({
  name: 'win-1',
  object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'win-1', annotations } },
});
const node = nodeWith({ [nodeAnnotation.hybridOverlaySubnet]: '10.132.1.0/24' });

const cni = cniConfig({ subnet: '10.132.1.0/24', managementIp: '10.0.0.5' }, '172.30.0.0/16');
const proxy = (sourceVip: string) =>
  kubeProxyConfig({
    nodeName: 'win-1',
    clusterCidr: '10.132.1.0/24',
    sourceVip,
    verbosity: 4,
    featureGates: ['WinDSR', 'WinOverlay'],
  });

function hostWithOverlay(): ModelHost {
  const host = new ModelHost();
  host.state.networks = [overlayNetwork({ id: 'base', name: hnsNetwork.base }), overlayNetwork()];
  return host;
}

const write = (host: ModelHost, source: NodeSource | undefined = node, over: Record<string, string> = {}) =>
  writeNetworkFiles({ ...given, ...over }, source, host, host.waiting());
const network = (host: ModelHost) => host.log.filter(call => /endpoint|attach/.test(call));
const endpoint = (over: Partial<HnsEndpoint> = {}): HnsEndpoint => ({
  id: 'E-1',
  name: vipEndpoint,
  networkId: 'net-1',
  ipAddress: '10.132.1.77',
  mac: '00-15-5D-00-00-77',
  ...over,
});

test('writes both files and creates the endpoint for kube-proxy', async () => {
  const host = hostWithOverlay();
  expect(await write(host)).toBe(true);
  expect(host.fileTexts.get(file.cniConfig)).toBe(cni);
  expect(host.fileTexts.get(file.kubeProxyConfig)).toBe(proxy('10.132.1.2'));
  expect(network(host)).toEqual([`create endpoint ${vipEndpoint}`, 'attach net-1-endpoint-2']);
});

test('sets only the feature gates that the operator names', async () => {
  const host = hostWithOverlay();
  await write(host, node, { featureGates: '' });
  expect(JSON.parse(host.fileTexts.get(file.kubeProxyConfig) ?? '')).not.toHaveProperty('featureGates');
});

test('changes nothing the second time', async () => {
  const host = hostWithOverlay();
  await write(host);
  const calls = host.log.length;
  expect([await write(host), host.log.length]).toEqual([false, calls]);
});

test('does not rewrite files that differ only in line ends', async () => {
  const host = hostWithOverlay();
  await write(host);
  for (const path of [file.cniConfig, file.kubeProxyConfig]) {
    host.fileTexts.set(path, (host.fileTexts.get(path) ?? '').replaceAll('\n', '\r\n'));
  }
  const calls = host.log.length;
  expect([await write(host), host.log.length]).toEqual([false, calls]);
});

test('reports a change that kube-proxy has to read', async () => {
  const host = hostWithOverlay();
  await write(host);
  expect(await write(host, node, { verbosity: '0' })).toBe(true);
  expect((await readState(host.files)).changedFiles).toEqual([file.kubeProxyConfig]);
});

test('records a change before it is made', async () => {
  const host = hostWithOverlay();
  host.before = call => {
    if (call === `write ${file.kubeProxyConfig}`) throw new Error('power cut');
  };
  await expect(write(host)).rejects.toThrow('power cut');
  expect((await readState(host.files)).changedFiles).toEqual([file.kubeProxyConfig]);
});

test('does not bother kube-proxy with the file of the CNI plug-in', async () => {
  const host = hostWithOverlay();
  await write(host);
  host.fileTexts.set(file.cniConfig, '{}');
  expect(await write(host)).toBe(false);
  expect(host.fileTexts.get(file.cniConfig)).toBe(cni);
});

test('writes the file of the CNI plug-in also when there is no address for kube-proxy, for the Node waits for it', async () => {
  const host = hostWithOverlay();
  host.network.createEndpoint = () => Promise.reject(new Error('HNS failed'));
  await expect(write(host)).rejects.toThrow('HNS failed');
  expect(host.fileTexts.get(file.cniConfig)).toBe(cni);
});

test('polls for the network twenty times, a second apart', async () => {
  const host = new ModelHost();
  host.overlayAfter = 19;
  await write(host);
  expect([host.clock.ms, host.fileTexts.get(file.cniConfig)]).toEqual([19_000, cni]);
});

const incomplete: [string, ModelHost['state']['networks'], RegExp][] = [
  ['no network', [], /found: none/],
  ['another network', [overlayNetwork({ name: 'nat' })], /found: nat/],
  ['a network without a subnet', [overlayNetwork({ subnets: [] })], /waiting for hybrid-overlay-node/],
  ['a network with IPv6 alone', [overlayNetwork({ subnets: ['fd00::/64'] })], /waiting for hybrid-overlay-node/],
  [
    'a network without the address of the host',
    [overlayNetwork({ managementIp: '' })],
    /waiting for hybrid-overlay-node/,
  ],
];
for (const [name, networks, message] of incomplete) {
  test(`fails after twenty seconds of ${name}`, async () => {
    const host = new ModelHost();
    host.state.networks = networks;
    await expect(write(host)).rejects.toMatchObject({
      code: 'HOST_NETWORK_MISSING',
      message: expect.stringMatching(message),
      remedy: expect.stringMatching(/./),
    });
    expect([host.clock.ms, host.fileTexts.has(file.cniConfig)]).toEqual([19_000, false]);
  });
}

test('uses the IPv4 subnet of a dual-stack network', async () => {
  const host = new ModelHost();
  host.state.networks = [overlayNetwork({ subnets: ['fd00::/64', '10.132.1.0/24'] })];
  host.state.endpoints = [endpoint()];
  await write(host);
  expect(host.fileTexts.get(file.cniConfig)).toBe(cni);
});

const endpoints: [string, HnsEndpoint[], string, string[]][] = [
  ['uses the endpoint that is there', [endpoint()], '10.132.1.77', []],
  ['knows its network in another spelling', [endpoint({ networkId: 'NET-1' })], '10.132.1.77', []],
  [
    'makes a new one where the old one belongs to a network that is gone',
    [endpoint({ networkId: 'gone' })],
    '10.132.1.3',
    [`create endpoint ${vipEndpoint}`, 'attach net-1-endpoint-3'],
  ],
  [
    'leaves endpoints of others alone',
    [endpoint({ name: 'pod' })],
    '10.132.1.3',
    [`create endpoint ${vipEndpoint}`, 'attach net-1-endpoint-3'],
  ],
];
for (const [name, before, vip, calls] of endpoints) {
  test(name, async () => {
    const host = hostWithOverlay();
    host.state.endpoints = before;
    host.state.adapters.push({ ...adapter('vEthernet', []), mac: '00-15-5d-00-00-77' });
    await write(host);
    expect(host.fileTexts.get(file.kubeProxyConfig)).toBe(proxy(vip));
    expect(network(host)).toEqual(calls);
  });
}

test('attaches an endpoint that an earlier attempt left detached', async () => {
  const host = hostWithOverlay();
  host.state.endpoints = [endpoint()];
  await write(host);
  await write(host);
  expect(network(host)).toEqual(['attach E-1']);
});

test('ignores that Windows does not attach an endpoint a second time', async () => {
  const host = hostWithOverlay();
  host.state.endpoints = [endpoint()];
  host.network.attachToHost = () => Promise.reject(new Error('0x803b0014: attached already'));
  expect(await write(host)).toBe(true);
  expect(host.fileTexts.get(file.kubeProxyConfig)).toBe(proxy('10.132.1.77'));
});

test('reports when a new endpoint cannot be attached, and attaches it the next time', async () => {
  const host = hostWithOverlay();
  host.before = call => {
    if (call.startsWith('attach')) throw new Error('HNS failed');
  };
  await expect(write(host)).rejects.toThrow('HNS failed');
  host.before = () => undefined;
  await write(host);
  expect(network(host)).toEqual([`create endpoint ${vipEndpoint}`, 'attach net-1-endpoint-2']);
});

test('uses the address of the adapter when the endpoint has none', async () => {
  const host = hostWithOverlay();
  host.state.endpoints = [endpoint({ ipAddress: '', mac: '00:15:5d:00:00:77' })];
  host.state.adapters.push({ ...adapter('vEthernet', ['fe80::1/64', '10.132.1.9/24']), mac: '00-15-5D-00-00-77' });
  await write(host);
  expect(host.fileTexts.get(file.kubeProxyConfig)).toBe(proxy('10.132.1.9'));
});

test('waits for the address of an endpoint, and fails without one', async () => {
  const host = hostWithOverlay();
  host.state.endpoints = [endpoint({ ipAddress: '', mac: '' })];
  await expect(write(host)).rejects.toMatchObject({
    code: 'HOST_NETWORK_MISSING',
    message: `waiting for an IPv4 address of the endpoint ${vipEndpoint} (E-1)`,
  });
  expect(host.clock.ms).toBe(19_000);
});

const badArguments: [string, Record<string, string>, RegExp][] = [
  ['no service network', { serviceCIDR: '' }, /serviceCIDR is ""/],
  ['a service network in IPv6', { serviceCIDR: 'fd00::/64' }, /serviceCIDR is "fd00::\/64"/],
  ['a verbosity in words', { verbosity: 'much' }, /verbosity is "much"/],
];
for (const [name, over, message] of badArguments) {
  test(`rejects ${name}`, async () => {
    await expect(write(hostWithOverlay(), node, over)).rejects.toMatchObject({
      code: 'SERVICES_MALFORMED',
      message: expect.stringMatching(message),
    });
  });
}

test('uses verbosity 0 by default', async () => {
  const host = hostWithOverlay();
  const { serviceCIDR, subnetAnnotation } = given;
  await writeNetworkFiles({ serviceCIDR, subnetAnnotation }, node, host, host.waiting());
  expect(host.fileTexts.get(file.kubeProxyConfig)).toContain('"verbosity": 0');
});

const nodes: [string, NodeSource | undefined][] = [
  ['without the annotation', nodeWith({})],
  ['with an empty annotation', nodeWith({ [nodeAnnotation.hybridOverlaySubnet]: '' })],
];
for (const [name, source] of nodes) {
  test(`waits for the pod network of a Node ${name}`, async () => {
    await expect(write(hostWithOverlay(), source)).rejects.toMatchObject({
      code: 'HOST_NETWORK_MISSING',
      message: 'waiting for OVN-Kubernetes to assign a pod subnet to node win-1',
    });
  });
}

test('rejects an annotation that is no subnet', async () => {
  const source = nodeWith({ [nodeAnnotation.hybridOverlaySubnet]: '10.132.1.5' });
  await expect(write(hostWithOverlay(), source)).rejects.toMatchObject({
    code: 'NODE_SUBNET_INVALID',
    message: `Node win-1: annotation ${nodeAnnotation.hybridOverlaySubnet} is "10.132.1.5", not an IPv4 subnet`,
  });
});

test('has no pod network without a Node', async () => {
  const host = hostWithOverlay();
  await expect(writeNetworkFiles(given, undefined, host, host.waiting())).rejects.toMatchObject({
    code: 'HOST_NETWORK_MISSING',
  });
});

test('stops waiting when aborted', async () => {
  const host = new ModelHost();
  const signal = AbortSignal.abort(new Error('stopping'));
  await expect(writeNetworkFiles(given, node, host, { clock: host.clock, signal })).rejects.toThrow('stopping');
});
