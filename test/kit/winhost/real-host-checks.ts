import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { controllerCommand } from '../../../src/contract/agent-command.ts';
import {
  agentName,
  agentServiceAccountUser,
  hnsNetwork,
  identity,
  managedDescription,
  serviceName,
  vipEndpoint,
} from '../../../src/contract/names.ts';
import { cniConfig, kubeProxyConfig } from '../../../src/contract/network-config.ts';
import { dir, file, requiredDirectories } from '../../../src/contract/paths.ts';
import { kubeletConfig } from '../../../src/node/desired/kubelet-config.ts';
import { kubeProxyFeatureGates } from '../../../src/node/desired/kubelet-versions.ts';
import { payloadFor } from '../../../src/node/payload.ts';
import { AgentService } from './agent-service.ts';
import { administratorCa } from './furnished-host.ts';
import type { WindowsHost } from './host.ts';
import { subnetOf } from './real-doubles.ts';
import type { Check } from './real-node-checks.ts';
import { planted, platform, registryCa, serviceCidr } from './real-scene.ts';
import { agentUser, type SeenMember } from './real-sight.ts';
import { seeListeners, thumbprint } from './sight.ts';

const { containerd, kubelet, exporter, hybridOverlay, csiProxy, kubeProxy } = serviceName;

/** Of the same list, looked at on the host. */
export const hostChecks: readonly Check[] = [
  [
    'SSH-02: the directories are there, and no bundle is left over',
    ({ host }) => {
      expect(requiredDirectories.filter(path => !host.drive.exists(path))).toEqual([]);
      expect(host.drive.list(dir.incoming)).toEqual([]);
    },
  ],
  [
    'OP-03, SSH-04: every program is the one of the payload',
    ({ host, scene }) => {
      const programs = payloadFor(platform);
      const seen = programs.map(({ directory, name }) => [name, hashOf(host, `${directory}\\${name}`)]);
      expect(seen).toEqual(programs.map(({ name }) => [name, scene.payload[name]]));
      const others = payloadFor('Azure').filter(({ name }) => !programs.some(each => each.name === name));
      expect(others.map(({ directory, name }) => host.drive.exists(`${directory}\\${name}`))).toEqual([false]);
    },
  ],
  [
    'SSH-02, NODE-13: it has the configuration of the kubelet and the CAs of the cluster',
    ({ host, scene }) => {
      const { ca, version } = scene.cluster.cluster;
      expect(host.drive.read(file.kubeletConfig)).toBe(kubeletConfig('172.30.0.10', version));
      expect([file.kubeletCa, file.bootstrapCa].map(path => host.drive.read(path)?.trim())).toEqual(
        [ca, ca].map(pem => pem.trim()),
      );
      expect(host.drive.exists(file.cloudConfig)).toBe(false);
    },
  ],
  [
    'SSH-02: its kubeconfigs lead to the API server, as the accounts that may ask for certificates',
    ({ host, scene }) => {
      const bootstrapper = readKubeconfig(host, file.bootstrapKubeconfig);
      expect([bootstrapper.server, bootstrapper.user]).toEqual([scene.cluster.url, identity.nodeBootstrapper]);
      const agent = readKubeconfig(host, file.agentKubeconfig);
      expect([agent.server, agent.user]).toEqual([scene.cluster.url, agentServiceAccountUser(scene.namespace)]);
      for (const { lifeSeconds } of [bootstrapper, agent]) expect(lifeSeconds).toBe(3600);
    },
  ],
  [
    'SSH-02: certificates of the exporter, registries and mirrors are those of the cluster',
    ({ host }) => {
      expect(host.drive.list(dir.tlsCerts)).toEqual(['tls.crt', 'tls.key']);
      expect(host.drive.read(file.tlsKey)).toBe(planted.tlsKey);
      expect(host.drive.read(file.caBundle)).toBe(`# mirror.example.com:5000\n${registryCa}\n\n${administratorCa}`);
      expect(host.drive.list(dir.registries)).toEqual(['quay.io']);
      const mirrors = host.drive.read(`${dir.registries}\\quay.io\\hosts.toml`) ?? '';
      expect(mirrors).toContain('mirror.example.com:5000');
      expect(mirrors).toContain(Buffer.from(planted.login).toString('base64'));
    },
  ],
  ['Windows trusts the CA of the registry', ({ roots }) => expect(roots).toContain(thumbprint(registryCa))],
  [
    'NODE-08: the services of the manifest run as it has them, those of other clouds do not exist',
    seen => {
      const { services, manifest } = seen;
      const names = [containerd, kubelet, exporter, hybridOverlay, csiProxy, kubeProxy, agentName];
      expect(Object.keys(services)).toEqual(names);
      for (const service of manifest.services) {
        expect(services[service.name], service.name).toEqual({
          state: 'RUNNING',
          pid: expect.toSatisfy(pid => pid > 0),
          command: filledIn(service.command, seen),
          description: managedDescription(service.name),
          dependencies: service.dependencies,
          startsAtBoot: service.bootstrap,
        });
      }
    },
  ],
  [
    'CRE-B-03, NODE-10: the kubelet was started for the address of the host, above the default priority',
    ({ host, name }) => {
      const { command } = host.lab.serviceEvents(kubelet).at(-1) ?? { command: '' };
      expect(command.split(' ')).toEqual(
        expect.arrayContaining([
          `--node-ip=${host.address}`,
          `--hostname-override=${name}`,
          '--cloud-provider=external',
          '--windows-priorityclass=ABOVE_NORMAL_PRIORITY_CLASS',
        ]),
      );
    },
  ],
  [
    'SSH-03: the agent is one service, which Windows restarts when it crashes',
    ({ host, services, scene, name }) => {
      expect(services[agentName]).toMatchObject({
        state: 'RUNNING',
        command: controllerCommand({ namespace: scene.namespace, node: name }),
        description: managedDescription(agentName),
        startsAtBoot: true,
      });
      expect(new AgentService(host).pids()).toHaveLength(1);
      expect(host.fixmes.some(line => line.includes('SERVICE_CONFIG_FAILURE_ACTIONS'))).toBe(true);
    },
  ],
  [
    'NODE-12: the network of containers is configured for the subnet of the Node',
    ({ host, name, scene }) => {
      const featureGates = kubeProxyFeatureGates(scene.cluster.cluster.version);
      const subnet = subnetOf(host.address);
      const [endpoint] = hnsObjects(host, 'endpoints');
      expect(endpoint).toMatchObject({ Name: vipEndpoint });
      expect(hnsObjects(host, 'networks').map(({ Name }) => Name)).toEqual(
        expect.arrayContaining(Object.values(hnsNetwork)),
      );
      expect(host.drive.read(file.cniConfig)).toBe(cniConfig({ subnet, managementIp: host.address }, serviceCidr));
      const sourceVip = String(endpoint?.['IPAddress']);
      expect(host.drive.read(file.kubeProxyConfig)).toBe(
        kubeProxyConfig({ nodeName: name, clusterCidr: subnet, sourceVip, verbosity: 0, featureGates }),
      );
    },
  ],
  [
    'RBAC-03: the agent has a certificate of its own, with its key',
    ({ host, name, scene }) => {
      const text = host.drive.read(file.agentCertificate) ?? '';
      const certificate = new X509Certificate(text);
      expect(certificate.subject.split('\n').sort()).toEqual([`CN=${agentUser(name)}`, `O=${identity.agentsGroup}`]);
      expect(certificate.verify(new X509Certificate(scene.cluster.cluster.ca).publicKey)).toBe(true);
      expect(text).toContain('PRIVATE KEY-----');
    },
  ],
  [
    'SSH-05: it was rebooted as often as it had to be, in good order, and no more',
    ({ host, reboots }) => {
      expect([host.boots, host.lab.shutdowns().length]).toEqual([1 + reboots, reboots]);
    },
  ],
  [
    'no unknown call was made, no port listens, and the agent logged no problem',
    async ({ host }) => {
      expect([host.lab.unexpected(), host.lab.scripts(), await seeListeners(host)]).toEqual([[], [], []]);
      expect(new AgentService(host).log('ERROR')).toEqual([]);
    },
  ],
];

function hashOf(host: WindowsHost, path: string): string | undefined {
  if (!host.drive.exists(path)) return undefined;
  return createHash('sha256')
    .update(readFileSync(host.drive.path(path)))
    .digest('hex');
}

/** Where a kubeconfig leads to, and whom its token is of. */
function readKubeconfig(host: WindowsHost, path: string) {
  const { clusters, users } = JSON.parse(host.drive.read(path) ?? '{}') as {
    clusters: { cluster: { server: string } }[];
    users: { user: { token: string } }[];
  };
  const { sub, exp, iat } = JSON.parse(
    Buffer.from(users[0]?.user.token.split('.')[1] ?? '', 'base64url').toString(),
  ) as { sub: string; exp: number; iat: number };
  return { server: clusters[0]?.cluster.server, user: sub, lifeSeconds: exp - iat };
}

function filledIn(command: string, { name, host }: SeenMember): string {
  const values: Record<string, string> = { NODE_NAME: name, NODE_IP: host.address, HOSTNAME_OVERRIDE: name };
  return command.replaceAll(/NODE_NAME|NODE_IP|HOSTNAME_OVERRIDE/g, variable => values[variable] ?? '');
}

function hnsObjects({ drive }: WindowsHost, kind: 'networks' | 'endpoints'): Record<string, unknown>[] {
  const names = drive.list(`C:\\lab\\hns\\${kind}`).filter(name => name.endsWith('.json'));
  return names.map(name => JSON.parse(drive.read(`C:\\lab\\hns\\${kind}\\${name}`) ?? '') as Record<string, unknown>);
}
