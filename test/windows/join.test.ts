import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { textFromBase64 } from '../../src/base/bytes.ts';
import { controllerCommand } from '../../src/contract/agent-command.ts';
import { parseCertificateRequest } from '../../src/contract/csr-request.ts';
import {
  agentName,
  agentServiceAccountUser,
  hnsNetwork,
  identity,
  managedDescription,
  nodeAnnotation,
  nodeLabel,
  serviceName,
  signer,
  vipEndpoint,
  windowsTaint,
} from '../../src/contract/names.ts';
import { cniConfig, kubeProxyConfig } from '../../src/contract/network-config.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { findCondition } from '../../src/base/condition.ts';
import { certificateSigningRequests, events } from '../../src/kube/resources.ts';
import { AgentService } from '../kit/winhost/agent-service.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { podSubnet, serviceCidr } from '../kit/winhost/operator.ts';
import { namespace } from '../kit/winhost/rights.ts';
import { type Scene, startScene } from '../kit/winhost/scene.ts';
import { agentLog, seeListeners, seeServices } from '../kit/winhost/sight.ts';

/** A host with only Windows becomes a node with the agent's .exe. */

let scene: Scene;
let host: WindowsHost;
let node: string;
const took: [step: string, ms: number][] = [];

beforeAll(async () => {
  scene = await startScene(inject('agentProgram'));
  host = await scene.lab.createHost();
  let lastMs = performance.now();
  node = await scene.operator.join(host, step => {
    took.push([step, Math.round(performance.now() - lastMs)]);
    lastMs = performance.now();
  });
});
afterAll(() => scene?.[Symbol.asyncDispose]());

const { containerd, kubelet, exporter, hybridOverlay, csiProxy, kubeProxy } = serviceName;
const managed = [containerd, kubelet, exporter, hybridOverlay, csiProxy, kubeProxy];

/** Objects in the double of the Host Networking Service. */
function hnsObjects(kind: 'networks' | 'endpoints'): Record<string, unknown>[] {
  const names = host.drive.list(`C:\\lab\\hns\\${kind}`).filter(name => name.endsWith('.json'));
  return names.map(name => JSON.parse(host.drive.read(`C:\\lab\\hns\\${kind}\\${name}`) ?? ''));
}

test('a fresh host becomes a node, step by step', () => {
  const allMs = took.reduce((sum, [, ms]) => sum + ms, 0);
  const steps = took.map(([step, ms]) => `${step} ${ms}`).join(', ');
  const inAgent = agentLog(host)
    .split('\n')
    .flatMap(
      line => /^\w\d+ \S+:(\S+?)000 .*?\] (.*?)(?: controller=| key=|$)/.exec(line)?.slice(1, 3).join(' ') ?? [],
    );
  console.log(
    `from a fresh host to version in ${allMs} ms: ${steps}\n  agent: ${inAgent.slice(0, 10).join('\n         ')}`,
  );
  // The waits have time limits; on a quiet machine it takes 15 seconds.
  expect(took.map(([step]) => step)).toEqual(['stage', 'cleanup', 'bootstrap', 'Node', 'agent service', 'version']);
});

test('the Node has the labels, the taint and the address of a Windows node, and the version', async () => {
  const { metadata, spec, status } = await scene.operator.node(node);
  expect(metadata.name).toBe('win-1');
  expect(metadata.labels).toMatchObject({ [nodeLabel.os]: 'windows', [nodeLabel.osId]: 'Windows' });
  expect(spec?.taints?.[0]).toEqual(windowsTaint);
  expect(status?.addresses).toContainEqual({ type: 'InternalIP', address: host.address });
  expect(findCondition(status?.conditions, 'Ready')?.status).toBe('True');
  const { version } = scene.operator;
  expect(metadata.annotations).toMatchObject({
    [nodeAnnotation.version]: version,
    [nodeAnnotation.desiredVersion]: version,
  });
  expect(metadata.annotations).not.toHaveProperty([nodeAnnotation.rebootRequired]);
});

test('all services of the manifest run as described and have the managed tag', async () => {
  const seen = await seeServices(host);
  expect(Object.keys(seen)).toEqual([...managed, agentName]);
  const values: Record<string, string> = { NODE_NAME: node, NODE_IP: host.address };
  for (const service of scene.operator.manifest().services) {
    expect(seen[service.name], service.name).toEqual({
      state: 'RUNNING',
      pid: expect.toSatisfy(pid => pid > 0),
      command: service.command.replaceAll(/NODE_NAME|NODE_IP/g, name => values[name] ?? ''),
      description: managedDescription(service.name),
      dependencies: service.dependencies,
      startsAtBoot: service.bootstrap,
    });
  }
  expect(seen[agentName]).toMatchObject({
    state: 'RUNNING',
    command: controllerCommand({ namespace, node: 'win-1' }),
    description: managedDescription(agentName),
    startsAtBoot: true,
  });
});

test('every service starts once, in the order of dependencies and priorities', () => {
  const log = managed.map(name => ({ name, events: host.lab.serviceEvents(name) }));
  for (const { name, events } of log)
    expect([name, ...events.map(({ event }) => event)]).toEqual([name, 'start', 'running']);
  const timeOf = (name: string, event: string) =>
    host.lab.serviceEvents(name).find(one => one.event === event)?.time ?? '';
  for (const { name, dependencies, priority } of scene.operator.manifest().services) {
    const earlier = scene.operator
      .manifest()
      .services.filter(other => other.priority < priority)
      .map(other => other.name);
    for (const other of [...dependencies, ...earlier]) {
      expect(timeOf(other, 'running') <= timeOf(name, 'start'), `${other} runs before ${name}`).toBe(true);
    }
  }
});

test('every service has failure actions', () => {
  const fixmes = host.fixmes.filter(line => line.includes('SERVICE_CONFIG_FAILURE_ACTIONS not implemented'));
  expect(fixmes.length).toBeGreaterThanOrEqual(managed.length);
});

test('the container network is configured as in the contract', () => {
  const [endpoint] = hnsObjects('endpoints');
  expect(endpoint).toMatchObject({ Name: vipEndpoint });
  expect(host.drive.list('C:\\lab\\hns\\endpoints').filter(name => name.endsWith('.attached'))).toHaveLength(1);
  expect(hnsObjects('networks').map(({ Name }) => Name)).toEqual(expect.arrayContaining(Object.values(hnsNetwork)));
  const network = { subnet: podSubnet, managementIp: host.address };
  expect(host.drive.read(file.cniConfig)).toBe(cniConfig(network, serviceCidr));
  const sourceVip = String(endpoint?.['IPAddress']);
  expect(host.drive.read(file.kubeProxyConfig)).toBe(
    kubeProxyConfig({
      nodeName: node,
      clusterCidr: podSubnet,
      sourceVip,
      verbosity: 0,
      featureGates: ['WinDSR', 'WinOverlay'],
    }),
  );
});

test('the agent gets its certificate with a request that approvers accept', async () => {
  const names = host.drive.list(dir.agentCerts);
  expect(names.toSorted()).toEqual(['wicd-client-current.pem', 'wicd-client-key.pem']);
  const certificate = new X509Certificate(host.drive.read(file.agentCertificate) ?? '');
  expect(certificate.subject.split('\n').toSorted()).toEqual([
    `CN=${identity.agentUserPrefix}${node}`,
    `O=${identity.agentsGroup}`,
  ]);
  expect(certificate.verify(new X509Certificate(scene.cluster.cluster.ca).publicKey)).toBe(true);
  const { items } = await scene.cluster.client.listAll(certificateSigningRequests);
  const [request, ...others] = items.filter(({ spec }) => spec.signerName === signer.apiClient);
  expect(others).toEqual([]);
  expect(request?.metadata.name).toMatch(/^csr-/);
  expect(request?.spec).toMatchObject({
    usages: ['digital signature', 'client auth', 'key encipherment'],
    username: agentServiceAccountUser(namespace),
    ...(scene.cluster.cluster.minor >= 22 && { expirationSeconds: 86_400 }),
  });
  expect(parseCertificateRequest(textFromBase64(request?.spec.request ?? '') ?? '')).toMatchObject({
    commonName: `${identity.agentUserPrefix}${node}`,
    organizations: [identity.agentsGroup],
    dnsNames: [],
    ipAddresses: [],
  });
});

test('the agent logs to the expected files without warnings', async () => {
  const agent = new AgentService(host);
  expect(agent.log().join('\n')).toContain('Host is configured');
  expect([agent.log('WARNING'), agent.log('ERROR')]).toEqual([[], []]);
  expect((await scene.cluster.client.listAll(events, { namespace: 'default' })).items).toEqual([]);
});

test('one agent process runs, listens on no port, and calls no unexpected program', async () => {
  expect(new AgentService(host).pids()).toHaveLength(1);
  expect(await seeListeners(host)).toEqual([]);
  expect([host.lab.unexpected(), host.lab.scripts()]).toEqual([[], []]);
});
