import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  agentName,
  hnsNetwork,
  identity,
  nodeAnnotation,
  nodeLabel,
  signer,
  windowsTaint,
} from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { payloadKubeletVersion } from '../../src/contract/version.ts';
import { authorizedKey } from '../../src/host/keys/public-key.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { findCondition } from '../../src/base/condition.ts';
import { certificateSigningRequests, leases, nodes, secrets } from '../../src/kube/resources.ts';
import { machines } from '../../src/kube/resources-openshift.ts';
import { userDataSecret } from '../../src/node/desired/user-data/user-data.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { ManualSandboxOperator } from '../kit/manual-sandbox-operator.ts';
import { installedAgent } from '../kit/installed-agent.ts';

/** A join by hand with the commands of the operator. */

let sandbox: Sandbox;
let operator: ManualSandboxOperator;
let joined: string[];

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: 3, speed: 10 });
  operator = await ManualSandboxOperator.start(sandbox);
  joined = await Promise.all(
    ['win-1', 'win-2']
      .map(name => operator.join(sandbox.host(name).spec.address))
      .concat(operator.join('win-3.sandbox.test')),
  );
});
afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  await sandbox?.stop();
});

const patient = { interval: 100 };
const readyOf = async (name: string) => findCondition((await operator.node(name)).status?.conditions, 'Ready');

test('three hosts, one listed by DNS name, become Nodes at once', () => {
  expect(joined).toEqual(['win-1', 'win-2', 'win-3']);
});

test.each(['win-1', 'win-2', 'win-3'])('%s is ready and has every mark', async name => {
  const { metadata, spec, status } = await operator.node(name);
  expect(await readyOf(name)).toMatchObject({ status: 'True', reason: 'KubeletReady' });
  expect(metadata.annotations).toMatchObject({
    [nodeAnnotation.version]: operator.version,
    [nodeAnnotation.desiredVersion]: operator.version,
    [nodeAnnotation.hybridOverlaySubnet]: expect.stringMatching(/^10\.13[2-5]\.\d+\.0\/24$/),
    [nodeAnnotation.hybridOverlayGatewayMac]: expect.stringMatching(/^0a:58:/),
  });
  expect(metadata.labels).toMatchObject({
    [nodeLabel.os]: 'windows',
    [nodeLabel.osId]: 'Windows',
    'kubernetes.io/hostname': name,
    'node.kubernetes.io/windows-build': '10.0.20348',
  });
  expect(spec?.taints).toEqual([windowsTaint]);
  expect(status?.addresses).toEqual([
    { type: 'InternalIP', address: sandbox.host(name).spec.address },
    { type: 'Hostname', address: name },
  ]);
  expect(status?.nodeInfo).toMatchObject({ operatingSystem: 'windows', kubeletVersion: payloadKubeletVersion });
});

test('every Node has a different subnet', async () => {
  const { items } = await operator.client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` });
  const subnets = items.map(({ metadata }) => metadata.annotations?.[nodeAnnotation.hybridOverlaySubnet]);
  expect(new Set(subnets).size).toBe(3);
});

test('all services run, each with a process and the managed tag', async () => {
  const services = await sandbox.host('win-1').services.list();
  const managed = services.filter(({ config }) => config.description.startsWith('OpenShift managed'));
  expect(managed.map(({ name, state }) => `${state} ${name}`).toSorted()).toEqual(
    ['containerd', 'csi-proxy', 'hybrid-overlay-node', 'kube-proxy', 'kubelet', 'windows_exporter', agentName]
      .map(name => `running ${name}`)
      .toSorted(),
  );
  expect(new Set(managed.map(({ pid }) => pid)).size).toBe(managed.length);
});

test('the agent writes the network configuration of the host', async () => {
  const { files, state } = sandbox.host('win-1');
  expect(state.networks.map(({ name }) => name)).toEqual([hnsNetwork.base, hnsNetwork.overlay]);
  expect(JSON.parse((await files.read(file.cniConfig)) ?? '')).toMatchObject({ name: hnsNetwork.overlay });
  expect(JSON.parse((await files.read(file.kubeProxyConfig)) ?? '')).toMatchObject({ hostnameOverride: 'win-1' });
  expect(state.adapters.map(({ name }) => name)).toEqual(['Ethernet', 'vEthernet (VIPEndpoint)']);
});

test('kubelet and agent get certificates through requests', async () => {
  const { files } = sandbox.host('win-1');
  for (const path of [`${dir.kubeletPki}kubelet-client-current.pem`, file.agentCertificate]) {
    expect(await files.read(path)).toMatch(/BEGIN CERTIFICATE/);
  }
  await expect.poll(() => files.has(`${dir.kubeletPki}kubelet-server-current.pem`), patient).toBe(true);
  const { items } = await operator.client.list(certificateSigningRequests);
  const seen = new Set(items.map(({ spec }) => spec.signerName));
  expect(seen).toEqual(new Set([signer.kubeletClient, signer.kubeletServing, signer.apiClient]));
  expect(items.every(({ status }) => status?.certificate !== undefined)).toBe(true);
});

test('only administrators can read keys and tokens on the host', () => {
  const { files } = sandbox.host('win-1');
  for (const path of [file.bootstrapKubeconfig, file.agentKubeconfig, file.agentKey, file.tlsKey]) {
    expect([path, files.accessOf(path)]).toEqual([path, 'secret']);
  }
});

test('the kubelet renews its lease', async () => {
  const options = { namespace: 'kube-node-lease' };
  expect(await operator.client.get(leases, 'win-1', options)).toMatchObject({ spec: { holderIdentity: 'win-1' } });
});

test('a join needs few sessions and sends everything once', () => {
  for (const name of ['win-1', 'win-2', 'win-3']) {
    expect(sandbox.host(name).stats).toMatchObject({
      connections: 1,
      execSessions: 4,
      sftpSessions: 1,
      uploads: 2,
      reboots: 0,
      verbs: ['inventory', 'stage', 'bootstrap', 'install'],
    });
  }
});

test('logs of hosts contain no secrets', async () => {
  const tokens = [(await operator.bootstrapToken()).token.reveal(), sandbox.privateKey.reveal()];
  const output = sandbox.hosts.flatMap(({ logLines }) => logLines).join('\n');
  expect(output).toContain('Received client certificate');
  for (const secret of tokens) expect(output).not.toContain(secret.slice(0, 60));
  expect(output).not.toMatch(/PRIVATE KEY/);
});

test('a host comes back from a power cut as a ready Node of the same version', async () => {
  const host = sandbox.host('win-2');
  host.cutPower();
  await expect.poll(() => host.isOn, patient).toBe(true);
  await expect.poll(async () => (await host.services.query('kube-proxy'))?.state, patient).toBe('running');
  expect((await operator.node('win-2')).metadata.annotations?.[nodeAnnotation.version]).toBe(operator.version);
  await expect.poll(async () => (await operator.node('win-2')).status?.nodeInfo?.['bootID'], patient).toMatch(/-2$/);
  await expect.poll(() => readyOf('win-2'), patient).toMatchObject({ status: 'True' });
});

test('the agent restores a deleted network configuration', async () => {
  const host = sandbox.host('win-1');
  await host.files.remove(file.cniConfig);
  await expect.poll(() => readyOf('win-1'), patient).toMatchObject({ status: 'False' });
  await expect.poll(() => host.files.has(file.cniConfig), patient).toBe(true);
  await expect.poll(() => readyOf('win-1'), patient).toMatchObject({ status: 'True' });
});

test('cleanup removes everything from the host and does not touch the Node', async () => {
  const host = sandbox.host('win-3');
  await using connection = await operator.connect('win-3.sandbox.test');
  await host.services.stop(agentName);
  const answer = JSON.parse(await operator.run(connection, `${installedAgent.cleanup(sandbox.namespace)} -o json`));
  expect(answer).toMatchObject({ clusterReached: true, rebootNeeded: false });
  const left = (await host.services.list()).filter(({ config }) => config.description.includes('OpenShift managed'));
  expect(left.map(({ name }) => name)).toEqual([]);
});

test('a deleted Node returns when its kubelet restarts, and not after a cleanup', async () => {
  const requestCount = async () => {
    const { items } = await operator.client.list(certificateSigningRequests);
    return items.filter(({ spec }) => spec.signerName === signer.kubeletClient).length;
  };
  const before = await requestCount();
  for (const name of ['win-2', 'win-3']) await operator.client.delete(nodes, name);
  for (const name of ['win-2', 'win-3']) sandbox.host(name).cutPower();
  await expect.poll(() => readyOf('win-2').catch(() => undefined), patient).toMatchObject({ status: 'True' });
  expect(await requestCount()).toBe(before);
  await expect.poll(() => sandbox.host('win-3').isOn, patient).toBe(true);
  expect(await operator.node('win-3').catch(() => 'gone')).toBe('gone');
});

test('the host of a Machine becomes a Node with approvals of the cluster only', async () => {
  await using own = await startSandbox({ machines: 1, speed: 10 });
  const isAgents = ({ spec }: { spec: { signerName: string } }) => spec.signerName === signer.apiClient;
  await using hand = await ManualSandboxOperator.start(own, { approves: isAgents });
  const namespace = 'openshift-machine-api';
  const { publicKey } = parsePrivateKey(own.privateKey.reveal());
  await hand.client.create(secrets, userDataSecret('None', authorizedKey(publicKey)));
  const machine = await hand.waitFor('a Machine with an address', async () => {
    const { items } = await hand.client.list(machines, { namespace });
    return items.find(({ status }) => status?.phase === 'Provisioned');
  });
  const address = machine.status?.addresses?.[0]?.address ?? '';
  await hand.waitFor('its host', async () => (own.hosts[0]?.isOn ? true : undefined));
  const node = await hand.join(address);
  const { name = '' } = machine.metadata;
  expect(node).toBe(name);
  await expect
    .poll(async () => (await hand.client.get(machines, name, { namespace })).status, patient)
    .toMatchObject({ phase: 'Running', nodeRef: { name: node } });
  expect((await hand.node(node)).metadata).toMatchObject({
    labels: { [nodeLabel.worker]: '' },
    annotations: { 'machine.openshift.io/machine': `${namespace}/${name}` },
  });
  const { items } = await hand.client.list(certificateSigningRequests);
  const kubelets = items.filter(({ spec }) => spec.signerName !== signer.apiClient);
  for (const { status } of kubelets) expect(status?.conditions).toMatchObject([{ reason: 'NodeCSRApprove' }]);
  expect(kubelets.map(({ spec }) => spec.username)).toContain(identity.nodeBootstrapper);
  await hand.client.delete(machines, name, { namespace });
  await expect.poll(() => own.hosts.some(({ spec }) => spec.name === name), patient).toBe(false);
  await expect.poll(() => hand.node(node).catch(() => 'gone'), patient).toBe('gone');
});
