import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { textFromBase64 } from '../../../src/base/bytes.ts';
import type { WindowsInstance } from '../../../src/cluster/windows-instance-resource.ts';
import { parseCertificateRequest } from '../../../src/contract/csr-request.ts';
import { identity } from '../../../src/contract/names.ts';
import type { ServicesManifest } from '../../../src/contract/services/manifest.ts';
import { parseManifest } from '../../../src/contract/services/parse.ts';
import { servicesConfigMapName } from '../../../src/contract/version.ts';
import {
  type CertificateSigningRequest,
  certificateSigningRequests,
  configMaps,
  type Node,
  nodes,
} from '../../../src/kube/resources.ts';
import type { WindowsHost } from './host.ts';
import type { RealScene } from './real-scene.ts';
import { type SeenServices, seeRoots, seeServices } from './sight.ts';

/** A host that is to be a Node, and how the cluster came to know it. */
export interface Member {
  host: WindowsHost;
  /** Name of the Node, which is that of the host. */
  name: string;
  source: 'ConfigMap' | 'Machine';
  /** Name of the WindowsInstance: the entry of windows-instances, or the Machine. */
  instance: string;
  /** Reboots for the name or the feature Containers. */
  reboots: number;
}

/** Everything that can be seen of it in the cluster and with the tools of Windows, at one moment. */
export interface SeenMember extends Member {
  scene: RealScene;
  node: Node;
  /** Empty for a missing text, so that a check reports it. */
  annotations: Record<string, string>;
  seenInstance: WindowsInstance;
  services: SeenServices;
  roots: string[];
  manifest: ServicesManifest;
  requests: SeenRequest[];
}

export interface SeenRequest {
  commonName: string;
  request: CertificateSigningRequest;
}

export async function seeMember(scene: RealScene, member: Member): Promise<SeenMember> {
  const { admin, namespace, version } = scene;
  const { data = {} } = await admin.get(configMaps, servicesConfigMapName(version), { namespace });
  const node = await admin.get(nodes, member.name);
  const seenInstance = (await scene.instances()).find(({ metadata }) => metadata.name === member.instance);
  if (seenInstance === undefined) throw new Error(`there is no WindowsInstance ${member.instance}`);
  return {
    ...member,
    scene,
    node,
    annotations: node.metadata.annotations ?? {},
    seenInstance,
    services: await seeServices(member.host),
    roots: await seeRoots(member.host),
    manifest: parseManifest(data),
    requests: (await seeRequests(scene)).filter(({ commonName }) => commonName.endsWith(`:${member.name}`)),
  };
}

/** Certificate requests of kubelets and agents. */
export async function seeRequests({ admin }: RealScene): Promise<SeenRequest[]> {
  const { items } = await admin.listAll(certificateSigningRequests);
  return items.map(request => ({
    request,
    commonName: parseCertificateRequest(textFromBase64(request.spec.request) ?? '').commonName,
  }));
}

export const kubeletName = (name: string) => `${identity.nodeUserPrefix}${name}`;
export const agentUser = (name: string) => `${identity.agentUserPrefix}${name}`;

/** What a host's SSH server has served, by its own log. */
export interface Sessions {
  connections: number;
  commands: number;
  transfers: number;
}

export function seeSessions({ lab }: RealScene, { name }: WindowsHost): Sessions {
  const log = readFileSync(join(lab.folder, name, 'sshd.log'), 'utf8');
  const count = (text: RegExp) => log.match(text)?.length ?? 0;
  return {
    connections: count(/Accepted publickey/g),
    commands: count(/Starting session: command/g),
    transfers: count(/Starting session: subsystem 'sftp'/g),
  };
}

/** How long the steps of its journey took. */
export function stepSeconds({ seenInstance }: SeenMember): string {
  const steps = seenInstance.status?.timeline ?? [];
  return steps
    .map(({ name, started, finished = '' }) => [name, (Date.parse(finished) - Date.parse(started)) / 1000] as const)
    .filter(([, seconds]) => seconds >= 0.1)
    .map(([name, seconds]) => `${name} ${seconds.toFixed(1)} s`)
    .join(', ');
}
